import type { Query } from "../api.ts";

/** A setting of the approximate search. */
export interface Setting {
  readonly nprobes: number;
  /** 0: the results are not ranked again. */
  readonly refineFactor: number;
}

/** What a setting achieved. */
export interface Point extends Setting {
  /** Mean over the query vectors, 0 to 1. */
  readonly recall: number;
  /** Median over the query vectors, in milliseconds. */
  readonly ms: number;
}

/** All combinations, the cheapest first. */
export const sweep = (nprobes: readonly number[], refineFactors: readonly number[]): readonly Setting[] =>
  nprobes
    .flatMap((probes) => refineFactors.map((refineFactor) => ({ nprobes: probes, refineFactor })))
    .sort((left, right) => effort(left) - effort(right) || left.nprobes - right.nprobes);

/** Partitions that are searched, times the vectors that are read for each result. */
const effort = ({ nprobes, refineFactor }: Setting): number => nprobes * Math.max(1, refineFactor);

/** The share of the exact results that the approximate search found; 1 if there is none to find. */
export const recallOf = (exact: readonly string[], approximate: readonly string[]): number => {
  if (exact.length === 0) return 1;
  const found = new Set(approximate);
  return exact.filter((id) => found.has(id)).length / exact.length;
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] =
    sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : sorted.slice(middle - 1, middle + 1);
  return (low + high) / 2;
};

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** The setting of the least effort that reaches the target; of equal efforts the faster one. */
export const smallest = (points: readonly Point[], target: number): Point | undefined =>
  points
    .filter(({ recall }) => recall >= target)
    .toSorted((left, right) => effort(left) - effort(right) || left.ms - right.ms)[0];

/** A list of whole numbers; `none` is 0. @throws Error that names the wrong entry */
export const parseNumbers = (text: string): readonly number[] => {
  const entries = text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((entry) => (entry === "none" ? 0 : Number(entry)));
  const wrong = entries.find((entry) => !Number.isInteger(entry) || entry < 0);
  if (wrong !== undefined || entries.length === 0) throw new Error("write whole numbers, separated by commas");
  return [...new Set(entries)].sort((left, right) => left - right);
};

interface Search {
  readonly column: string;
  readonly k: number;
  readonly distanceType: string;
  readonly filter: string;
}

const common = ({ column, k, distanceType, filter }: Search, vector: readonly number[]): Query => ({
  vector,
  vector_column: column,
  k,
  // The ids are enough, and reading other columns would count as time of the search.
  columns: ["_rowid"],
  with_row_id: true,
  ...(distanceType === "" ? {} : { distance_type: distanceType }),
  ...(filter === "" ? {} : { filter, prefilter: true }),
});

export const exactQuery = (search: Search, vector: readonly number[]): Query => ({
  ...common(search, vector),
  bypass_vector_index: true,
});

export const approximateQuery = (search: Search, vector: readonly number[], setting: Setting): Query => ({
  ...common(search, vector),
  nprobes: setting.nprobes,
  ...(setting.refineFactor === 0 ? {} : { refine_factor: setting.refineFactor }),
});

export interface Measured {
  readonly ids: readonly string[];
  readonly ms: number;
}

/**
 * Measures all settings. Each search runs twice, and the faster time counts, so that a cold cache does not.
 * @param search runs a query and returns the row ids.
 */
export const measure = async (
  search: (query: Query) => Promise<Measured>,
  wanted: Search,
  vectors: readonly (readonly number[])[],
  settings: readonly Setting[],
  report: (points: readonly Point[], exactMs: number) => void,
): Promise<void> => {
  const best = async (query: Query): Promise<Measured> => {
    const [first, second] = [await search(query), await search(query)];
    return second.ms < first.ms ? second : first;
  };
  const exact: Measured[] = [];
  for (const vector of vectors) exact.push(await best(exactQuery(wanted, vector)));
  const exactMs = median(exact.map(({ ms }) => ms));
  report([], exactMs);
  const points: Point[] = [];
  for (const setting of settings) {
    const found: Measured[] = [];
    for (const vector of vectors) found.push(await best(approximateQuery(wanted, vector, setting)));
    const recalls = found.map(({ ids }, index) => recallOf(exact[index]?.ids ?? [], ids));
    points.push({ ...setting, recall: mean(recalls), ms: median(found.map(({ ms }) => ms)) });
    report([...points], exactMs);
  }
};
