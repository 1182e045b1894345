import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { blob, type Connection, connect, Index } from "@lancedb/lancedb";
import { Binary, Field, FixedSizeList, Float32, Int64, Schema, Utf8 } from "apache-arrow";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { niceness } from "../../../service/workers/priority.ts";
import {
  finish,
  idsOf,
  openTable,
  outcomeOf,
  range,
  rowsFrom,
  runOnce,
  shortHistory,
  shortHistoryMs,
  startRun,
} from "./support.ts";

// Several processes for each test, of which each loads the SDK.
vi.setConfig({ testTimeout: 120_000 });
afterAll(() => vi.resetConfig());

const newDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), "lakehead-maintenance-test-"));

let directory: string;
let connection: Connection;
beforeEach(async () => {
  directory = await newDirectory();
  connection = await connect(directory);
});
afterEach(async () => {
  connection.close();
  await rm(directory, { recursive: true, force: true });
});

const first = 300;
const single = 40;
const all = first + single;

/** A table with a vector index and one row in each of many fragments. */
let slow: string;
beforeAll(async () => {
  slow = await newDirectory();
  const made = await connect(slow);
  const table = await made.createTable("events", rowsFrom(0, first));
  await table.createIndex("vector", { config: Index.ivfPq({ numPartitions: 2, numSubVectors: 4 }) });
  for (let id = first; id < all; id++) await table.add(rowsFrom(id, 1));
  made.close();
});
afterAll(() => rm(slow, { recursive: true }));

const makeSlow = (): Promise<void> => cp(slow, directory, { recursive: true });

const fragmentsOf = async (name = "events"): Promise<number> =>
  (await (await openTable(directory, name)).stats()).fragmentStats.numFragments;

describe("a dry run", () => {
  test("says what is due and why, and changes nothing", async () => {
    await makeSlow();
    const before = await (await openTable(directory, "events")).version();
    const { code, output } = await runOnce(directory, ["--dry-run"]);
    expect({ code, output }).toEqual({
      code: 0,
      output: `events\n  due: ${single + 1} fragments of fewer than 100,000 rows (due from 20)\n`,
    });
    expect(await (await openTable(directory, "events")).version()).toBe(before);
    expect(await readdir(directory)).toEqual(["events.lance"]);
  });
});

