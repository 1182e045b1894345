import { setTimeout as sleep } from "node:timers/promises";
import { tableFromIPC } from "apache-arrow";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ServiceError } from "../../../service/errors.ts";
import {
  JobBusy,
  type JobContext,
  JobFailed,
  type JobHandler,
  type JobRecord,
  Jobs,
} from "../../../service/jobs/index.ts";
import type { JobLimits } from "../../../service/jobs/record.ts";
import { LanceJobStore } from "../../../service/lance/records/job-store.ts";
import { createLog } from "../../../service/telemetry/log.ts";
import { makeDirectory } from "../../support/directory.ts";

const caches = { indexBytes: 2 ** 24, metadataBytes: 2 ** 24 };
const limits: JobLimits = { maxJobs: 8, concurrency: 2, maxMs: 60_000, leaseMs: 1500, keptMs: 3_600_000 };
const log = createLog("silent", { write: () => undefined });

let home: string;
const opened: Jobs[] = [];
beforeEach(async () => {
  home = await makeDirectory();
});
afterEach(async () => {
  for (const jobs of opened.splice(0)) await jobs.stop();
});

interface Replica {
  readonly jobs: Jobs;
  /** What happens to its store from now on. */
  readonly store: { fails: "no" | "refuses" | "hangs"; readMs?: number };
}

const never = new Promise<never>(() => undefined);

/** One of several processes on the same database. */
const replica = (
  handlers: Readonly<Record<string, JobHandler>>,
  more: Partial<JobLimits> = {},
  now?: () => number,
): Replica => {
  const own = new LanceJobStore({ uri: home, storageOptions: {} }, caches);
  const state: Replica["store"] = { fails: "no" };
  const store = new Proxy(own, {
    get: (target, name: keyof LanceJobStore) => {
      const method = target[name] as (...values: unknown[]) => Promise<unknown>;
      return (...values: unknown[]) => {
        if (state.fails === "hangs" && name !== "close") return never;
        if (state.fails === "refuses" && name !== "close") return Promise.reject(new ServiceError(17));
        if (name === "read" && state.readMs !== undefined)
          return method.apply(target, values).then((records) => sleep(state.readMs, records));
        return method.apply(target, values);
      };
    },
  });
  const jobs = new Jobs(store, { ...limits, ...more }, log, undefined, now);
  for (const [type, handler] of Object.entries(handlers)) jobs.register(type, handler);
  opened.push(jobs);
  return { jobs, store: state };
};

const ended = async (jobs: Jobs, id: string): Promise<JobRecord> => {
  for (;;) {
    const job = await jobs.describe(id);
    if (job === undefined) throw new Error("there is no such job");
    if (job.state !== "IN_PROGRESS") return job;
    await sleep(50);
  }
};
const eventsOf = async (jobs: Jobs, id: string, filter?: string) =>
  tableFromIPC(await jobs.events(id, { limit: 100, filter }))
    .toArray()
    .map((row) => row.toJSON());

const spec = { column: "double" };
const job = (type: string) => ({ type, table: "ns$t", spec });
const quick: JobHandler = { resumable: true, perform: async () => ({ rows: 3 }) };
/** Runs until it is stopped. */
const endless = (resumable: boolean): JobHandler => ({
  resumable,
  perform: (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))),
});

