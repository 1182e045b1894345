import { existsSync } from "node:fs";
import { afterEach, expect, inject, test } from "vitest";
import { temporaryDirectoryOf } from "../../../service/workers/temporary-directory.ts";
import { type Running, startProcess } from "../../acceptance/process.ts";
import { staticToken } from "../../support/static-token.ts";
import { lives, until, workersOf } from "./support.ts";

let running: Running;
afterEach(() => {
  running.child.kill("SIGKILL");
});

/** @returns the workers' process ids. */
const start = async (): Promise<number[]> => {
  running = startProcess("service/main.ts", {
    LAKEHEAD_DATABASE: inject("tables"),
    LAKEHEAD_PORT: "0",
    LAKEHEAD_OPERATIONS_PORT: "0",
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([staticToken("unused", "an unused token")]),
    LAKEHEAD_ISOLATION: "all",
    LAKEHEAD_PLAN_WORKERS: "1",
    LAKEHEAD_DRAIN_SECONDS: "0",
  });
  await running.printed(/"msg":"listening"/);
  const workers = await workersOf(running.child.pid);
  expect(workers).toHaveLength(2);
  await until(() => workers.map(temporaryDirectoryOf).every(existsSync));
  return workers;
};

test("workers exit when the service is killed", async () => {
  const workers = await start();
  running.child.kill("SIGKILL");
  await running.exited();
  await until(() => !workers.some(lives));
  expect(workers.map(temporaryDirectoryOf).filter(existsSync)).toEqual([]);
});

test("SIGTERM ends the workers with the service, whose exit code is 0", async () => {
  const workers = await start();
  running.child.kill("SIGTERM");
  expect(await running.exited()).toBe(0);
  expect(workers.filter(lives)).toEqual([]);
  expect(workers.map(temporaryDirectoryOf).filter(existsSync)).toEqual([]);
  expect(running.output()).not.toContain("a worker process has ended");
});