describe("a run", () => {
  test("merges the fragments of a slow table, extends its index, and prints the figures before and after", async () => {
    await makeSlow();
    const { code, output } = await runOnce(directory);
    expect(code, output).toBe(0);
    expect(output).toMatch(new RegExp(`small fragments +${single + 1} +[12] `));
    expect(output).toMatch(new RegExp(`rows outside of indices +${single} +0 `));
    expect(output).toMatch(/sample query, bytes +[\d,]+ +[\d,]+ {2}× 0\.\d+/);
    const table = await openTable(directory, "events");
    expect(await idsOf(table)).toEqual(range(0, all));
    const [index] = await table.listIndices();
    expect(index).toMatchObject({ name: "vector_idx", indexType: "IvfPq", numUnindexedRows: 0 });
    expect((await runOnce(directory)).output).toBe("events\n  nothing is due\n");
  });

  test("leaves tables in order untouched, and looks at the one of --table alone", async () => {
    await connection.createTable("calm", rowsFrom(0, 10));
    await makeSlow();
    const run = await runOnce(directory, ["--json", "--table", "calm"]);
    expect(run.lines.map(({ table }) => table)).toEqual(["calm"]);
    expect(await (await openTable(directory, "calm")).version()).toBe(1);
    expect(await fragmentsOf()).toBe(single + 1);
  });

  test("writes an audit line for each change, and deletes no version without a time to keep them", async () => {
    await makeSlow();
    const { lines } = await runOnce(directory, ["--json"]);
    const [change] = lines.filter(({ audit }) => audit === "maintenance");
    expect(change).toMatchObject({
      table: "events",
      principal: expect.stringMatching(/\/\d+\/[0-9a-f]{8}$/),
      action: "optimize",
      versionBefore: single + 2,
      fragmentsRemoved: expect.any(Number),
    });
    expect(Number(change?.versionAfter)).toBeGreaterThan(single + 2);
    const versions = (await (await openTable(directory, "events")).listVersions()).map(({ version }) => version);
    expect(versions).toContain(1);
    const pinned = await (await (await openTable(directory, "events")).branches()).checkout("main", 3);
    expect(await idsOf(pinned)).toEqual(range(0, first + 1));
  });

  test("builds an index of many parts anew with its own parameters, so that its fragments can be merged", async () => {
    const table = await connection.createTable("parts", rowsFrom(0, first));
    await table.createIndex("vector", {
      config: Index.ivfPq({ numPartitions: 2, numSubVectors: 2, distanceType: "cosine" }),
    });
    for (let part = 0; part < 5; part++) {
      await table.add(rowsFrom(first + part * 300, 300));
      await (await openTable(directory, "parts")).optimize({ cleanupOlderThan: new Date(0) });
    }
    const { numSegments: before } = (await (await openTable(directory, "parts")).listIndices())[0] ?? {};
    expect(before).toBeGreaterThanOrEqual(4);
    const { output } = await runOnce(directory);
    expect(output).toMatch(new RegExp(`due: ${before} parts of the index vector_idx`));
    const after = await openTable(directory, "parts");
    const [index] = await after.listIndices();
    expect(index).toMatchObject({
      numSegments: 1,
      numUnindexedRows: 0,
      indexDetails: { metric_type: "COSINE", compression: { num_sub_vectors: 2 } },
    });
    expect(await fragmentsOf("parts")).toBe(1);
    expect(await idsOf(after)).toEqual(range(0, first + 1500));
  });

  test.each([
    ["binary values", new Field("photo", new Binary())],
    ["blobs", blob("photo")],
  ])("builds the index of a table of %s anew, and leaves a large fragment as it is", async (_, photo) => {
    const wide = (from: number, count: number) =>
      rowsFrom(from, count).map((row) => ({ ...row, id: BigInt(row.id), photo: randomBytes(100_000) }));
    const vector = new Field("vector", new FixedSizeList(8, new Field("item", new Float32(), true)));
    const schema = new Schema([new Field("id", new Int64()), new Field("label", new Utf8()), vector, photo]);
    const table = await connection.createTable("photos", wide(0, 30), { schema });
    await table.createIndex("vector", { config: Index.ivfFlat({ numPartitions: 1 }) });
    await table.add(wide(30, 1));
    const rule = { compaction: { smallFragments: 2, targetMegabytes: 1 }, indices: { unindexedRows: 1 } };
    const environment = { LAKEHEAD_MAINTENANCE: JSON.stringify([rule]) };
    const { output } = await runOnce(directory, [], environment);
    expect(output).toContain("due: 1 row outside of the index vector_idx (due from 1)");
    const after = await openTable(directory, "photos");
    expect((await after.listIndices())[0]).toMatchObject({ numUnindexedRows: 0, numIndexedRows: 31 });
    expect(await fragmentsOf("photos")).toBe(2);
    expect((await runOnce(directory, [], environment)).output).toContain("nothing is due");
    expect(await fragmentsOf("photos")).toBe(2);
  });

  test("deletes old versions, but none with a tag or with a branch, and their readers do not fail", async () => {
    await makeSlow();
    const table = await openTable(directory, "events");
    await (await table.branches()).create("draft", "main", 5);
    await (await table.tags()).create("live", 20);
    await sleep(shortHistoryMs + 200);
    await table.add(rowsFrom(all, 1));
    const run = await runOnce(directory, ["--json"], shortHistory);
    expect(run.code, run.output).toBe(0);
    const latest = await openTable(directory, "events");
    const versions = (await latest.listVersions()).map(({ version }) => version);
    expect(versions.filter((version) => version < 20)).toEqual([5]);
    expect(versions).toContain(20);
    const tagged = await openTable(directory, "events");
    await tagged.checkout("live");
    expect(await idsOf(tagged)).toEqual(range(0, first + 18));
    const draft = await (await latest.branches()).checkout("draft");
    expect(await idsOf(draft)).toEqual(range(0, first + 3));
    expect(await idsOf(latest)).toEqual(range(0, all + 1));
    const next = await runOnce(directory, ["--dry-run"], shortHistory);
    expect(next.output).toContain('stay because of its tag "live"');
  });

  test("does what is due in namespaces", async () => {
    await connection.createNamespace(["prod"]);
    const table = await connection.createTable("events", rowsFrom(0, 5), ["prod"]);
    for (let id = 5; id < 30; id++) await table.add(rowsFrom(id, 1));
    const run = await runOnce(directory, ["--json"]);
    expect(outcomeOf(run, "prod$events")).toMatchObject({ outcome: "done" });
    expect(await idsOf(await connection.openTable("events", ["prod"]))).toEqual(range(0, 30));
  });
});

