import type { TableMaintenanceConfig } from "../config/maintenance.ts";
import { ServiceError } from "../errors.ts";
import type { TableId } from "../guard/table-id.ts";
import type { DatabaseAddress } from "../lance/connection/connection.ts";
import { classifyAccess } from "../lance/errors/classify.ts";
import { describeFailure, isConflict } from "../lance/maintenance/maintained-tables.ts";
import { MaintenanceRecord, type RecordRow } from "../lance/maintenance/maintenance-record.ts";
import { currentCall } from "../operations/shared/current-call.ts";
import type { Maintenance } from "../operations/shared/maintenance.ts";
import type { MaintenanceResult } from "../query/answers.ts";
import type { Log } from "../telemetry/log.ts";
import { judge } from "./due.ts";
import { isLeased, LeasedWork, newOwner, type Worked } from "./leased-work.ts";
import { compilePolicy } from "./policy.ts";
import { auditOf } from "./report.ts";
import type { Figures } from "./work.ts";
import { WorkEnded } from "./worker.ts";

const figuresOf = ({
  smallFragments,
  deletedRows,
  unindexedRows,
  sample,
  ...figures
}: Figures): MaintenanceResult["before"] => ({
  ...figures,
  small_fragments: smallFragments,
  deleted_rows: deletedRows,
  unindexed_rows: unindexedRows,
  sample_query: sample,
});

const resultOf = ({ result, seconds }: Worked): MaintenanceResult => {
  const { due, remaining, conflicted, before, after } = result;
  return {
    version: after.version,
    due,
    remaining,
    conflicted,
    seconds,
    before: figuresOf(before),
    after: figuresOf(after),
  };
};

const noRule = (): ServiceError =>
  new ServiceError(19, {
    message:
      "no rule of maintenance has a pattern for the table: the operator sets the rules with LAKEHEAD_MAINTENANCE",
  });

const heldBy = (row: RecordRow | undefined): ServiceError =>
  new ServiceError(14, {
    message:
      row !== undefined && isLeased(row)
        ? `another run works on the table: ${row.owner}, whose lease ends at ${new Date(row.expiresAt).toISOString()} unless it is renewed; retry after its end`
        : "another run works on the table; retry after its end",
  });

/** Native text is for the log. */
const endedEarly = (error: WorkEnded): ServiceError =>
  new ServiceError(18, {
    transport: "outcomeUnknown",
    message: `the maintenance of the table ended early: ${error.isNative ? "find the cause in the service's log" : error.message}. Each step is committed or not at all, so it can be sent again`,
    cause: error,
  });

/** The record could not be read, or the lease not be taken: the table is as it was. */
const recordFailure = (error: unknown): ServiceError => {
  if (isConflict(error))
    return new ServiceError(14, { message: "too many runs ask for a lease at the same time; retry", cause: error });
  const known = classifyAccess(error, 18);
  return known.code === 17 ? known : new ServiceError(18, { cause: error });
};

/** Maintenance of single tables at the request of callers, by the same rules, record and leases as runs. */
export class MaintenanceOnRequest implements Maintenance {
  readonly #record: MaintenanceRecord;
  readonly #work: LeasedWork;
  readonly #policy: ReturnType<typeof compilePolicy>;
  readonly #log: Log;
  readonly #stop = new AbortController();
  readonly #owner = newOwner();

  /** @param address of the database, with the timeouts of requests. */
  constructor(config: TableMaintenanceConfig, address: DatabaseAddress, log: Log) {
    this.#record = new MaintenanceRecord(address, config.database.caches);
    this.#policy = compilePolicy(config.rules);
    this.#log = log;
    this.#work = new LeasedWork(config, this.#record, {
      owner: this.#owner,
      signal: this.#stop.signal,
      onStep: (table, step) => log.info(auditOf(table, step, this.#owner), "table changed"),
    });
  }

  async record(): Promise<ReadonlyMap<string, RecordRow>> {
    try {
      return await this.#record.rows();
    } catch (error) {
      throw recordFailure(error);
    }
  }

  judge: Maintenance["judge"] = (parts, facts) => {
    const limits = this.#policy(parts);
    if (limits === undefined) return undefined;
    const { due, notes } = judge({ facts, history: null }, limits, Date.now());
    const unread = limits.keptMs === null ? [] : ["old versions are counted and deleted by a run"];
    return { due: due.map(({ reason }) => reason), notes: [...notes, ...unread] };
  };

  async maintain({ key, parts }: TableId): Promise<MaintenanceResult> {
    const limits = this.#policy(parts);
    if (limits === undefined) throw noRule();
    const row = (await this.record()).get(key);
    const worked = await this.#work.on(parts, limits, row, currentCall.getStore()?.stop).catch((error: unknown) => {
      this.#log.warn({ table: key, reason: describeFailure(error) }, "the maintenance of a table failed");
      throw error instanceof WorkEnded ? endedEarly(error) : recordFailure(error);
    });
    if (worked === undefined) throw heldBy((await this.record()).get(key));
    await this.#record.compact().catch(() => undefined);
    return resultOf(worked);
  }

  /** Ends what runs. */
  stop(): void {
    this.#stop.abort("the service is stopping");
  }

  close(): Promise<void> {
    return this.#record.close();
  }
}
