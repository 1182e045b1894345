import { ServiceError } from "../../errors.ts";
import type { Facts, IndexFacts, StatisticsFacts } from "../../plan-doctor/types.ts";
import type { IndexEntry, JsonField, JsonSchema, Statistics } from "../../query/answers.ts";
import { classify } from "../errors/classify.ts";

/**
 * The engine counts the stored rows of a fragment in its length, deleted ones included, and the live rows of the table.
 * The mean length is rounded down, so up to one row per fragment is missing.
 */
const statisticsFacts = ({ num_rows, total_bytes, fragment_stats }: Statistics): StatisticsFacts => ({
  rows: num_rows,
  deleted_rows: Math.max(0, fragment_stats.lengths.mean * fragment_stats.num_fragments - num_rows),
  bytes: total_bytes,
  fragments: fragment_stats.num_fragments,
  small_fragments: fragment_stats.num_small_fragments,
  largest_fragment_rows: fragment_stats.lengths.max,
});

const metricOf = (details: string | undefined): string | null => {
  const metric: unknown = details === undefined ? undefined : JSON.parse(details).metric_type;
  return typeof metric === "string" ? metric.toLowerCase() : null;
};

/** Bits that a quantized index keeps of a vector's numbers; null for other indices. */
const bitsOf = (details: string | undefined): number | null => {
  const compression = details === undefined ? undefined : JSON.parse(details).compression;
  const { num_bits: bits, num_sub_vectors: parts } = (compression ?? {}) as Record<string, unknown>;
  return typeof bits === "number" && typeof parts === "number" ? bits * parts : null;
};

const indexFacts = (index: IndexEntry): IndexFacts => ({
  name: index.index_name,
  columns: index.columns,
  type: index.index_type ?? "",
  metric: metricOf(index.index_details),
  code_bits: bitsOf(index.index_details),
  indexed_rows: index.num_indexed_rows ?? null,
  unindexed_rows: index.num_unindexed_rows ?? null,
  deltas: index.num_segments ?? null,
  bytes: index.size_bytes ?? null,
});

const typeOf = ({ type: { type, length, fields } }: JsonField): string => {
  const inner = [...(fields ?? []).map(typeOf), ...(length === undefined ? [] : [String(length)])];
  return inner.length === 0 ? type : `${type}<${inner.join(", ")}>`;
};

const columnFacts = (field: JsonField) => ({
  name: field.name,
  type: typeOf(field),
  dimensions: field.type.type === "fixed_size_list" ? (field.type.length ?? null) : null,
});

/** Reads of one version of a table, each of which may fail by itself. */
export interface FactSources {
  /** Absent: the caller may not see them. */
  readonly statistics?: () => Promise<Statistics>;
  readonly columns: () => Promise<JsonSchema>;
  readonly indices: () => Promise<readonly IndexEntry[]>;
}

const read =
  <T, U>(source: () => Promise<T>, convert: (value: T) => U) =>
  async (): Promise<U> =>
    convert(await source());

/** Time for one fact, which a slow store must not add to a plan; in milliseconds. */
const maxFactMs = 4000;

/** Rejects after `maxFactMs`. What was started goes on, and is cached for the next plan. */
const inTime = async <T>(started: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new ServiceError(17, { message: `took more than ${maxFactMs / 1000} seconds` })),
    maxFactMs,
  );
  return Promise.race([started, late.promise]).finally(() => clearTimeout(timer));
};

/** What the findings of a plan are judged by. A read that fails or takes too long is named in `missing`. */
export const readFacts = async (version: number, sources: FactSources): Promise<Facts> => {
  const missing: { fact: keyof FactSources; reason: string }[] = [];
  const attempt = async <T>(fact: keyof FactSources, load: () => Promise<T>): Promise<T | null> => {
    try {
      return await inTime(load());
    } catch (error) {
      missing.push({ fact, reason: classify(error).message });
      return null;
    }
  };
  const [statistics, columns, indices] = await Promise.all([
    sources.statistics === undefined ? null : attempt("statistics", read(sources.statistics, statisticsFacts)),
    attempt(
      "columns",
      read(sources.columns, ({ fields }) => fields.map(columnFacts)),
    ),
    attempt(
      "indices",
      read(sources.indices, (indices) => indices.map(indexFacts)),
    ),
  ]);
  return { version, statistics, columns, indices, missing };
};
