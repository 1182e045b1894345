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

test("directories of workers that were killed with the service are removed at the next start", async () => {
  const workers = await start();
  const directories = workers.map(temporaryDirectoryOf);
  // As when the kernel ends all processes of a container.
  service.running.child.kill("SIGSTOP");
  for (const worker of workers) process.kill(worker, "SIGKILL");
  await service.kill();
  expect(directories.filter(existsSync)).toHaveLength(2);
  await start();
  expect(directories.filter(existsSync)).toEqual([]);
});
