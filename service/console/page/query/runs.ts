import type { Plan, Query } from "../api.ts";
import type { RunKind } from "./snippets.ts";

/** A query that ran, as lists show it: never with a token, never with rows. */
export interface RunEntry {
  readonly id: string;
  readonly table: string;
  readonly kind: RunKind;
  readonly query: Query;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Time from the request to its answer as the browser saw it, in milliseconds. */
  readonly tookMs: number;
  /** Number of rows, of a run that returned rows. */
  readonly rows?: number;
  /** Of a run with a plan as data. */
  readonly plan?: { readonly measured: boolean; readonly elapsed_ns: number | null; readonly findings: number };
}

/** A run with its plan, which the browser keeps apart: a list of 50 plans can have megabytes. */
export interface Run extends Omit<RunEntry, "plan"> {
  readonly plan?: Plan;
}

const listKey = "lakehead.history";
const planKey = (id: string): string => `lakehead.plan.${id}`;
const maxRuns = 50;

/** @returns the stored value; undefined for none, and for one that is not JSON. */
const stored = (key: string): unknown => {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
};

/** @returns whether the browser has room for the value. */
const store = (key: string, value: unknown): boolean => {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
};

/** The newest first. */
export const storedRuns = (): readonly RunEntry[] => {
  const runs = stored(listKey);
  return Array.isArray(runs) ? runs : [];
};

const entryOf = ({ plan, ...run }: Run): RunEntry =>
  plan?.tree === undefined
    ? run
    : {
        ...run,
        plan: {
          measured: plan.tree.measured,
          elapsed_ns: plan.tree.elapsed_ns,
          findings: plan.findings.length,
        },
      };

/** Adds a run. The oldest ones are removed where the browser lacks room, or where there are too many. */
export const storeRun = (run: Run): void => {
  const entries = [entryOf(run), ...storedRuns()];
  const removeOldest = (): void => {
    const oldest = entries.pop();
    if (oldest !== undefined) localStorage.removeItem(planKey(oldest.id));
  };
  while (entries.length > maxRuns) removeOldest();
  const fits = (): boolean => store(listKey, entries) && (run.plan === undefined || store(planKey(run.id), run.plan));
  while (!fits() && entries.length > 1) removeOldest();
};

/** A run with its plan, if both are still in this browser. */
export const findRun = (id: string | undefined): Run | undefined => {
  const entry = storedRuns().find((run) => run.id === id);
  if (entry === undefined) return undefined;
  const { plan: _, ...run } = entry;
  const plan = stored(planKey(run.id)) as Plan | undefined;
  return plan === undefined ? run : { ...run, plan };
};

export const forgetRuns = (): void => {
  for (const { id } of storedRuns()) localStorage.removeItem(planKey(id));
  localStorage.removeItem(listKey);
};

/** The query in a few words. */
export const summaryOf = ({ query }: Pick<Run, "query">): string => {
  const { k, vector, full_text_query: words, filter, version, bypass_vector_index: bypass } = query;
  const text = words === undefined ? undefined : JSON.stringify(words).slice(0, 40);
  return [
    `k ${k}`,
    ...(Array.isArray(vector)
      ? [
          `vector of ${Array.isArray(vector[0]) ? `${vector.length} × ` : ""}${Array.isArray(vector[0]) ? vector[0].length : vector.length}`,
        ]
      : []),
    ...(text === undefined ? [] : [text]),
    ...(typeof filter === "string" ? [filter.slice(0, 60)] : []),
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(bypass === true ? ["without index"] : []),
  ].join(", ");
};
