import { expect, test } from "vitest";
import { shareResults } from "../../../service/workers/isolated-database.ts";

const table = { key: "docs", name: "docs", namespace: [], parts: ["docs"] };
const other = { key: "plain", name: "plain", namespace: [], parts: ["plain"] };

/** Counts runs; each takes a turn of the event loop and returns its number. */
const counted = (consistencySeconds: number) => {
  let runs = 0;
  const run = shareResults(consistencySeconds).share(async () => {
    const number = ++runs;
    await new Promise((resolve) => setImmediate(resolve));
    return number;
  });
  return { run, runs: () => runs };
};

test("concurrent callers share one call within the staleness bound", async () => {
  const { run } = counted(60);
  expect(await Promise.all([run(table), run(table), run(table, undefined)])).toEqual([1, 1, 1]);
});

test("tables and branches have results of their own", async () => {
  const { run } = counted(60);
  expect(await Promise.all([run(table), run(other), run(table, "one"), run(table, "two")])).toEqual([1, 2, 3, 4]);
});

test("with strong consistency, no caller gets a result that was read before its call", async () => {
  const { run, runs } = counted(0);
  const first = run(table);
  const second = [run(table), run(table), run(table)];
  expect(await first).toBe(1);
  expect(await Promise.all(second)).toEqual([2, 2, 2]);
  expect(await run(table)).toBe(3);
  expect(runs()).toBe(3);
});

test("a result is remembered once it is kept", async () => {
  const { run } = counted(60);
  expect(run.remembers(table)).toBe(false);
  await run(table);
  expect(run.remembers(table)).toBe(true);
  expect([run.remembers(other), run.remembers(table, "one")]).toEqual([false, false]);
});

test("with strong consistency, no result is remembered", async () => {
  const { run } = counted(0);
  await run(table);
  expect(run.remembers(table)).toBe(false);
});

test("a failure is not kept", async () => {
  let attempts = 0;
  const run = shareResults(60).share(async () => {
    attempts++;
    if (attempts === 1) throw new Error("no worker");
    return attempts;
  });
  await expect(run(table)).rejects.toThrow("no worker");
  expect(await run(table)).toBe(2);
});
