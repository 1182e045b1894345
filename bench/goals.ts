import type { Result } from "./rounds.ts";

export interface Goal {
  readonly name: string;
  readonly wanted: string;
  readonly measured: string;
  readonly reached: boolean;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const ms = (value: number): string => `${value >= 0 ? "+" : ""}${value.toFixed(2)} ms`;

/** Minimum share of the bare SDK's throughput at concurrency 16 (G5). */
const throughput: Readonly<Record<string, number>> = {
  "analyze_plan, 128 dimensions": 0.75,
  "tags/version": 0.65,
  "explain_plan, 128 dimensions": 0.55,
  "explain_plan, 1536 dimensions": 0.5,
  stats: 0.25,
};

/** Maximum by which the median may exceed the bare SDK's at concurrency 1, in milliseconds (G7). */
const addedMedian: Readonly<Record<string, number>> = {
  stats: 0.2,
  "tags/version": 0.2,
  "explain_plan, 1536 dimensions": 0.7,
};

/** Maximum by which the 99th percentile may exceed the bare SDK's at concurrency 16, in milliseconds (G7). */
const addedTail = 10;

const atLeast = (name: string, share: number, wanted: number): Goal => ({
  name,
  wanted: `at least ${percent(wanted)}`,
  measured: percent(share),
  reached: share >= wanted,
});

const atMost = (name: string, added: number, wanted: number): Goal => ({
  name,
  wanted: `at most ${ms(wanted)}`,
  measured: ms(added),
  reached: added <= wanted,
});

const goalsOf = ({ workload, concurrency, ratio, added }: Result): Goal[] => {
  const share = throughput[workload];
  const median = addedMedian[workload];
  if (concurrency === 1) return median === undefined ? [] : [atMost(`G7 median at 1, ${workload}`, added.p50, median)];
  if (concurrency !== 16) return [];
  return [
    ...(share === undefined ? [] : [atLeast(`G5 against the bare SDK at 16, ${workload}`, ratio[0], share)]),
    atMost(`G7 99th percentile at 16, ${workload}`, added.p99, addedTail),
  ];
};

/** Goals for speed. Goals for counts are tests. */
export const judge = (results: readonly Result[]): Goal[] =>
  results.flatMap(goalsOf).sort((a, b) => a.name.localeCompare(b.name));
