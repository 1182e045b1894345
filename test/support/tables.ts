import type { Row, TableDefinition } from "../../tools/lance-tables.ts";

/** Test tables: small enough to write in a second, and such that every query field changes a plan. */
export const dimensions = 16;

/** Deterministic, so that a plan or a count never depends on the run. */
export const vectorOf = (row: number, shift = 0): number[] =>
  Array.from({ length: dimensions }, (_, index) => Math.fround(Math.sin(row * 13.37 + (index + shift) * 7.1)));

const docRow = (row: number): Row => ({
  id: BigInt(row),
  category: ["red", "green", "blue"][row % 3] ?? "red",
  text: `hello world puppy number ${row % 17}`,
  title: `title of part ${row % 5}`,
  score: row / 10,
  vector: vectorOf(row),
  other: vectorOf(row, 1),
});

const rows = (from: number, to: number): Row[] => Array.from({ length: to - from }, (_, index) => docRow(from + index));

/** `docs`: 1,020 rows in two versions' worth of data, indexed after the first so that some rows are not. */
export const docs: TableDefinition = {
  namespace: [],
  name: "docs",
  columns: {
    id: "integer",
    category: "text",
    text: "text",
    title: "text",
    score: "number",
    vector: { vector: dimensions },
    other: { vector: dimensions },
  },
  batches: [rows(0, 1000)],
  indices: [
    { column: "vector", kind: "ivf_pq" },
    { column: "other", kind: "hnsw_sq" },
    { column: "text", kind: "full_text" },
    { column: "title", kind: "full_text" },
    { column: "id", kind: "btree" },
  ],
  lateBatches: [rows(1000, 1020)],
};

const small = (namespace: readonly string[], name: string, batches: number): TableDefinition => ({
  namespace,
  name,
  columns: { id: "integer", text: "text", vector: { vector: 4 } },
  batches: Array.from({ length: batches }, (_, batch) =>
    Array.from({ length: 10 }, (_, row) => ({
      id: BigInt(batch * 10 + row),
      text: `row ${row}`,
      vector: [row, batch, 0, 1],
    })),
  ),
  indices: [],
});

/** `plain`: one vector column, no index, ten versions of ten more rows each. */
export const plain = small([], "plain", 10);

/** A table two namespaces deep, by the name of one at the root. */
export const nested = small(["prod", "vectors"], "docs", 2);

export const testTables: readonly TableDefinition[] = [docs, plain, nested];