describe("a job", () => {
  test("has a record before it runs, and its result after it", async () => {
    const seen: (JobRecord | undefined)[] = [];
    const other = replica({ quick });
    const { jobs } = replica({
      quick: {
        resumable: true,
        perform: async ({ id }) => {
          seen.push(await other.jobs.describe(id));
          return { rows: 3 };
        },
      },
    });
    const id = await jobs.start(job("quick"), "alice");
    expect(await ended(other.jobs, id)).toMatchObject({ state: "DONE", result: { rows: 3 }, owner: "alice", spec });
    expect(seen).toMatchObject([{ state: "IN_PROGRESS", result: null, table: "ns$t" }]);
  });

  test("fails with what its handler says, and with nothing native", async () => {
    const failing = (error: Error): JobHandler => ({ resumable: true, perform: () => Promise.reject(error) });
    const { jobs } = replica({
      known: failing(new JobFailed("compute", "row 3 divides by zero", false)),
      native: failing(new Error("lance error: /secret/path")),
      refused: failing(new ServiceError(14)),
    });
    const failures = [];
    for (const type of ["known", "native", "refused"])
      failures.push((await ended(jobs, await jobs.start(job(type), "alice"))).failure);
    expect(failures).toEqual([
      { phase: "compute", message: "row 3 divides by zero", retryable: false },
      { phase: "run", message: "the job failed; the service's log has the cause", retryable: true },
      { phase: "run", message: expect.stringContaining("another writer"), retryable: true },
    ]);
  });

  test("whose table was busy is tried again, also when the clock is set back meanwhile", async () => {
    let attempts = 0;
    const now = (): number => (attempts === 1 ? 0 : Date.now());
    const busyOnce: JobHandler = {
      resumable: true,
      perform: async () => {
        if (attempts++ > 0) return {};
        throw new JobBusy("a run works on it");
      },
    };
    const { jobs } = replica({ busyOnce }, {}, now);
    expect(await ended(jobs, await jobs.start(job("busyOnce"), "alice"))).toMatchObject({ state: "DONE" });
  });

  test("keeps its events in order, and answers them by a filter", async () => {
    const { jobs } = replica({
      eventful: {
        resumable: true,
        perform: async (_, { appendEvents }) => {
          await appendEvents([{ state: "claim", claimEntity: "0" }]);
          await appendEvents([{ state: "claim_complete", claimEntity: "0", rowsProcessed: 7 }]);
          return {};
        },
      },
    });
    const id = await jobs.start(job("eventful"), "alice");
    await ended(jobs, id);
    await expect.poll(() => eventsOf(jobs, id)).toHaveLength(4);
    expect((await eventsOf(jobs, id)).map(({ state }) => state)).toEqual([
      "IN_PROGRESS",
      "claim",
      "claim_complete",
      "DONE",
    ]);
    expect(await eventsOf(jobs, id, "state = 'claim_complete'")).toMatchObject([{ rows_processed: 7n }]);
    expect(await eventsOf(jobs, "no-such-job")).toEqual([]);
  });

  test("ends when it is cancelled, here, on another replica and while it waits", async () => {
    const { jobs } = replica({ endless: endless(true) });
    jobs.watch();
    const other = replica({ endless: endless(true) });
    const ids = [];
    for (let count = 0; count < 3; count++) ids.push(await jobs.start(job("endless"), "alice"));
    expect(jobs.counts).toEqual({ running: 2, waiting: 1 });
    expect(await jobs.ask(ids[0] ?? "", "cancel")).toBe(true);
    expect(await other.jobs.ask(ids[1] ?? "", "cancel")).toBe(true);
    expect(await other.jobs.ask(ids[2] ?? "", "cancel")).toBe(true);
    for (const id of ids) expect(await ended(jobs, id)).toMatchObject({ state: "CANCELLED" });
    expect(await jobs.ask(ids[0] ?? "", "cancel")).toBe(false);
  });

  test("that takes too long ends with TIMED_OUT", async () => {
    const { jobs } = replica({ endless: endless(true) }, { maxMs: 200 });
    expect(await ended(jobs, await jobs.start(job("endless"), "alice"))).toMatchObject({
      state: "TIMED_OUT",
      failure: { message: expect.stringContaining("LAKEHEAD_JOBS_SECONDS") },
    });
  });

  test("stops when it is paused, and goes on when it is resumed", async () => {
    const attempts: JobContext[] = [];
    const { jobs } = replica({
      endless: {
        resumable: true,
        perform: (record, context) => {
          attempts.push(context);
          return attempts.length === 1 ? endless(true).perform(record, context) : Promise.resolve({});
        },
      },
    });
    jobs.watch();
    const id = await jobs.start(job("endless"), "alice");
    await expect.poll(() => attempts.length).toBe(1);
    expect(await jobs.ask(id, "pause")).toBe(true);
    await expect.poll(() => jobs.counts.running).toBe(0);
    await sleep(2 * limits.leaseMs);
    expect([attempts.length, (await jobs.describe(id))?.state]).toEqual([1, "IN_PROGRESS"]);
    expect(await jobs.resume(id)).toBe(true);
    expect(await ended(jobs, id)).toMatchObject({ state: "DONE", attempts: 1 });
  });
});

