import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { TableMaintenanceConfig } from "../config/maintenance.ts";
import { describeFailure } from "../lance/maintenance/maintained-tables.ts";
import type { MaintenanceRecord, RecordRow } from "../lance/maintenance/maintenance-record.ts";
import { keepLease } from "../lance/maintenance/table-lease.ts";
import type { Limits } from "./policy.ts";
import type { Figures, Step, WorkResult } from "./work.ts";
import { workInProcess } from "./worker.ts";

/** A name for a run that no other has. */
export const newOwner = (): string => `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;

export const isLeased = (row: RecordRow | undefined): boolean =>
  row !== undefined && row.owner !== "" && row.expiresAt > Date.now();

/** The part of the work on a table that was done elsewhere. */
export interface Ahead {
  readonly before: Figures;
  readonly due: readonly string[];
  /** What was left to this machine, for people. */
  readonly notes: readonly string[];
}

export interface LeasedWorkOptions {
  /** The name of the lease's holder. */
  readonly owner: string;
  /** Ends the work; its lease is released. */
  readonly signal: AbortSignal;
  /** A change of a table, when it is committed. */
  readonly onStep: (table: string, step: Step) => void;
  /** Does a part of the work before a process of this machine does the rest; undefined if it does nothing. */
  readonly ahead?: (id: readonly string[], limits: Limits, signal: AbortSignal) => Promise<Ahead | undefined>;
}

export interface Worked {
  readonly result: WorkResult;
  readonly seconds: number;
  readonly notes: readonly string[];
}

/** Works on tables under their leases, and keeps the outcome of each in the record. */
export class LeasedWork {
  readonly #config: TableMaintenanceConfig;
  readonly #record: MaintenanceRecord;
  readonly #options: LeasedWorkOptions;
  readonly #leaseMs: number;

  constructor(config: TableMaintenanceConfig, record: MaintenanceRecord, options: LeasedWorkOptions) {
    this.#config = config;
    this.#record = record;
    this.#options = options;
    this.#leaseMs = config.leaseSeconds * 1000;
  }

  /**
   * @param row of the table, if the record has one.
   * @param stop ends the work on this table.
   * @returns undefined if another run holds the lease.
   * @throws WorkEnded if the work ended early; the record then says why.
   */
  async on(
    id: readonly string[],
    limits: Limits,
    row: RecordRow | undefined,
    stop?: AbortSignal,
  ): Promise<Worked | undefined> {
    // Two requests of one process are two holders.
    const owner = `${this.#options.owner}/${randomUUID().slice(0, 8)}`;
    const table = id.join("$");
    if (isLeased(row) || !(await this.#record.acquire(table, owner, this.#leaseMs))) return undefined;
    const from = Date.now();
    const dueSince = row?.dueSince || from;
    try {
      const { result, notes } = await this.#work(table, id, limits, owner, stop);
      const { remaining, conflicted, after } = result;
      await this.#record.release(table, owner, {
        dueSince: remaining.length === 0 ? 0 : dueSince,
        finishedAt: Date.now(),
        exhaustedAt: remaining.length === 0 || conflicted ? -1 : after.version,
        note: remaining.join("; "),
      });
      return { result, notes, seconds: (Date.now() - from) / 1000 };
    } catch (error) {
      const outcome = { dueSince, finishedAt: Date.now(), exhaustedAt: -1, note: describeFailure(error) };
      // A lease that cannot be released ends by itself.
      await this.#record.release(table, owner, outcome).catch(() => undefined);
      throw error;
    }
  }

  /** Works on a table while its lease is held. */
  async #work(
    table: string,
    id: readonly string[],
    limits: Limits,
    owner: string,
    stop: AbortSignal | undefined,
  ): Promise<Omit<Worked, "seconds">> {
    const { database, attempts, memoryBytes, tableSeconds } = this.#config;
    const { onStep } = this.#options;
    const endsAt = Date.now() + tableSeconds * 1000;
    const lease = keepLease(this.#record, table, owner, this.#leaseMs);
    try {
      const signal = AbortSignal.any([lease.signal, this.#options.signal, ...(stop === undefined ? [] : [stop])]);
      const ahead = await this.#options.ahead?.(id, limits, signal);
      const result = await workInProcess(
        { database, id, options: { limits, attempts } },
        {
          memoryBytes,
          seconds: ahead === undefined ? tableSeconds : Math.max(1, (endsAt - Date.now()) / 1000),
          signal,
          onStep: (step) => onStep(table, step),
        },
      );
      if (ahead === undefined) return { result, notes: [] };
      const { notes, ...first } = ahead;
      return { result: { ...result, ...first }, notes };
    } finally {
      lease.stop();
    }
  }
}
