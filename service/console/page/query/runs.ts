import type { Plan, Query } from "../api.ts";
import type { RunKind } from "./snippets.ts";

/** A query that ran, as the browser keeps it: never with a token, never with rows. */
export interface Run {
  readonly id: string;
  readonly table: string;
  readonly kind: RunKind;
  readonly query: Query;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Time from the request to its answer as the browser saw it, in milliseconds. */
  readonly tookMs: number;
  readonly plan?: Plan;
  /** Number of rows, of a run that returned rows. */
  readonly rows?: number;
}

const key = "lakehead.runs";
const maxRuns = 50;

export const storedRuns = (): readonly Run[] => {
  try {
    const runs: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(runs) ? (runs as Run[]) : [];
  } catch {
    return [];
  }
};

/** Writes as many of the runs as the browser has room for, the first ones. */
const write = (runs: readonly Run[]): void => {
  for (let count = runs.length; count >= 0; count = count > 1 ? Math.floor(count / 2) : count - 1)
    try {
      localStorage.setItem(key, JSON.stringify(runs.slice(0, count)));
      return;
    } catch {
      // The browser's storage is full: keep fewer.
    }
};

/** The newest first. */
export const storeRun = (run: Run): void => write([run, ...storedRuns()].slice(0, maxRuns));

export const findRun = (id: string | undefined): Run | undefined =>
  id === undefined ? undefined : storedRuns().find((run) => run.id === id);

export const forgetRuns = (): void => localStorage.removeItem(key);

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
