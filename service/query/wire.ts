import { z } from "zod";
import { columns } from "./columns.ts";
import { branchName, columnName, distanceType, float, limit, natural, optional } from "./fields.ts";
import { fullText } from "./full-text.ts";
import { listOf, maxSizes } from "./lists.ts";
import type { Snapshot } from "./model.ts";
import { closed } from "./unknown-field.ts";
import { emptyList, vectors } from "./vector.ts";

const ordering = closed({
  column_name: columnName,
  ascending: optional(z.boolean()),
  nulls_first: optional(z.boolean()),
}).transform((wire) => ({
  columnName: wire.column_name,
  ascending: wire.ascending ?? true,
  nullsFirst: wire.nulls_first ?? false,
}));

const { $schema: _, ...orderingSchema } = z.toJSONSchema(ordering, { io: "input" });
const orderings = listOf(ordering, maxSizes.columns).meta({ items: orderingSchema });

/** The keys of the query object on the wire. Unknown keys are refused; see `unknown-field.ts`. */
export const queryShape = {
  k: limit.describe("Rows to return; 9223372036854775807 (2^63-1) for no limit"),
  vector: vectors.describe("The query vector or vectors; absent, null or empty for none"),
  vector_column: optional(columnName).describe("The vector column to search; required if the table has several"),
  bypass_vector_index: optional(z.boolean()).describe("Search all rows without the vector index"),
  columns: columns.describe("The columns to return: names, or aliases with SQL expressions"),
  distance_type: optional(distanceType).describe("l2 (euclidean), cosine, dot (inner_product) or hamming"),
  ef: optional(natural).describe("Search effort of an HNSW index"),
  fast_search: optional(z.boolean()).describe("Search indexed rows only"),
  filter: optional(z.string()).describe("SQL filter expression"),
  full_text_query: optional(fullText).describe("Full-text query: string or structured"),
  lower_bound: optional(float).describe("Lower bound of the distance, inclusive"),
  upper_bound: optional(float).describe("Upper bound of the distance, exclusive"),
  nprobes: optional(natural).describe(
    "Partitions of an IVF index to search; ignored beside minimum_nprobes or maximum_nprobes",
  ),
  minimum_nprobes: optional(natural.min(1, { error: "must be 1 or greater" })).describe(
    "Minimum number of partitions to search",
  ),
  maximum_nprobes: optional(natural).describe(
    "Maximum number of partitions to search; 0, as LanceDB's client sends, for all",
  ),
  offset: optional(natural).describe("Rows to skip"),
  order_by: optional(orderings).describe("Columns to sort by"),
  prefilter: optional(z.boolean()).describe("Filter before the vector search (default false: after it)"),
  refine_factor: optional(natural.meta({ minimum: 1 })).describe(
    "Factor on k of the rows that are re-ranked by exact distance",
  ),
  use_lsm: optional(z.boolean()).describe("Read rows of the write-ahead log that are not compacted yet"),
  version: optional(natural).describe("The table version to query; absent for the latest"),
  branch: optional(branchName.min(1, { error: "must not be empty" })).describe("The branch to query; absent for main"),
  with_row_id: optional(z.boolean()).describe("Return the row id as the column _rowid"),
} as const;

/**
 * Keys that are refused without a vector, because they would have no effect. `bypass_vector_index` is accepted: a query
 * without a vector uses no vector index, and LanceDB's namespace clients send it with all queries.
 */
const vectorKeys = [
  "vector_column",
  "distance_type",
  "ef",
  "lower_bound",
  "upper_bound",
  "nprobes",
  "minimum_nprobes",
  "maximum_nprobes",
  "refine_factor",
] as const;

/** Of these, the keys that are accepted beside a full-text query or an empty list: Node 0.15 sends their defaults with both. */
const defaultedKeys: ReadonlySet<string> = new Set(["distance_type", "nprobes"]);

const wireQuery = z.object(queryShape);

type WireQuery = z.output<typeof wireQuery>;

/** Drops keys whose value is undefined. */
type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };
const present = <T extends object>(value: T): Partial<Present<T>> =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as Partial<Present<T>>;

const toVectorSearch = (wire: WireQuery) => ({
  vectors: wire.vector,
  bypassIndex: wire.bypass_vector_index ?? false,
  ...present({
    column: wire.vector_column,
    distanceType: wire.distance_type,
    ef: wire.ef,
    nprobes: (wire.minimum_nprobes ?? wire.maximum_nprobes) === undefined ? wire.nprobes : undefined,
    minimumNprobes: wire.minimum_nprobes,
    maximumNprobes: wire.maximum_nprobes,
    refineFactor: wire.refine_factor,
    lowerBound: wire.lower_bound,
    upperBound: wire.upper_bound,
  }),
});

/** Parses the query object. All client families get the same result. */
export const query = wireQuery.transform((wire, context) => {
  const searches = wire.vector.length > 0;
  if (!searches) {
    const isDefaulted = wire.full_text_query !== undefined || wire.vector === emptyList;
    for (const key of vectorKeys.filter((key) => wire[key] !== undefined && !(isDefaulted && defaultedKeys.has(key))))
      context.addIssue({
        code: "custom",
        path: [key],
        message: "requires vector: send one, or remove this key",
      });
  }
  if (searches && wire.full_text_query !== undefined)
    context.addIssue({
      code: "custom",
      path: ["full_text_query"],
      message: "cannot be combined with vector: a hybrid search is two queries, send each by itself",
    });
  return {
    k: wire.k,
    withRowId: wire.with_row_id ?? false,
    fastSearch: wire.fast_search ?? false,
    ...present({
      version: wire.version,
      branch: wire.branch === "main" ? undefined : wire.branch,
      offset: wire.offset,
      filter: wire.filter,
      columns: wire.columns,
      fullText: wire.full_text_query,
      orderBy: wire.order_by,
      useLsm: wire.use_lsm,
      prefilter: wire.prefilter,
      vector: searches ? toVectorSearch(wire) : undefined,
    }),
  };
});

/** A parsed query: `k` is "unlimited" for 2^63-1, and `branch` is absent for main. */
export type Query = Readonly<z.output<typeof query>> & Snapshot;

/** The part of a query that requires a vector; `vectors` is never empty. */
export type VectorSearch = NonNullable<Query["vector"]>;