describe("the jobs of a process that ended", () => {
  /** Its signs of life end, and nothing that it does is stored. */
  const kill = ({ store }: Replica): void => {
    store.fails = "hangs";
  };

  test("are taken over by another that can, and what the first does later changes nothing", async () => {
    const dead = replica({ work: endless(true) });
    dead.jobs.watch();
    const id = await dead.jobs.start(job("work"), "alice");
    const alive = replica({ work: quick });
    alive.jobs.watch();
    await sleep(2 * limits.leaseMs);
    expect(await alive.jobs.describe(id)).toMatchObject({ state: "IN_PROGRESS", attempts: 1 });
    kill(dead);
    expect(await ended(alive.jobs, id)).toMatchObject({ state: "DONE", attempts: 2, result: { rows: 3 } });
    dead.store.fails = "no";
    await dead.jobs.tick();
    expect(await alive.jobs.describe(id)).toMatchObject({ state: "DONE", result: { rows: 3 } });
  });

  test("fail, retryable, where they cannot be resumed", async () => {
    const dead = replica({ work: endless(false) });
    const id = await dead.jobs.start(job("work"), "alice");
    kill(dead);
    const alive = replica({ work: endless(false) });
    alive.jobs.watch();
    expect(await ended(alive.jobs, id)).toMatchObject({ state: "FAILED", failure: { phase: "run", retryable: true } });
  });

  test("end after the third process that ended", async () => {
    let id = "";
    for (let count = 1; count <= 3; count++) {
      const dead = replica({ work: endless(true) });
      if (count === 1) id = await dead.jobs.start(job("work"), "alice");
      else {
        dead.jobs.watch();
        await expect.poll(() => dead.jobs.counts.running, { timeout: 10_000 }).toBe(1);
      }
      kill(dead);
    }
    const alive = replica({ work: quick });
    alive.jobs.watch();
    expect(await ended(alive.jobs, id)).toMatchObject({ state: "FAILED", attempts: 3, failure: { retryable: true } });
  }, 30_000);

  test("are left to the next process by one that stops", async () => {
    const first = replica({ work: endless(true), short: endless(false) });
    const ids = [await first.jobs.start(job("work"), "alice"), await first.jobs.start(job("short"), "alice")];
    await first.jobs.stop();
    const next = replica({ work: quick, short: quick });
    await next.jobs.tick();
    expect(await ended(next.jobs, ids[0] ?? "")).toMatchObject({ state: "DONE", attempts: 1 });
    expect(await next.jobs.describe(ids[1] ?? "")).toMatchObject({ state: "FAILED", failure: { retryable: true } });
  });
});

describe("while the store is away", () => {
  test("a job that was seen is answered from memory, and another is not said to be missing", async () => {
    const { jobs, store } = replica({ endless: endless(true) });
    const id = await jobs.start(job("endless"), "alice");
    for (const fails of ["refuses", "hangs"] as const) {
      store.fails = fails;
      await sleep(300);
      expect(await jobs.describe(id)).toMatchObject({ id, state: "IN_PROGRESS" });
      await expect(jobs.describe("unknown")).rejects.toMatchObject({ code: 17 });
    }
    store.fails = "no";
    expect(await jobs.describe("unknown")).toBeUndefined();
  }, 20_000);

  test("the end of a job is stored when it is back", async () => {
    const finish = Promise.withResolvers<Readonly<Record<string, unknown>>>();
    const { jobs, store } = replica({ work: { resumable: true, perform: () => finish.promise } });
    const other = replica({});
    const id = await jobs.start(job("work"), "alice");
    store.fails = "refuses";
    finish.resolve({ rows: 1 });
    await sleep(300);
    expect(await other.jobs.describe(id)).toMatchObject({ state: "IN_PROGRESS" });
    store.fails = "no";
    expect(await ended(other.jobs, id)).toMatchObject({ state: "DONE", result: { rows: 1 } });
  });

  test("no job starts", async () => {
    const { jobs, store } = replica({ quick });
    store.fails = "refuses";
    await expect(jobs.start(job("quick"), "alice")).rejects.toMatchObject({ code: 17 });
    store.fails = "no";
    expect(await jobs.list()).toEqual([]);
  });
});

