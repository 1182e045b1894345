import type { Table } from "@lancedb/lancedb";
import { type Kind, rows, size, type Tables, vectorOf, wideRows } from "./data.ts";
import {
  bytesRead,
  type Examined,
  partitionsSearched,
  partsLoaded,
  reads,
  requests,
  rowsRanked,
  rowsScanned,
} from "./examine.ts";

/** A table with a fault, a query that meets it, and what its fix must lower. */
export interface DoctorCase {
  readonly code: string;
  readonly data: string;
  readonly make: (tables: Tables, name: string) => Promise<Table>;
  /** The query as REST's body. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly lowers: string;
  readonly measure: (examined: Examined, table: Table) => Promise<number>;
  /** Whether only the first run after the table was opened meets the fault. */
  readonly firstRunOnly?: true;
}

/** Near no row, so that a distance is never zero. */
const vector = vectorOf(1_000_007);
const search = { k: 10, vector, columns: ["id"], prefilter: true };
const scan = { k: 100_000, vector: null, columns: ["id"] };

const missingRows = async ({ rows, query }: Examined): Promise<number> => Number(query.k) - (await rows()).length;

/** How much the distances of a result differ from the exact ones, as the largest share of one. */
const distanceError = async ({ rows: result }: Examined): Promise<number> => {
  const errors = (await result()).map(({ id, _distance }) => {
    const exact = vectorOf(Number(id)).reduce((sum, value, index) => sum + (value - (vector[index] ?? 0)) ** 2, 0);
    return Math.abs(_distance - exact) / Math.max(exact, 1e-6);
  });
  return Math.max(...errors);
};

/** Rows of the exact result that a search did not find. */
const missedRows = async ({ rows: result }: Examined, table: Table): Promise<number> => {
  const exact = await table.query().nearestTo(vector).bypassVectorIndex().select(["id"]).limit(10).toArray();
  const found = new Set((await result()).map(({ id }) => id));
  return exact.filter(({ id }) => !found.has(id)).length;
};

const table =
  (kind: Kind): DoctorCase["make"] =>
  ({ make }, name) =>
    make(kind, name);

/** Rows that are added after the index was built. */
const withMore =
  (kind: Kind, count: number): DoctorCase["make"] =>
  async ({ make }, name) => {
    const made = await make(kind, name);
    await made.add(rows(size, size + count));
    return made;
  };

