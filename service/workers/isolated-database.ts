import type { TableId } from "../guard/table-id.ts";
import type { Database, DatabaseConfig, IsolatableCalls } from "../lance/database.ts";
import { Memoizer } from "../lance/memoizer.ts";
import {
  createInTurn,
  forgetAfter,
  mayShareCommit,
  type WriteCalls,
  writeMethods,
} from "../lance/writes/write-calls.ts";
import { groupAppends } from "./group-commit.ts";
import { type ExitReport, Pool, type PoolConfig, type PoolReading } from "./pool.ts";
import type { Call } from "./protocol.ts";
import { WindowFiles } from "./window-files.ts";
import { workerEntry } from "./worker-process.ts";

/** The share of the staleness bound for which a result is not asked of a worker again. */
const resultShare = 0.01;

/** Tables whose results are kept. */
const maxResults = 1000;

/**
 * Concurrent callers share a call to a worker, which costs much more than its memoized result. With strong consistency,
 * each gets a result that was read after its call.
 */
export const shareResults = (consistencySeconds: number) => {
  const ttlMs = consistencySeconds * 1000 * resultShare;
  const evictions: ((tableKey: string) => void)[] = [];
  const share = <T>(run: (table: TableId, branch?: string) => Promise<T>) => {
    const results = new Memoizer<string, T>({ max: maxResults, ttlMs });
    evictions.push((tableKey) => results.evict((key) => JSON.parse(key)[0] === tableKey));
    const keyOf = (table: TableId, branch: string | undefined): string => JSON.stringify([table.key, branch ?? null]);
    const shared: typeof run = (table, branch) => {
      const key = keyOf(table, branch);
      const load = (): Promise<T> => run(table, branch);
      return ttlMs > 0 ? results.get(key, load) : results.renew(key, load);
    };
    /** Whether a call needs no worker. */
    const remembers = (table: TableId, branch?: string): boolean => results.known(keyOf(table, branch)) !== undefined;
    return Object.assign(shared, { remembers });
  };
  /** Removes the results of a table, because its content has changed. */
  const forget = (tableKey: string): void => evictions.forEach((evict) => void evict(tableKey));
  return { share, forget };
};

export type { ExitReport, PoolConfig, PoolReading } from "./pool.ts";

export type PoolName = "analyze" | "plan" | "blob" | "write" | "append" | "job";

export interface IsolationConfig {
  /** The configuration of each worker's own database: the service's, with smaller caches. */
  readonly database: DatabaseConfig;
  readonly analyze: PoolConfig;
  /** Its processes start with the first blob that is read. */
  readonly blob: PoolConfig;
  /** Absent: explain runs in the service's process. */
  readonly plan?: PoolConfig;
  /** Absent: no write runs in a worker. Appends that may share a commit do not wait for longer writes. */
  readonly writes?: {
    readonly write: PoolConfig;
    readonly append: PoolConfig;
    /** Of long writes that no request waits for. Its processes start with the first of them. */
    readonly job: PoolConfig;
  };
}

export interface Isolation {
  readonly database: Database;
  /** Whether every pool can take calls. */
  readonly available: boolean;
  /** Current workers, by pool. */
  readonly workers: Readonly<Partial<Record<PoolName, PoolReading>>>;
  /** Resident memory of all workers of a pool, in bytes. */
  readonly workerBytes: Readonly<Partial<Record<PoolName, number>>>;
}

const isFile = (value: unknown): value is { readonly size: number } =>
  typeof value === "object" && value !== null && "kind" in value && (value.kind === "file" || value.kind === "staged");

/** Bytes of the files of rows among the arguments of a write. */
const fileBytesOf = (values: readonly unknown[]): number =>
  values
    .flat()
    .filter(isFile)
    .reduce((total, { size }) => total + size, 0);

/** The writes, each run by a worker. */
const inWorkers = (pool: Pool): WriteCalls => {
  const call =
    (method: keyof WriteCalls) =>
    (...values: never[]) =>
      pool.run({ method, values } as unknown as Call, fileBytesOf(values));
  return Object.fromEntries(writeMethods.map((method) => [method, call(method)])) as unknown as WriteCalls;
};

/** Appends that may share a commit do so, and run apart from other writes. */
const grouped = (writes: WriteCalls, { insertRows: append }: WriteCalls): WriteCalls => ({
  ...writes,
  insertRows: groupAppends((target, data, mode) =>
    (data.every((each) => mayShareCommit(each, mode)) ? append : writes.insertRows)(target, data, mode),
  ),
});

