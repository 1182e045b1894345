import type { MaintenanceConfig } from "../config/maintenance.ts";
import { classify } from "../lance/errors/classify.ts";
import { describeFailure, MaintainedTables, type TableState } from "../lance/maintenance/maintained-tables.ts";
import { MaintenanceRecord, type RecordRow } from "../lance/maintenance/maintenance-record.ts";
import { type Due, judge } from "./due.ts";
import { isLeased, LeasedWork, newOwner } from "./leased-work.ts";
import { compilePolicy, type Limits } from "./policy.ts";
import type { EndedJob } from "./ray/job.ts";
import { workOnRay } from "./ray/work.ts";
import type { Step, WorkResult } from "./work.ts";

/** How a run left a table. */
export type Outcome =
  | { readonly kind: "no rule" }
  | { readonly kind: "in order"; readonly notes: readonly string[] }
  /** Of a dry run. */
  | { readonly kind: "due"; readonly due: readonly string[]; readonly notes: readonly string[] }
  /** `takenOver`: the run that ended without its end. */
  | {
      readonly kind: "done";
      readonly result: WorkResult;
      readonly seconds: number;
      readonly takenOver?: string;
      readonly notes: readonly string[];
    }
  /** Due, and not touched. */
  | { readonly kind: "left"; readonly due: readonly string[]; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

export interface Reporter {
  outcome(table: string, outcome: Outcome): void;
  /** A change of a table, when it is committed. */
  change(table: string, step: Step, owner: string): void;
  /** A job on the Ray cluster that ended. */
  job(table: string, job: EndedJob): void;
}

export interface RunOptions {
  /** The tables to look at; absent: all. */
  readonly tables?: readonly (readonly string[])[];
  readonly dryRun: boolean;
  /** Ends the run: the work on a table is stopped and its lease is released. */
  readonly signal: AbortSignal;
}

const reasons = (due: readonly Due[]): readonly string[] => due.map(({ reason }) => reason);

const isUnchanged = ({ before, after }: WorkResult): boolean =>
  before.version === after.version && before.versions === after.versions;

class Run {
  readonly #config: MaintenanceConfig;
  readonly #options: RunOptions;
  readonly #report: Reporter;
  readonly #owner = newOwner();
  readonly #tables: MaintainedTables;
  readonly #record: MaintenanceRecord;
  readonly #work: LeasedWork;
  readonly #endsAt: number;

  constructor(config: MaintenanceConfig, options: RunOptions, report: Reporter) {
    this.#config = config;
    this.#options = options;
    this.#report = report;
    this.#tables = new MaintainedTables(config.database);
    this.#record = new MaintenanceRecord(config.database, config.database.caches);
    const onStep = (table: string, step: Step): void => report.change(table, step, this.#owner);
    const onJob = (table: string, job: EndedJob): void => report.job(table, job);
    const { ray } = config;
    this.#work = new LeasedWork(config, this.#record, {
      owner: this.#owner,
      signal: options.signal,
      onStep,
      ...(ray === undefined ? {} : { ahead: workOnRay({ ...config, ray }, this.#tables, { onStep, onJob }) }),
    });
    this.#endsAt = Date.now() + config.runSeconds * 1000;
  }

  /** @returns whether no table failed. */
  async all(): Promise<boolean> {
    const { dryRun, signal } = this.#options;
    const policy = compilePolicy(this.#config.rules);
    const rows = await this.#record.rows();
    const ids = this.#options.tables ?? (await this.#tables.list());
    const finishedAt = (id: readonly string[]): number => rows.get(id.join("$"))?.finishedAt ?? 0;
    let sound = true;
    let changed = false;
    // The longest untouched first, so that a run that ends early does not always leave the same tables.
    for (const id of ids.toSorted((left, right) => finishedAt(left) - finishedAt(right))) {
      if (signal.aborted) break;
      const table = id.join("$");
      const limits = policy(id);
      const outcome =
        limits === undefined ? { kind: "no rule" as const } : await this.#one(id, limits, rows.get(table));
      if (outcome === undefined) continue;
      sound &&= outcome.kind !== "failed";
      changed ||= outcome.kind === "done" || outcome.kind === "failed";
      this.#report.outcome(table, outcome);
    }
    if (changed && !dryRun) await this.#record.compact().catch(() => undefined);
    return sound;
  }

  /** @returns undefined for a table that was dropped meanwhile. */
  async #one(id: readonly string[], limits: Limits, row: RecordRow | undefined): Promise<Outcome | undefined> {
    try {
      const state = await this.#tables.state(id, limits.keptMs !== null);
      const { due, notes } = judge(state, limits, Date.now());
      if (due.length === 0) {
        if ((row?.dueSince ?? 0) > 0 && !this.#options.dryRun) await this.#settle(id);
        return { kind: "in order", notes };
      }
      if (this.#options.dryRun) return { kind: "due", due: reasons(due), notes };
      return await this.#maintain(id, limits, state, due, row);
    } catch (error) {
      if (this.#options.tables === undefined && classify(error).code === 4) return undefined;
      return { kind: "failed", reason: describeFailure(error) };
    }
  }

  /** A table that was due is not any more, by other hands. */
  async #settle(id: readonly string[]): Promise<void> {
    const table = id.join("$");
    if (await this.#record.acquire(table, this.#owner, this.#config.leaseSeconds * 1000))
      await this.#record.release(table, this.#owner, {
        dueSince: 0,
        finishedAt: Date.now(),
        exhaustedAt: -1,
        note: "",
      });
  }

  async #maintain(
    id: readonly string[],
    limits: Limits,
    { facts }: TableState,
    due: readonly Due[],
    row: RecordRow | undefined,
  ): Promise<Outcome> {
    const left = (reason: string): Outcome => ({ kind: "left", due: reasons(due), reason });
    // Versions become old without a change of the table.
    const grows = due.some(({ action }) => action.kind === "clean-up");
    if (row !== undefined && row.exhaustedAt === facts.version && !grows)
      return left("the last run could do no more, and the table has not changed since");
    if (Date.now() > this.#endsAt)
      return left(`the run took more than ${this.#config.runSeconds} s; the next one begins here`);
    if (isLeased(row)) return left(`another run works on it: ${row?.owner}`);
    try {
      const worked = await this.#work.on(id, limits, row);
      if (worked === undefined) return left("another run works on it");
      if (worked.result.remaining.length === 0 && isUnchanged(worked.result))
        return { kind: "in order", notes: ["another run did what was due when this one looked"] };
      const takenOver = row?.owner ? { takenOver: row.owner } : {};
      return { kind: "done", ...worked, ...takenOver };
    } catch (error) {
      return { kind: "failed", reason: describeFailure(error) };
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#tables.close(), this.#record.close()]);
  }
}

/**
 * One run over the tables of a database, one table after the other.
 * @returns whether no table failed.
 * @throws ServiceError if the database cannot be read.
 */
export const runMaintenance = async (
  config: MaintenanceConfig,
  options: RunOptions,
  report: Reporter,
): Promise<boolean> => {
  const run = new Run(config, options, report);
  try {
    return await run.all();
  } finally {
    await run.close();
  }
};
