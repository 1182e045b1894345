import { z } from "zod";
import { columns } from "./columns.ts";
import { branchName, columnName, distanceType, float, limit, natural, optional } from "./fields.ts";
import { fullText } from "./full-text.ts";
import { listOf, most } from "./lists.ts";
import type { Query, VectorSearch } from "./model.ts";
import { vectors } from "./vector.ts";

const ordering = z
  .object({ column_name: columnName, ascending: optional(z.boolean()), nulls_first: optional(z.boolean()) })
  .transform((wire) => ({
    columnName: wire.column_name,
    ascending: wire.ascending ?? true,
    nullsFirst: wire.nulls_first ?? false,
  }));

const { $schema: _, ...orderingSchema } = z.toJSONSchema(ordering, { io: "input" });
const orderings = listOf(ordering, most.columns).meta({ items: orderingSchema });

/** The query object's keys as they stand on the wire. Keys that are not listed are tolerated: newer clients send more. */
export const queryShape = {
  k: limit.describe("Rows to return; 9223372036854775807 (2^63-1) for no limit"),
  vector: vectors.describe("The query vector or vectors; absent, null or empty for a query without"),
  vector_column: optional(columnName).describe("The vector column to search; needed where the table has several"),
  bypass_vector_index: optional(z.boolean()).describe("Search every row instead of the vector index"),
  columns: columns.describe("The columns to return: names, or aliases with SQL expressions"),
  distance_type: optional(distanceType).describe("l2 (euclidean), cosine, dot (inner_product) or hamming"),
  ef: optional(natural).describe("Search effort of an HNSW index"),
  fast_search: optional(z.boolean()).describe("Search indexed rows only"),
  filter: optional(z.string()).describe("SQL filter expression"),
  full_text_query: optional(fullText).describe("Full-text query: string or structured"),
  lower_bound: optional(float).describe("Lower bound of the distance, inclusive"),
  upper_bound: optional(float).describe("Upper bound of the distance, exclusive"),
  nprobes: optional(natural).describe("Partitions of an IVF index to search; ignored beside minimum_nprobes"),
  minimum_nprobes: optional(natural).describe("Partitions to search at least"),
  maximum_nprobes: optional(natural).describe("Partitions to search at most; 0 for all"),
  offset: optional(natural).describe("Rows to skip"),
  order_by: optional(orderings).describe("Columns to sort by"),
  prefilter: optional(z.boolean()).describe("Filter before the vector search (default false: after it)"),
  refine_factor: optional(natural.meta({ minimum: 1 })).describe(
    "Multiplies the rows that are re-ranked by their exact distance",
  ),
  use_lsm: optional(z.boolean()).describe("Read rows of a write-ahead log that are not compacted yet"),
  version: optional(natural).describe("The table version to query; absent for the latest"),
  branch: optional(branchName.min(1, { error: "must not be empty" })).describe("The branch to query; absent for main"),
  with_row_id: optional(z.boolean()).describe("Return the row id as a column named _rowid"),
} as const;

/**
 * The wire keys that mean nothing without a vector. Given without one they are refused: ignoring them would be a lie.
 * `bypass_vector_index` is not among them: a query without a vector passes by every vector index, as it asks, and
 * LanceDB's namespace clients send it with all queries.
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

const wireQuery = z.object(queryShape);

type WireQuery = z.output<typeof wireQuery>;

/** Drops keys whose value is undefined, so that "absent" has one representation. */
type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };
const present = <T extends object>(value: T): Partial<Present<T>> =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as Partial<Present<T>>;

const toVectorSearch = (wire: WireQuery): VectorSearch => ({
  vectors: wire.vector,
  bypassIndex: wire.bypass_vector_index ?? false,
  ...present({
    column: wire.vector_column,
    distanceType: wire.distance_type,
    ef: wire.ef,
    nprobes: wire.minimum_nprobes === undefined ? wire.nprobes : undefined,
    minimumNprobes: wire.minimum_nprobes,
    maximumNprobes: wire.maximum_nprobes,
    refineFactor: wire.refine_factor,
    lowerBound: wire.lower_bound,
    upperBound: wire.upper_bound,
  }),
});

/** Reads the query object. The result is one shape for all clients. */
export const query = wireQuery.transform((wire, context): Query => {
  const searches = wire.vector.length > 0;
  if (!searches) {
    for (const key of vectorKeys.filter((key) => wire[key] !== undefined))
      context.addIssue({
        code: "custom",
        path: [key],
        message: "has a meaning only beside vector: send one, or leave it out",
      });
  }
  if (searches && wire.full_text_query !== undefined)
    context.addIssue({
      code: "custom",
      path: ["full_text_query"],
      message:
        "cannot be planned together with vector: the database plans a hybrid search as two queries, ask for each",
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