/**
 * The database whose isolatable calls run in worker processes. The others stay in this process: their cost is bounded,
 * and they share its cached table handles.
 * @param windowDirectory of files in memory.
 */
export const openIsolated = (
  inProcess: Database,
  config: IsolationConfig,
  onExit: (pool: PoolName, report: ExitReport) => void,
  windowDirectory?: string,
): Isolation => {
  const open = (name: PoolName, pool: PoolConfig, database = config.database): Pool =>
    new Pool(pool, workerEntry, database, (report) => onExit(name, report));
  const analyze = open("analyze", config.analyze);
  const plan = config.plan === undefined ? undefined : open("plan", config.plan);
  // Each write opens its table. With a bound, an insert would list the versions once more after its commit.
  const openedByEach = { ...config.database, consistencySeconds: 0 };
  const { writes } = config;
  const write = writes && open("write", writes.write, openedByEach);
  const append = writes && open("append", writes.append, openedByEach);
  const pools = Object.entries({ analyze, plan, write, append }).filter(
    (entry): entry is [PoolName, Pool] => entry[1] !== undefined,
  );
  const windows = new WindowFiles(windowDirectory);
  let blobs: Pool | undefined;
  const blob = (): Pool => {
    if (blobs === undefined) {
      blobs = open("blob", config.blob);
      pools.push(["blob", blobs]);
    }
    return blobs;
  };
  const { share, forget: forgetResults } = shareResults(config.database.consistencySeconds);
  const forget = (tableKey: string): void => {
    inProcess.forget(tableKey);
    forgetResults(tableKey);
    for (const [, pool] of pools) pool.forget(tableKey);
  };
  const versions = share((table, branch) => analyze.run({ method: "versions", values: [table, branch] }));
  const isolated: IsolatableCalls = {
    analyze: (...values) => analyze.run({ method: "analyze", values }),
    explain: (...values) =>
      plan === undefined ? inProcess.explain(...values) : plan.run({ method: "explain", values }),
    query: (...values) => analyze.run({ method: "query", values }),
    // Without a predicate, a count is a sum over the metadata of a version.
    count: (...values) =>
      values[2] === undefined ? inProcess.count(...values) : analyze.run({ method: "count", values }),
    blobSizes: (...values) => blob().run({ method: "blobSizes", values }),
    readBlobs: async (...values) => {
      const file = windows.take();
      if (file === undefined) return blob().run({ method: "readBlobs", values });
      try {
        const call = { method: "readBlobs", values, into: file.path } as const;
        const result: Uint8Array | number = await blob().run(call);
        const bytes = typeof result === "number" ? await file.read(result) : result;
        file.release();
        return bytes;
      } catch (error) {
        file.discard();
        throw error;
      }
    },
    versions,
    branches: share((table) => analyze.run({ method: "branches", values: [table] })),
  };
  let jobs: Pool | undefined;
  const longWrite = <Method extends "refreshColumn" | "refreshView">(method: Method): WriteCalls[Method] => {
    if (writes === undefined) return inProcess[method];
    const call = (...values: never[]) => {
      if (jobs === undefined) {
        jobs = open("job", writes.job, openedByEach);
        pools.push(["job", jobs]);
      }
      return jobs.run({ method, values } as unknown as Call);
    };
    return call as unknown as WriteCalls[Method];
  };
  const writesOf = (others: Pool, appends: Pool): WriteCalls =>
    grouped(
      forgetAfter(
        {
          ...createInTurn(inWorkers(others)),
          refreshColumn: longWrite("refreshColumn"),
          refreshView: longWrite("refreshView"),
        },
        forget,
      ),
      forgetAfter(inWorkers(appends), forget),
    );
  const close = async (): Promise<void> => {
    await Promise.all(pools.map(([, pool]) => pool.close()));
    windows.close();
    await inProcess.close();
  };
  return {
    database: {
      ...inProcess,
      ...isolated,
      recycle: (bytes) => windows.recycle(bytes),
      remembersVersions: versions.remembers,
      ...(write === undefined || append === undefined ? {} : writesOf(write, append)),
      forget,
      close,
    },
    get available() {
      return pools.every(([, pool]) => pool.available);
    },
    get workers() {
      return Object.fromEntries(pools.map(([name, pool]) => [name, pool.reading]));
    },
    get workerBytes() {
      return Object.fromEntries(pools.map(([name, pool]) => [name, pool.residentBytes]));
    },
  };
};