describe("bounds", () => {
  test("a caller whose jobs end one after another lets another start and see jobs", async () => {
    const begin = Promise.withResolvers<void>();
    let count = 0;
    const steps: JobHandler = {
      resumable: true,
      perform: async () => {
        const turn = count++;
        await begin.promise;
        await sleep(turn * 80);
        return {};
      },
    };
    const { jobs, store } = replica({ steps }, { maxJobs: 1000, concurrency: 1000 });
    const ids: string[] = [];
    for (let at = 0; at < 80; at++) ids.push(await jobs.start(job("steps"), "alice"));
    store.readMs = 200;
    begin.resolve();
    await sleep(500);
    const id = await jobs.start(job("steps"), "bob");
    expect(await jobs.describe(id)).toMatchObject({ owner: "bob" });
    expect((await jobs.describe(ids.at(-1) ?? ""))?.state).toBe("IN_PROGRESS");
  }, 60_000);

  test("a list of jobs leaves large content out, and each job has all of its own", async () => {
    const result = { text: "x".repeat(3000) };
    const { jobs } = replica({ large: { resumable: true, perform: async () => result } });
    const id = await jobs.start(job("large"), "alice");
    await ended(jobs, id);
    const other = replica({ quick });
    expect(await other.jobs.list()).toMatchObject([{ id, state: "DONE", spec: null, result: null }]);
    expect(await other.jobs.describe(id)).toMatchObject({ id, spec, result });
  });

  test("a job with a large specification is taken over with it", async () => {
    const large = { text: "x".repeat(3000) };
    const { jobs } = replica({ endless: endless(true) });
    const id = await jobs.start({ type: "endless", table: "t", spec: large }, "alice");
    await jobs.stop();
    const seen: unknown[] = [];
    const next = replica({
      endless: { resumable: true, perform: async (taken) => ({ length: seen.push(taken.spec) }) },
    });
    await next.jobs.tick();
    expect(await ended(next.jobs, id)).toMatchObject({ state: "DONE", spec: large });
    expect(seen).toEqual([large]);
  });

  test("a caller has as many jobs as it leaves free, and the others have the rest", async () => {
    const { jobs } = replica({ endless: endless(true) });
    for (let count = 0; count < 4; count++) await jobs.start(job("endless"), "alice");
    await expect(jobs.start(job("endless"), "alice")).rejects.toMatchObject({ code: 21 });
    for (const owner of ["bob", "carol", "dave", "erin"]) await jobs.start(job("endless"), owner);
    await expect(jobs.start(job("endless"), "frank")).rejects.toMatchObject({ code: 17 });
  });

  test("callers take turns at what runs", async () => {
    const order: string[] = [];
    const { jobs } = replica(
      {
        work: {
          resumable: true,
          perform: async ({ owner }) => {
            order.push(owner);
            await sleep(50);
            return {};
          },
        },
      },
      { concurrency: 2, maxJobs: 20 },
    );
    const ids = [];
    for (const owner of ["alice", "alice", "alice", "alice", "bob"]) ids.push(await jobs.start(job("work"), owner));
    for (const id of ids) await ended(jobs, id);
    expect(order.indexOf("bob")).toBeLessThan(4);
  });

  test("a specification that is too large is refused, and a result that is fails the job", async () => {
    const large = { text: "x".repeat(70_000) };
    const { jobs } = replica({ large: { resumable: true, perform: async () => large } });
    await expect(jobs.start({ type: "large", table: "t", spec: large }, "alice")).rejects.toMatchObject({ code: 13 });
    expect(await ended(jobs, await jobs.start(job("large"), "alice"))).toMatchObject({ state: "FAILED" });
  });

  test("jobs that ended long ago are removed with their events", async () => {
    const { jobs } = replica({ quick }, { keptMs: 0 });
    const id = await jobs.start(job("quick"), "alice");
    await ended(jobs, id);
    await expect.poll(() => eventsOf(jobs, id)).toHaveLength(2);
    await jobs.tick();
    const other = replica({ quick });
    expect([await other.jobs.describe(id), await eventsOf(other.jobs, id)]).toEqual([undefined, []]);
  });
});
