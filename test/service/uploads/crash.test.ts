import { cp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@lancedb/lancedb";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { ServiceError } from "../../../service/errors.ts";
import { readTableId } from "../../../service/guard/table-id.ts";
import { type JobChange, Jobs } from "../../../service/jobs/index.ts";
import type { Database } from "../../../service/lance/database.ts";
import { openInProcess } from "../../../service/lance/in-process-database.ts";
import { LanceJobStore } from "../../../service/lance/records/job-store.ts";
import { commitUpload, LargeCommits } from "../../../service/lance/uploads/large-commits.ts";
import { MultipartUploads } from "../../../service/lance/uploads/multipart.ts";
import { createLog } from "../../../service/telemetry/log.ts";
import { makeDirectory } from "../../support/directory.ts";
import { plainStream } from "../writes/support.ts";

const limits = { maxWriteBytes: 2 ** 20, maxPartsBytes: 2 ** 20, maxUploads: 8, keptMs: 3_600_000, leaseMs: 2000 };
const jobLimits = { maxJobs: 8, concurrency: 2, maxMs: 60_000, leaseMs: 1500, keptMs: 3_600_000 };
const log = createLog("silent", { write: () => undefined });
const caches = { indexBytes: 2 ** 24, metadataBytes: 2 ** 24 };
const target = {
  table: readTableId({ rawPath: "plain", delimiter: undefined, body: undefined }, { maxParts: 16, maxPartLength: 128 }),
};

let home: string;
let database: Database;
let jobs: Jobs;
const opened: MultipartUploads[] = [];

beforeEach(async () => {
  home = await makeDirectory();
  await cp(inject("tables"), home, { recursive: true });
  jobs = new Jobs(jobStore(), jobLimits, log);
  jobs.register(commitUpload, "elsewhere");
  database = openInProcess({
    uri: home,
    storageOptions: {},
    caches,
    consistencySeconds: 0,
    pinnedSeconds: 60,
    maxHandles: 10,
    maxHandleBytes: 2 ** 24,
    maxResultBytes: 2 ** 20,
    blobPrefixes: [],
    showLocations: true,
    maxWriteBytes: 2 ** 20,
    schemas: { maxSchemaBytes: 2 ** 20, maxValueBytes: 2 ** 20 },
  });
});
afterEach(async () => {
  for (const uploads of opened.splice(0)) await uploads.stop();
  await jobs.stop();
  await database.close();
});

const jobStore = () => new LanceJobStore({ uri: home, storageOptions: {} }, caches);

type Writes = Pick<Database, "insertStaged" | "stagePart">;

const open = (
  writes: Partial<Writes> = {},
  more: Partial<typeof limits> = {},
  now?: () => number,
): MultipartUploads => {
  const uploads = new MultipartUploads(
    { uri: home, storageOptions: {} },
    { ...database, ...writes },
    new LargeCommits(jobs),
    { ...limits, ...more },
    now,
  );
  opened.push(uploads);
  return uploads;
};

const begin = async (uploads: MultipartUploads): Promise<string> => {
  const id = await uploads.create(target, "caller");
  await uploads.add(target, id, "part", "append", { kind: "bytes", bytes: plainStream([1, 2, 3]) }, "caller");
  return id;
};

const rows = async (): Promise<{ version: number; count: number }> => {
  const connection = await connect(home);
  const table = await connection.openTable("plain");
  return { version: await table.version(), count: await table.countRows() };
};

/** A process that ends here never answers, and renews no lease. */
const never = new Promise<never>(() => undefined);

test("a process that ends before its commit leaves the upload to the next one, which commits once", async () => {
  const before = await rows();
  const dead = open({ insertStaged: () => never });
  const id = await begin(dead);
  void dead.complete(target, id, "caller").catch(() => undefined);
  await sleep(100);
  const alive = open();
  const waiting = alive.complete(target, id, "caller");
  await sleep(2500);
  // It still renewed its lease.
  expect(await rows()).toEqual(before);
  await kill(dead);
  expect(await waiting).toMatchObject({ version: before.version + 1 });
  expect(await rows()).toEqual({ version: before.version + 1, count: before.count + 3 });
  expect(await open().complete(target, id, "caller")).toEqual({ version: before.version + 1 });
});

test("a process that ends after its commit, before it says so, leaves an unknown outcome, and no second commit", async () => {
  const before = await rows();
  const dead = open({
    insertStaged: async (...values) => {
      await database.insertStaged(...values);
      return never;
    },
  });
  const id = await begin(dead);
  void dead.complete(target, id, "caller").catch(() => undefined);
  await sleep(300);
  await kill(dead);
  await expect(open().complete(target, id, "caller")).rejects.toMatchObject({ status: 424 });
  expect(await rows()).toEqual({ version: before.version + 1, count: before.count + 3 });
});

test("an upload that was refused stays open, and can be completed", async () => {
  const before = await rows();
  const id = await begin(open());
  const conflict = new ServiceError(14);
  await expect(open({ insertStaged: () => Promise.reject(conflict) }).complete(target, id, "caller")).rejects.toBe(
    conflict,
  );
  expect(await open().complete(target, id, "caller")).toMatchObject({ version: before.version + 1 });
});

test("what was never completed is removed after its time, and is no upload any more", async () => {
  const id = await begin(open());
  const later = open({}, {}, () => Date.now() + limits.keptMs + 1000);
  await later.create(target, "caller");
  const connection = await connect(join(home, "_lakehead"));
  expect((await connection.tableNames()).filter((name) => name.includes(id))).toEqual([]);
  await expect(later.complete(target, id, "caller")).rejects.toMatchObject({ status: 400 });
});

/** Ends the renewals of a process. */
const kill = async (uploads: MultipartUploads): Promise<void> => {
  opened.splice(opened.indexOf(uploads), 1);
  await uploads.stop();
};

describe("an upload that a runner commits", () => {
  const large = { maxWriteBytes: 100 };
  /** Ends the job as a runner does. */
  const endJob = async (values: JobChange): Promise<void> => {
    const [job, ...others] = await jobs.list();
    expect([job?.type, job?.spec?.before, others]).toEqual([commitUpload, expect.any(Number), []]);
    const store = jobStore();
    // The service knows the job before the store does. A change would create the table beside it.
    await expect.poll(() => store.read()).toHaveLength(1);
    expect(await store.change(job?.id ?? "", undefined, { ...values, endedAt: Date.now() })).toBe(true);
    await store.close();
  };

  test("is waited for by the next call after its client has left, and by none twice", async () => {
    const uploads = open({}, large);
    const id = await begin(uploads);
    const client = new AbortController();
    const left = uploads.complete(target, id, "caller", client.signal);
    await expect.poll(async () => (await jobs.list()).length).toBe(1);
    client.abort();
    await expect(left).rejects.toMatchObject({ status: 424 });
    await expect(uploads.abort(target, id, "caller")).rejects.toMatchObject({ status: 409 });
    const next = open({}, large).complete(target, id, "caller");
    await sleep(limits.leaseMs);
    await endJob({ state: "DONE", result: { published_version: 7, rows_written: 3 } });
    expect(await next).toMatchObject({ version: 7, inserted: 3 });
    expect(await uploads.complete(target, id, "caller")).toEqual({ version: 7 });
  });

  test.each([
    ["rows", 400],
    ["outcome", 424],
    ["run", 503],
  ])("has the status of how its job failed in the phase %s: %i", async (phase, status) => {
    const uploads = open({}, large);
    const id = await begin(uploads);
    const completed = uploads.complete(target, id, "caller");
    const refused = expect(completed).rejects.toMatchObject({ status, message: expect.stringContaining("because") });
    await expect.poll(async () => (await jobs.list()).length).toBe(1);
    await endJob({ state: "FAILED", failure: { phase, message: "because", retryable: false } });
    await refused;
  });
});
