import type { Database, DatabaseConfig, IsolatableCalls } from "../lance/database.ts";
import { type ExitReport, Pool, type PoolConfig, type PoolReading } from "./pool.ts";
import { shareResults } from "./share-results.ts";
import { workerEntry } from "./worker-process.ts";

export type { ExitReport, PoolConfig, PoolReading } from "./pool.ts";

export type PoolName = "analyze" | "plan";

export interface IsolationConfig {
  /** The configuration of each worker's own database: the service's, with smaller caches. */
  readonly database: DatabaseConfig;
  readonly analyze: PoolConfig;
  /** Absent: explain runs in the service's process. */
  readonly plan?: PoolConfig;
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

/**
 * The database whose isolatable calls run in worker processes. The others stay in this process: their cost is bounded,
 * and they share its cached table handles.
 */
export const openIsolated = (
  inProcess: Database,
  config: IsolationConfig,
  onExit: (pool: PoolName, report: ExitReport) => void,
): Isolation => {
  const open = (name: PoolName, pool: PoolConfig): Pool =>
    new Pool(pool, workerEntry, config.database, (report) => onExit(name, report));
  const analyze = open("analyze", config.analyze);
  const plan = config.plan === undefined ? undefined : open("plan", config.plan);
  const share = shareResults(config.database.consistencySeconds);
  const isolated: IsolatableCalls = {
    analyze: (...values) => analyze.run({ method: "analyze", values }),
    explain: (...values) =>
      plan === undefined ? inProcess.explain(...values) : plan.run({ method: "explain", values }),
    query: (...values) => analyze.run({ method: "query", values }),
    // Without a predicate, a count is a sum over the metadata of a version.
    count: (...values) =>
      values[2] === undefined ? inProcess.count(...values) : analyze.run({ method: "count", values }),
    versions: share(
      (table, branch) => analyze.run({ method: "versions", values: [table, branch] }),
      (table) => inProcess.stateOf(table),
    ),
    branches: share((table) => analyze.run({ method: "branches", values: [table] })),
  };
  const close = async (): Promise<void> => {
    await Promise.all([analyze.close(), plan?.close()]);
    await inProcess.close();
  };
  return {
    database: { ...inProcess, ...isolated, close },
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