describe("two runs at once", () => {
  test("never work on one table: one does it, the other leaves it or finds it in order", async () => {
    await makeSlow();
    const runs = await Promise.all([0, 1, 2].map(() => runOnce(directory, ["--json"])));
    const owners = new Set(runs.flatMap(({ lines }) => lines.flatMap(({ principal }) => principal ?? [])));
    expect(owners.size).toBe(1);
    const outcomes = runs.map((run) => outcomeOf(run, "events"));
    expect(outcomes.filter(({ outcome }) => outcome === "done")).toHaveLength(1);
    for (const { outcome, reason } of outcomes)
      if (outcome === "left") expect(reason).toMatch(/^another run works on it/);
    expect(await idsOf(await openTable(directory, "events"))).toEqual(range(0, all));
  });
});

test("a run has a lower priority than the writes of a service", async () => {
  await makeSlow();
  const running = startRun(directory);
  const { pid = 0 } = running.child;
  await expect.poll(() => getPriority(pid), { interval: 5, timeout: 60_000 }).toBeGreaterThan(niceness.worker);
  await running.exited();
});

describe("a run that is ended by SIGTERM", () => {
  test("releases its lease, so that the next run begins at once", async () => {
    await makeSlow();
    const running = startRun(directory, ["--json"], { LAKEHEAD_MAINTENANCE_LEASE_SECONDS: "600" });
    // Its record exists as soon as it wants the lease.
    await expect
      .poll(() => readdir(join(directory, "_lakehead", "maintenance.lance", "_versions")).catch(() => []), {
        interval: 5,
        timeout: 60_000,
      })
      .not.toHaveLength(0);
    running.child.kill("SIGTERM");
    const ended = await finish(running);
    const next = await runOnce(directory, ["--json"]);
    expect(["done", "in order"], ended.output + next.output).toContain(outcomeOf(next, "events").outcome);
    expect(await idsOf(await openTable(directory, "events"))).toEqual(range(0, all));
  });
});

describe("the command", () => {
  test.each([
    ["an unknown option", ["--tables", "a"], {}, "usage: npm run maintain"],
    ["an invalid id", ["--table", "a$$b"], {}, "the table id has an empty part"],
    ["invalid rules", [], { LAKEHEAD_MAINTENANCE: "[{}" }, "LAKEHEAD_MAINTENANCE"],
  ] as const)("refuses %s with exit code 2", async (_, args, environment, text) => {
    const { code, output } = await runOnce(directory, args, environment);
    expect({ code, output }).toEqual({ code: 2, output: expect.stringContaining(text) });
  });

  test("fails with exit code 1 for a table that does not exist", async () => {
    const { code, output } = await runOnce(directory, ["--table", "absent"]);
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining("the table does not exist") });
  });
});
