import { setTimeout as sleep } from "node:timers/promises";
import {
  describeFailure,
  isConflict,
  type MaintainedTables,
  type TableState,
} from "../lance/maintenance/maintained-tables.ts";
import type { SampleCost } from "../lance/maintenance/sample-query.ts";
import { type Action, type Due, judge } from "./due.ts";
import type { Limits } from "./policy.ts";

/** A table before or after the work. */
export interface Figures {
  readonly version: number;
  readonly rows: number;
  readonly bytes: number;
  readonly fragments: number;
  readonly smallFragments: number;
  readonly deletedRows: number;
  /** Sum over all indices. */
  readonly unindexedRows: number;
  /** Parts of the index with most of them. */
  readonly deltas: number;
  /** Null where they are not counted. */
  readonly versions: number | null;
  readonly sample: SampleCost | null;
}

/** A change of a table, for the audit. */
export interface Step {
  readonly action: Action["kind"] | "ray";
  /** The job on the Ray cluster that did it. */
  readonly job?: string;
  /** The index that was built anew. */
  readonly index?: string;
  readonly versionBefore: number;
  readonly versionAfter: number;
  readonly seconds: number;
  /** Attempts that conflicted with writers before. */
  readonly conflicts: number;
  readonly fragmentsRemoved?: number;
  readonly fragmentsAdded?: number;
  readonly bytesRemoved?: number;
  readonly versionsRemoved?: number;
}

export interface WorkResult {
  /** What was due when the work began. */
  readonly due: readonly string[];
  readonly before: Figures;
  readonly after: Figures;
  /** What is still due. */
  readonly remaining: readonly string[];
  /** Whether writers kept it from being done. */
  readonly conflicted: boolean;
  /** Maximum resident memory of the process that did it. */
  readonly peakBytes: number;
}

export interface WorkOptions {
  readonly limits: Limits;
  readonly attempts: number;
}

/** Times that the work on a table begins again: merging can make an index due, and writers go on meanwhile. */
const maxPasses = 4;

/** Milliseconds before an attempt is repeated, doubled each time. */
const firstPauseMs = 500;

export const figuresOf = ({ facts, history }: TableState, sample: SampleCost | null): Figures => ({
  version: facts.version ?? 0,
  rows: facts.statistics?.rows ?? 0,
  bytes: facts.statistics?.bytes ?? 0,
  fragments: facts.statistics?.fragments ?? 0,
  smallFragments: facts.statistics?.small_fragments ?? 0,
  deletedRows: facts.statistics?.deleted_rows ?? 0,
  unindexedRows: (facts.indices ?? []).reduce((sum, { unindexed_rows: rows }) => sum + (rows ?? 0), 0),
  deltas: Math.max(0, ...(facts.indices ?? []).map(({ deltas }) => deltas ?? 1)),
  versions: history?.versions.length ?? null,
  sample,
});

class Conflicted extends Error {}

/** Repeats an action that writers were faster than. @throws Conflicted after the last attempt. */
const withAttempts = async <T>(
  attempts: number,
  action: () => Promise<T>,
): Promise<{ value: T; conflicts: number }> => {
  for (let conflicts = 0; ; conflicts++)
    try {
      return { value: await action(), conflicts };
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (conflicts + 1 >= attempts) throw new Conflicted(describeFailure(error), { cause: error });
      await sleep(firstPauseMs * 2 ** conflicts * (0.5 + Math.random() / 2));
    }
};

/** The actions of a pass, each once: the SDK merges, extends and deletes in one call. */
const plan = (
  due: readonly Due[],
): {
  readonly rebuilds: ReadonlySet<string>;
  readonly merges: boolean;
  readonly deleteBefore: number | undefined;
} => ({
  rebuilds: new Set(due.flatMap(({ action }) => (action.kind === "rebuild" ? [action.index] : []))),
  merges: due.some(({ action }) => action.kind !== "rebuild" || !action.alone),
  deleteBefore: due.map(({ action }) => (action.kind === "clean-up" ? action.deleteBefore : undefined)).find(Boolean),
});

/**
 * Does what is due for a table, and again what became due by it. Every step is one commit of the SDK or none, so the work can
 * end at any moment.
 */
export const workOn = async (
  tables: MaintainedTables,
  id: readonly string[],
  { limits, attempts }: WorkOptions,
  onStep: (step: Step) => void,
): Promise<WorkResult> => {
  const withHistory = limits.keptMs !== null;
  const sample = async ({ facts }: TableState): Promise<SampleCost | null> =>
    // A table whose sample cannot be read can still be maintained.
    tables.sample(id, facts).catch(() => null);
  const step = async <T>(
    action: Action["kind"],
    perform: () => Promise<T>,
    describe: (value: T) => Partial<Step>,
  ): Promise<void> => {
    const [versionBefore, from] = [await tables.version(id), performance.now()];
    const { value, conflicts } = await withAttempts(attempts, perform);
    const seconds = (performance.now() - from) / 1000;
    onStep({ action, versionBefore, versionAfter: await tables.version(id), seconds, conflicts, ...describe(value) });
  };

  const dueOf = (of: TableState): readonly string[] => judge(of, limits, Date.now()).due.map(({ reason }) => reason);

  let state = await tables.state(id, withHistory);
  const found = dueOf(state);
  const before = figuresOf(state, await sample(state));
  let conflicted = false;
  try {
    for (let pass = 0; pass < maxPasses; pass++) {
      const { due } = judge(state, limits, Date.now());
      if (due.length === 0) break;
      const { rebuilds, merges, deleteBefore } = plan(due);
      for (const index of rebuilds)
        await step(
          "rebuild",
          () => tables.rebuild(id, index),
          () => ({ index }),
        );
      if (merges)
        await step(
          deleteBefore === undefined ? "optimize" : "clean-up",
          () => tables.optimize(id, deleteBefore),
          (outcome) => outcome,
        );
      const version = state.facts.version;
      state = await tables.state(id, withHistory);
      if (state.facts.version === version) break;
    }
  } catch (error) {
    if (!(error instanceof Conflicted)) throw error;
    conflicted = true;
    state = await tables.state(id, withHistory);
  }
  return {
    due: found,
    before,
    after: figuresOf(state, await sample(state)),
    remaining: dueOf(state),
    conflicted,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  };
};