/** Every finding has a case. */
export const cases: readonly DoctorCase[] = [
  {
    code: "no-vector-index",
    data: "20,000 vectors without an index",
    make: table("plain"),
    query: search,
    lowers: "rows scanned",
    measure: rowsScanned,
  },
  {
    code: "vector-index-metric",
    data: "20,000 vectors, index for l2, search for cosine",
    make: table("64 partitions"),
    query: { ...search, distance_type: "cosine" },
    lowers: "rows scanned",
    measure: rowsScanned,
  },
  {
    code: "unindexed-vectors",
    data: "20,000 vectors in the index, 5,000 not",
    make: withMore("quantized", 5000),
    query: search,
    lowers: "rows scanned",
    measure: rowsScanned,
  },
  {
    code: "starved-postfilter",
    data: "a filter that 20 of 20,000 rows match, after the search",
    make: table("quantized"),
    query: { ...search, filter: "category = 'c5'", prefilter: false },
    lowers: "missing rows",
    measure: missingRows,
  },
  {
    code: "refine-cost",
    data: "refine_factor 100 with k 10",
    make: table("quantized"),
    query: { ...search, refine_factor: 100 },
    lowers: "bytes read",
    measure: bytesRead,
  },
  {
    code: "quantized-without-refine",
    data: "1 bit for each number of a vector",
    make: table("1 bit"),
    query: search,
    lowers: "error of a distance",
    measure: distanceError,
  },
  {
    code: "few-probes",
    data: "256 partitions, 1 searched",
    make: table("256 partitions"),
    query: { ...search, nprobes: 1 },
    lowers: "missed of 10 rows",
    measure: missedRows,
  },
  {
    code: "many-deltas",
    data: "four times 1,000 rows and optimize",
    make: async ({ make }, name) => {
      const made = await make("64 partitions", name);
      for (let round = 0; round < 4; round++) {
        await made.add(rows(size + round * 1000, size + (round + 1) * 1000));
        await made.optimize();
      }
      return made;
    },
    query: { ...search, nprobes: 4 },
    lowers: "partitions searched",
    measure: partitionsSearched,
  },
  {
    code: "cold-cache",
    data: "the first search of 64 partitions",
    make: table("64 partitions"),
    query: { ...search, nprobes: 64 },
    lowers: "parts loaded",
    measure: partsLoaded,
    firstRunOnly: true,
  },
  {
    code: "unindexed-prefilter",
    data: "a search with a filter on a column without an index",
    make: table("quantized"),
    query: { ...search, filter: "category = 'c5'" },
    lowers: "rows scanned",
    measure: rowsScanned,
  },
  {
    code: "missing-scalar-index",
    data: "a filter that 20 of 20,000 rows match",
    make: table("plain"),
    query: { ...scan, filter: "category = 'c5'" },
    lowers: "rows scanned",
    measure: rowsScanned,
  },
  {
    code: "filter-partly-indexed",
    data: "an index on score, none on category",
    make: table("B-tree on score"),
    query: { ...scan, filter: "score >= 100 and category = 'c5'" },
    lowers: "rows scanned",
    measure: rowsScanned,
  },
  {
    code: "unindexed-scalars",
    data: "20,000 rows in a B-tree, 5,000 not",
    make: withMore("B-tree on id", 5000),
    query: { ...scan, filter: "id = 5" },
    lowers: "rows scanned",
    measure: rowsScanned,
  },
  {
    code: "unindexed-text",
    data: "20,000 texts in the index, 5,000 not",
    make: withMore("text index", 5000),
    query: { k: 10, columns: ["id"], full_text_query: { string_query: { query: "word7", columns: ["body"] } } },
    lowers: "rows scanned",
    measure: rowsScanned,
  },
  {
    code: "cast-in-filter",
    data: "a B-tree on id, a filter on cast(id as double)",
    make: table("B-tree on id"),
    query: { ...scan, filter: "cast(id as double) >= 19990.5" },
    lowers: "rows scanned",
    measure: rowsScanned,
  },
  {
    code: "small-fragments",
    data: "40 fragments of 500 rows",
    make: async ({ connection }, name) => {
      const made = await connection.createTable(name, rows(0, 500));
      for (let batch = 1; batch < 40; batch++) await made.add(rows(batch * 500, (batch + 1) * 500));
      return made;
    },
    query: scan,
    lowers: "requests",
    measure: requests,
  },
  {
    code: "deleted-rows",
    data: "every second of 20,000 rows deleted",
    make: async ({ make }, name) => {
      const made = await make("plain", name);
      await made.delete("id % 2 = 0");
      return made;
    },
    query: { ...scan, columns: ["vector"] },
    lowers: "bytes read",
    measure: bytesRead,
  },
  {
    code: "wide-columns",
    data: "20,000 rows with their vectors",
    make: table("plain"),
    query: { k: 100_000, vector: null },
    lowers: "bytes read",
    measure: bytesRead,
  },
  {
    code: "row-by-row-reads",
    data: "4,000 rows of 8 KiB, a filter that keeps 1,000",
    make: ({ connection }, name) => connection.createTable(name, wideRows(4000)),
    query: { k: 100_000, vector: null, columns: ["id", "score", "payload"], filter: "score < 1000" },
    lowers: "reads",
    measure: reads,
  },
  {
    code: "unreturned-values",
    data: "4,000 rows of 8 KiB, the first 10 by a number",
    make: ({ connection }, name) => connection.createTable(name, wideRows(4000)),
    query: { k: 10, vector: null, order_by: [{ column_name: "score" }] },
    lowers: "bytes read",
    measure: bytesRead,
  },
  {
    code: "deep-offset",
    data: "a search with offset 2,000",
    make: table("quantized"),
    query: { ...search, offset: 2000 },
    lowers: "rows ranked",
    measure: rowsRanked,
  },
  {
    code: "fast-search-omits-rows",
    data: "fast_search, 2,000 rows not in the index",
    make: withMore("quantized", 2000),
    query: { ...search, fast_search: true },
    lowers: "rows left out",
    measure: async ({ document }) => document.facts.indices?.[0]?.unindexed_rows ?? Number.NaN,
  },
];

export { vector as searchedVector };
