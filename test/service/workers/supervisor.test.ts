import { existsSync } from "node:fs";
import { afterEach, expect, inject, test, vi } from "vitest";
import { temporaryDirectoryOf } from "../../../service/workers/temporary-directory.ts";
import { type ServiceProcess, startServiceProcess } from "../../support/service-process.ts";
import { lives, longTimeouts, until, workersOnce } from "./support.ts";

vi.setConfig(longTimeouts);

let service: ServiceProcess;
afterEach(() => service.kill());

/** @returns the workers' process ids. */
const start = async (): Promise<number[]> => {
  const environment = {
    LAKEHEAD_DATABASE: inject("tables"),
    LAKEHEAD_ISOLATION: "all",
    LAKEHEAD_PLAN_WORKERS: "1",
  };
  service = await startServiceProcess({ environment });
  const workers = await workersOnce(2, service.running.child.pid);
  await until(() => workers.map(temporaryDirectoryOf).every(existsSync));
  return workers;
};

test("workers exit when the service is killed", async () => {
  const workers = await start();
  await service.kill();
  await until(() => !workers.some(lives));
  expect(workers.map(temporaryDirectoryOf).filter(existsSync)).toEqual([]);
});

test("SIGTERM ends the workers with the service, whose exit code is 0", async () => {
  const workers = await start();
  expect(await service.stop()).toBe(0);
  expect(workers.filter(lives)).toEqual([]);
  expect(workers.map(temporaryDirectoryOf).filter(existsSync)).toEqual([]);
  expect(service.output()).not.toContain("a worker process has ended");
});
