import type { Database, DatabaseConfig } from "../lance/database.ts";
import { type EndReport, Pool, type PoolConfig, type PoolReading } from "./pool.ts";
import type { Method } from "./protocol.ts";
import { workerEntry } from "./worker-process.ts";

export type { EndReport, PoolConfig, PoolReading } from "./pool.ts";

export type PoolName = "analyze" | "plan";

export interface IsolationConfig {
  /** The worker's own database: the service's, with caches of the worker's size. */
  readonly database: DatabaseConfig;
  readonly analyze: PoolConfig;
  /** Absent: explain runs in the service's own process. */
  readonly plan?: PoolConfig;
}

export interface Isolation {
  /** Like the database that was isolated, but what can be neither cancelled nor bounded runs in worker processes. */
  readonly database: Database;
  /** Whether calls of every kind find workers. */
  readonly available: boolean;
  /** The workers of the moment, by pool. */
  readonly workers: Readonly<Partial<Record<PoolName, PoolReading>>>;
  /** Memory of each pool's workers together, in bytes. */
  readonly workerBytes: Readonly<Partial<Record<PoolName, number>>>;
}

/**
 * Moves what runs expressions of a caller or reads without bound out of this process: analyze, queries, counts with a
 * predicate, lists of versions and branches, and explain if it has a pool. Tags, statistics and descriptions stay: they
 * are bounded, and their handles are worth sharing.
 */
export const isolate = (
  database: Database,
  config: IsolationConfig,
  onEnd: (pool: PoolName, report: EndReport) => void,
  entry = workerEntry,
): Isolation => {
  const open = (name: PoolName, pool: PoolConfig): Pool =>
    new Pool(pool, entry, config.database, (report) => onEnd(name, report));
  const analyze = open("analyze", config.analyze);
  const plan = config.plan === undefined ? undefined : open("plan", config.plan);
  const isolated: Pick<Database, Method | "close"> = {
    analyze: (...values) => analyze.run({ method: "analyze", values }),
    explain: (...values) =>
      plan === undefined ? database.explain(...values) : plan.run({ method: "explain", values }),
    query: (...values) => analyze.run({ method: "query", values }),
    // Without a predicate it is a sum over the metadata of a version.
    count: (...values) =>
      values[2] === undefined ? database.count(...values) : analyze.run({ method: "count", values }),
    versions: (...values) => analyze.run({ method: "versions", values }),
    branches: (...values) => analyze.run({ method: "branches", values }),
    async close() {
      await Promise.all([analyze.close(), plan?.close()]);
      await database.close();
    },
  };
  return {
    // Everything else is the database's own.
    database: Object.assign(Object.create(database) as Database, isolated),
    get available() {
      return analyze.available && (plan?.available ?? true);
    },
    get workers() {
      return { analyze: analyze.reading, ...(plan === undefined ? {} : { plan: plan.reading }) };
    },
    get workerBytes() {
      return { analyze: analyze.residentBytes, ...(plan === undefined ? {} : { plan: plan.residentBytes }) };
    },
  };
};
