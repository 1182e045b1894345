import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { uncheckedQuery } from "../../../service/guard/verify-query.ts";
import { type EndReport, Pool, type PoolConfig } from "../../../service/workers/pool.ts";
import type { Call } from "../../../service/workers/protocol.ts";
import { workerEntry } from "../../../service/workers/worker-process.ts";
import { dimensions, vectorOf } from "../../support/tables.ts";
import { until } from "./support.ts";

/** The pool over real processes: working ones, and programs that are no workers at all. */
let home: string;
const pools: Pool[] = [];
const reports: EndReport[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-pool-"));
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  reports.length = 0;
});
afterAll(() => rm(home, { recursive: true, force: true }));

const config: PoolConfig = {
  workers: 1,
  callsPerWorker: 1,
  deadlineSeconds: 20,
  memoryBytes: 2 ** 30,
  maxWaitMs: 20_000,
};

const open = (changes: Partial<PoolConfig> = {}, entry = workerEntry): Pool => {
  const database = {
    uri: inject("tables"),
    storageOptions: {},
    consistencySeconds: 1,
    pinnedSeconds: 60,
    maxHandles: 10,
    caches: { indexBytes: 2 ** 20, metadataBytes: 2 ** 20 },
    maxResultBytes: 2 ** 20,
    showLocations: false,
  };
  const pool = new Pool({ ...config, ...changes }, entry, database, (report) => reports.push(report));
  pools.push(pool);
  return pool;
};

const table = (name: string) => ({ namespace: [], name, parts: [name], key: name });

const nearest = (name = "docs", vector = Float32Array.from(vectorOf(7))): Call<"explain"> => ({
  method: "explain",
  values: [
    table(name),
    uncheckedQuery({
      k: 3,
      withRowId: false,
      fastSearch: false,
      vector: { vectors: [vector], column: "vector", bypassIndex: false },
    }),
    false,
  ],
});

test("a query with its vectors reaches the worker as it was", async () => {
  const buffer = new Float32Array(dimensions * 2);
  buffer.set(vectorOf(7), dimensions);
  // A view into a larger buffer, as a multi-vector query may have it.
  expect(await open().run(nearest("docs", buffer.subarray(dimensions)))).toMatch(/ANNSubIndex: name=vector_idx, k=3/);
});

test("an error keeps its code, its sentence and its cause for the log", async () => {
  const pool = open();
  await expect(pool.run(nearest("absent"))).rejects.toMatchObject({ name: "TableNotFound", code: 4, status: 404 });
  await expect(pool.run(nearest("docs", new Float32Array(3)))).rejects.toMatchObject({
    code: 13,
    message: expect.stringMatching(/dimensions/),
    cause: expect.objectContaining({ message: expect.stringMatching(/\S/) }),
  });
});

test("starts more workers as calls wait for them, and never more than it may", async () => {
  const pool = open({ workers: 2 });
  await Promise.all(Array.from({ length: 20 }, () => pool.run(nearest())));
  await until(() => pool.reading.starting === 0);
  expect(pool.reading).toEqual({ starting: 0, idle: 2, busy: 0 });
});

test("a program that ends at once is started ever less often, calls are refused, and readiness says so", async () => {
  const entry = join(home, "broken.mjs");
  await writeFile(entry, "process.exit(3)");
  const pool = open({ maxWaitMs: 1500 }, entry);
  await expect(pool.run(nearest())).rejects.toMatchObject({ code: 17, status: 503, headers: { "retry-after": "1" } });
  await until(() => !pool.available);
  expect(reports[0]).toMatchObject({ reason: "start", exitCode: 3, calls: 0 });
  // Waits of 0, 100, 200, 400 and 800 ms: more than seven tries in this time would be a loop.
  expect(reports.length).toBeLessThan(8);

  await writeFile(entry, `await import(${JSON.stringify(pathToFileURL(workerEntry).href)})`);
  await until(() => pool.available);
  expect(await pool.run(nearest())).toMatch(/ANNSubIndex/);
});

test("a program that cannot be found is a failed start like any other", async () => {
  const pool = open({ maxWaitMs: 500 }, join(home, "nothing-here.mjs"));
  await expect(pool.run(nearest())).rejects.toMatchObject({ code: 17 });
});

/** A program that keeps so many MiB more of each call, and answers its process id when that could be seen. */
const hoarder = async (mebibytes: number): Promise<string> => {
  const entry = join(home, `hoarder-${mebibytes}.mjs`);
  await writeFile(
    entry,
    `const kept = [];
    process.on("message", ({ kind, id }) => {
      if (kind === "open") return process.send({ kind: "ready" });
      kept.push(Buffer.alloc(${mebibytes} * 2 ** 20, 1));
      setTimeout(() => process.send({ kind: "result", id, result: String(process.pid) }), 400);
    });`,
  );
  return entry;
};

test("memory that earlier calls have left is not blamed on the one that finds it", async () => {
  const pool = open({ memoryBytes: 420 * 2 ** 20 }, await hoarder(190));
  const first = await pool.run(nearest());
  const second = await pool.run(nearest());
  expect(second).not.toBe(first);
  expect(reports).toMatchObject([{ reason: "memory", calls: 1, pid: Number(first) }]);
});

test("a list of versions that is ended is not told to simplify its expressions", async () => {
  const pool = open({ memoryBytes: 300 * 2 ** 20 }, await hoarder(600));
  const listing = pool.run({ method: "versions", values: [table("docs"), undefined] });
  await expect(listing).rejects.toMatchObject({
    code: 13,
    message: expect.stringMatching(/^reading all versions .* 300 MiB .* have old versions cleaned up$/),
  });
});

test("memory that a call takes by itself is blamed on it", async () => {
  const pool = open({ memoryBytes: 300 * 2 ** 20 }, await hoarder(600));
  await expect(pool.run(nearest())).rejects.toMatchObject({ code: 13, message: expect.stringMatching(/300 MiB/) });
});

test("one that keeps too much memory after a query is replaced without a call", async () => {
  const pool = open({ memoryBytes: 420 * 2 ** 20 }, await hoarder(320));
  const first = await pool.run(nearest());
  await until(() => reports.length > 0);
  expect(reports[0]).toMatchObject({ reason: "recycled", calls: 0, pid: Number(first) });
  expect(await pool.run(nearest())).not.toBe(first);
});

test("closed, it answers what runs and what comes, and its processes are gone", async () => {
  const pool = open();
  const calls = [pool.run(nearest()), pool.run(nearest()), pool.close().then(() => pool.run(nearest()))];
  for (const outcome of await Promise.allSettled(calls))
    expect(outcome).toMatchObject({ reason: { code: 17, message: "the service is stopping; retry" } });
  expect(pool.reading).toEqual({ starting: 0, idle: 0, busy: 0 });
});
