import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeAll, expect, inject, test, vi } from "vitest";
import { uncheckedQuery } from "../../../service/guard/verify-query.ts";
import { currentCall } from "../../../service/operations/shared/current-call.ts";
import { type ExitReport, Pool, type PoolConfig } from "../../../service/workers/pool.ts";
import type { Call } from "../../../service/workers/protocol.ts";
import { workerEntry } from "../../../service/workers/worker-process.ts";
import { makeDirectory } from "../../support/directory.ts";
import { dimensions, vectorOf } from "../../support/tables.ts";
import { longTimeouts, until } from "./support.ts";

vi.setConfig(longTimeouts);

/** The pool with real processes: workers, and programs that misbehave. */
let home: string;
const pools: Pool[] = [];
const reports: ExitReport[] = [];

beforeAll(async () => {
  home = await makeDirectory();
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  reports.length = 0;
  vi.restoreAllMocks();
});

const config: PoolConfig = {
  workers: 1,
  callsPerWorker: 1,
  workersApart: 1,
  deadlineSeconds: 100,
  memoryBytes: 2 ** 30,
  maxWaitMs: 100_000,
};

const open = (changes: Partial<PoolConfig> = {}, entry = workerEntry): Pool => {
  const database = {
    uri: inject("tables"),
    storageOptions: {},
    consistencySeconds: 1,
    pinnedSeconds: 60,
    maxHandles: 10,
    maxHandleBytes: 2 ** 20,
    caches: { indexBytes: 2 ** 20, metadataBytes: 2 ** 20 },
    maxWriteBytes: 2 ** 20,
    schemas: { maxSchemaBytes: 2 ** 20, maxValueBytes: 2 ** 20 },
    maxResultBytes: 2 ** 20,
    blobPrefixes: [],
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

test("a query with its vectors reaches the worker unchanged", async () => {
  const buffer = new Float32Array(dimensions * 2);
  buffer.set(vectorOf(7), dimensions);
  // A view into a larger buffer, as a multi-vector query may have it.
  expect(await open().run(nearest("docs", buffer.subarray(dimensions)))).toMatch(/ANNSubIndex: name=vector_idx, k=3/);
});

test("an error of the worker keeps its code, message and cause", async () => {
  const pool = open();
  await expect(pool.run(nearest("absent"))).rejects.toMatchObject({ name: "TableNotFound", code: 4, status: 404 });
  await expect(pool.run(nearest("docs", new Float32Array(3)))).rejects.toMatchObject({
    code: 13,
    message: expect.stringMatching(/dimensions/),
    cause: expect.objectContaining({ message: expect.stringMatching(/\S/) }),
  });
});

test("starts more workers when calls wait, up to the maximum", async () => {
  const pool = open({ workers: 2, workersApart: 2 });
  await Promise.all(Array.from({ length: 20 }, () => pool.run(nearest())));
  await until(() => pool.reading.starting === 0);
  expect(pool.reading).toEqual({ starting: 0, idle: 2, busy: 0 });
});

test("after failed starts, calls fail with 503, the delay grows, and the pool is unavailable until a start succeeds", async () => {
  const entry = join(home, "broken.mjs");
  await writeFile(entry, "process.exit(3)");
  const pool = open({ maxWaitMs: 1500 }, entry);
  await expect(pool.run(nearest())).rejects.toMatchObject({ code: 17, status: 503, headers: { "retry-after": "1" } });
  await until(() => !pool.available);
  expect(reports[0]).toMatchObject({ reason: "start", exitCode: 3, calls: 0 });
  // The delays are 0, 0, 100, 200, 400 and 800 ms: more than seven starts in this time would be a loop.
  expect(reports.length).toBeLessThan(8);

  await writeFile(entry, `await import(${JSON.stringify(pathToFileURL(workerEntry).href)})`);
  await until(() => pool.available);
  expect(await pool.run(nearest())).toMatch(/ANNSubIndex/);
});

test("a missing program counts as a failed start", async () => {
  const pool = open({ maxWaitMs: 500 }, join(home, "nothing-here.mjs"));
  await expect(pool.run(nearest())).rejects.toMatchObject({ code: 17 });
});

/**
 * A program that leaks memory with each call and returns its process id. After so many calls it returns nothing, so that a
 * call ends only when its memory has been measured, however long that takes.
 */
const leakingProgram = async (mebibytes: number, answers: number): Promise<string> => {
  const entry = join(home, `leaking-${mebibytes}-${answers}.mjs`);
  await writeFile(
    entry,
    `const kept = [];
    process.on("message", ({ kind, id }) => {
      if (kind === "open") return process.send({ kind: "ready" });
      kept.push(Buffer.alloc(${mebibytes} * 2 ** 20, 1));
      if (kept.length <= ${answers}) process.send({ kind: "result", id, result: String(process.pid) });
    });`,
  );
  return entry;
};

test("a call is not charged for memory that earlier calls left: it runs a second time", async () => {
  const pool = open({ memoryBytes: 420 * 2 ** 20 }, await leakingProgram(190, 1));
  const first = await pool.run(nearest());
  const second = await pool.run(nearest());
  expect(second).not.toBe(first);
  expect(reports).toMatchObject([{ reason: "memory", calls: 1, pid: Number(first) }]);
});

test("a list of versions that exceeds the memory limit gets advice on versions", async () => {
  const pool = open({ memoryBytes: 300 * 2 ** 20 }, await leakingProgram(600, 0));
  const listing = pool.run({ method: "versions", values: [table("docs"), undefined] });
  await expect(listing).rejects.toMatchObject({
    code: 13,
    message: expect.stringMatching(/^reading all versions .* 300 MiB .* clean up old versions$/),
  });
});

test("a call that exceeds the memory limit alone fails", async () => {
  const pool = open({ memoryBytes: 300 * 2 ** 20 }, await leakingProgram(600, 0));
  await expect(pool.run(nearest())).rejects.toMatchObject({ code: 13, message: expect.stringMatching(/300 MiB/) });
});

test("an idle worker that uses too much memory is replaced", async () => {
  const pool = open({ memoryBytes: 420 * 2 ** 20 }, await leakingProgram(320, 1));
  const first = await pool.run(nearest());
  await until(() => reports.length > 0);
  expect(reports[0]).toMatchObject({ reason: "recycled", calls: 0, pid: Number(first) });
  expect(await pool.run(nearest())).not.toBe(first);
});

interface Beside {
  readonly pid: number;
  /** The most calls that ran at once while this one did. */
  readonly calls: number;
}

/** A program that answers a call after `milliseconds`, crashes at a table called harmful, and fills memory for large ones. */
const sharingProgram = async (milliseconds: number): Promise<string> => {
  const entry = join(home, `sharing-${milliseconds}.mjs`);
  await writeFile(
    entry,
    `const running = new Map();
    const kept = [];
    process.on("message", ({ kind, id, call }) => {
      if (kind === "open") return process.send({ kind: "ready" });
      const { name } = call.values[0];
      if (name === "harmful") process.abort();
      if (name === "large") kept.push(Buffer.alloc(300 * 2 ** 20, 1));
      running.set(id, 0);
      for (const [other, most] of running) running.set(other, Math.max(most, running.size));
      setTimeout(() => {
        const result = { pid: process.pid, calls: running.get(id) };
        running.delete(id);
        process.send({ kind: "result", id, result });
      }, ${milliseconds});
    });`,
  );
  return entry;
};

/** Runs so many concurrent calls. */
const together = (pool: Pool, count: number): Promise<Beside[]> =>
  Promise.all(Array.from({ length: count }, () => pool.run(nearest()) as unknown as Promise<Beside>));

test("a call runs beside another one only if every worker has one", async () => {
  const pool = open({ workers: 2, workersApart: 2, callsPerWorker: 2 }, await sharingProgram(300));
  await together(pool, 2);
  await until(() => pool.reading.idle === 2);
  const apart = await together(pool, 2);
  expect(apart.map(({ calls }) => calls)).toEqual([1, 1]);
  expect(new Set(apart.map(({ pid }) => pid)).size).toBe(2);
  expect((await together(pool, 5)).map(({ calls }) => calls)).toEqual([2, 2, 2, 2, expect.any(Number)]);
});

test("for a minute after a call ended a worker beside another one, each worker runs one call", async () => {
  const pool = open({ callsPerWorker: 2 }, await sharingProgram(300));
  const harmful = pool.run(nearest("harmful")).catch((error: unknown) => error);
  const [innocent] = await together(pool, 1);
  expect(innocent).toMatchObject({ calls: 1 });
  expect(await harmful).toMatchObject({ code: 13 });
  expect(reports[0]).toMatchObject({ reason: "crash", calls: 2 });
  expect((await together(pool, 3)).map(({ calls }) => calls)).toEqual([1, 1, 1]);

  inAMinute();
  expect((await together(pool, 2)).map(({ calls }) => calls)).toEqual([2, 2]);
});

const inAMinute = (): void => {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + 61_000);
};

/** Runs calls of which one ends their worker. */
const endTogether = async (pool: Pool, count: number): Promise<Beside[]> => {
  const harmful = pool.run(nearest("harmful")).catch((error: unknown) => error);
  const innocent = await together(pool, count - 1);
  expect(await harmful).toMatchObject({ code: 13 });
  return innocent;
};

const pidsOf = (calls: readonly Beside[]): Set<number> => new Set(calls.map(({ pid }) => pid));

test("after an end that several calls suffered, more workers share the memory, and fewer again a minute later", async () => {
  const pool = open({ callsPerWorker: 4, workersApart: 2 }, await sharingProgram(300));
  expect(pidsOf(await together(pool, 4)).size).toBe(1);
  const innocent = await endTogether(pool, 4);
  expect(innocent.map(({ calls }) => calls)).toEqual([1, 1, 1]);
  await until(() => pool.reading.idle === 2);
  const apart = await together(pool, 4);
  expect(apart.map(({ calls }) => calls)).toEqual([1, 1, 1, 1]);
  expect(pidsOf(apart).size).toBe(2);

  inAMinute();
  await together(pool, 1);
  await until(() => pool.reading.idle === 1);
  const again = await together(pool, 4);
  expect(again.map(({ calls }) => calls)).toEqual([4, 4, 4, 4]);
  expect(pidsOf(again).size).toBe(1);
  expect(reports.map(({ reason, calls }) => [reason, calls])).toEqual([
    ["crash", 4],
    ["crash", 1],
    ["recycled", 0],
  ]);
});

test("a surplus worker that is busy a minute later completes its call before it ends", async () => {
  const pool = open({ callsPerWorker: 4, workersApart: 2 }, await sharingProgram(400));
  await endTogether(pool, 2);
  await together(pool, 2);
  await until(() => pool.reading.idle === 2);
  const busy = together(pool, 2);
  inAMinute();
  const later = together(pool, 2);
  expect(pidsOf(await busy).size).toBe(2);
  expect(pidsOf(await later).size).toBe(1);
  await until(() => pool.reading.idle === 1);
  expect(reports.at(-1)).toMatchObject({ reason: "recycled", calls: 0 });
});

test("each of several workers that share the memory of one has its part of the limit", async () => {
  const pool = open({ callsPerWorker: 2, workersApart: 2, memoryBytes: 560 * 2 ** 20 }, await sharingProgram(1000));
  expect(await pool.run(nearest("large"))).toMatchObject({ calls: 1 });
  await endTogether(pool, 2);
  await expect(pool.run(nearest("large"))).rejects.toMatchObject({
    code: 13,
    message: expect.stringMatching(/memory limit of 280 MiB/),
  });
});

test("a worker that runs several calls keeps its memory when another one ends", async () => {
  const pool = open({ workers: 2, callsPerWorker: 2, workersApart: 4 }, await sharingProgram(500));
  await together(pool, 2);
  await until(() => pool.reading.idle === 2);
  const calls = [pool.run(nearest("harmful")).catch(() => undefined), together(pool, 3)] as const;
  await until(() => reports.length > 0);
  const { starting, busy } = pool.reading;
  expect(starting + busy).toBe(2);
  await Promise.all(calls);
  await until(() => pool.reading.starting === 0);
  expect(pidsOf(await together(pool, 4)).size).toBeGreaterThan(1);
});

test("a worker that uses too much memory gets no call beside its own, and is replaced", async () => {
  const memoryBytes = 420 * 2 ** 20;
  const pool = open({ callsPerWorker: 2, memoryBytes }, await sharingProgram(1000));
  const large = pool.run(nearest("large")) as unknown as Promise<Beside>;
  await until(() => pool.residentBytes > 0.75 * memoryBytes);
  const [beside] = await together(pool, 1);
  expect(await large).toMatchObject({ calls: 1 });
  expect(beside?.calls).toBe(1);
  await until(() => reports.length > 0);
  expect(reports).toMatchObject([{ reason: "recycled", calls: 0, pid: (await large).pid }]);
});

test("when it is closed, running and later calls fail and no process remains", async () => {
  const pool = open();
  const calls = [pool.run(nearest()), pool.run(nearest()), pool.close().then(() => pool.run(nearest()))];
  for (const outcome of await Promise.allSettled(calls))
    expect(outcome).toMatchObject({ reason: { code: 17, message: "the service is stopping; retry" } });
  expect(pool.reading).toEqual({ starting: 0, idle: 0, busy: 0 });
});

test("a large write gets a new worker when the memory that earlier calls left is too much for it", async () => {
  const pool = open({ memoryBytes: 2 ** 30 });
  await pool.run(nearest());
  await until(() => pool.residentBytes > 0);
  await pool.run(nearest(), 2 ** 20);
  expect(reports).toEqual([]);
  // Four times as much does not fit beside what the worker holds.
  await pool.run(nearest(), 2 ** 28);
  expect(reports).toMatchObject([{ reason: "recycled", calls: 0 }]);
});

test("callers take turns for workers, and a call that nobody waits for is ended", async () => {
  const entry = join(home, "slow.mjs");
  await writeFile(
    entry,
    `process.on("message", ({ kind, id, call }) => {
      if (kind === "open") return process.send({ kind: "ready" });
      const { name } = call.values[0];
      if (name !== "endless") setTimeout(() => process.send({ kind: "result", id, result: name }), 20);
    });`,
  );
  const pool = open({ workers: 2, workersApart: 2 }, entry);
  const order: string[] = [];
  const run = (caller: string, name: string, stop?: AbortSignal) =>
    currentCall.run({ caller, stop }, () => pool.run(nearest(name)).then(() => order.push(caller)));
  const many = Array.from({ length: 6 }, () => run("many", "short"));
  await Promise.all([...many, run("one", "short")]);
  expect(order.indexOf("one")).toBeLessThan(4);

  const [running, waiting] = [new AbortController(), new AbortController()];
  const endless = [run("many", "endless", running.signal), run("one", "endless")];
  const waits = run("many", "endless", waiting.signal);
  for (const each of [...endless, waits]) each.catch(() => undefined);
  await until(() => pool.reading.busy === 2);
  waiting.abort();
  await expect(waits).rejects.toMatchObject({ code: 17, message: /its client had left/ });
  running.abort();
  await expect(endless[0]).rejects.toMatchObject({ code: 17, message: /its client had left/ });
  expect(reports).toMatchObject([{ reason: "abandoned", calls: 1 }]);
  expect(await run("many", "short")).toBe(8);
});
