import { createHash } from "node:crypto";
import { type Connection, Index, makeArrowTable, type Table } from "@lancedb/lancedb";
import { Binary, Field, FixedSizeList, Float32, Float64, Int64, Schema, Utf8 } from "apache-arrow";

export const dimensions = 32;

/** A number from 0 to 1 that depends on its arguments alone. */
const noise = (row: number, index: number): number => {
  const value = Math.sin(row * 12.9898 + index * 78.233) * 43_758.5453;
  return value - Math.floor(value);
};

export const vectorOf = (row: number): number[] =>
  Array.from({ length: dimensions }, (_, index) => Math.fround(noise(row, index)));

const fields = [
  new Field("id", new Int64(), true),
  new Field("category", new Utf8(), true),
  new Field("score", new Float64(), true),
  new Field("body", new Utf8(), true),
  new Field("vector", new FixedSizeList(dimensions, new Field("item", new Float32(), true)), true),
];

const payloadBytes = 8192;

const rowOf = (row: number) => ({
  id: BigInt(row),
  category: `c${row % 1000}`,
  score: row / 10,
  body: `word${row % 50} page ${row}`,
  vector: vectorOf(row),
});

const cache = new Map<string, ReturnType<typeof makeArrowTable>>();

/** Rows `from` to `to`, made once. */
export const rows = (from: number, to: number): ReturnType<typeof makeArrowTable> => {
  const key = `${from}-${to}`;
  const made =
    cache.get(key) ??
    makeArrowTable(
      Array.from({ length: to - from }, (_, index) => rowOf(from + index)),
      { schema: new Schema(fields) },
    );
  cache.set(key, made);
  return made;
};

/** Rows of 8 KiB of binary each. */
export const wideRows = (count: number): ReturnType<typeof makeArrowTable> =>
  makeArrowTable(
    Array.from({ length: count }, (_, row) => ({
      id: BigInt(row),
      // Every fourth row has a score below a quarter of the count: no two of them are neighbours.
      score: (row % 4) * count + row / 4,
      payload: createHash("shake128", { outputLength: payloadBytes }).update(String(row)).digest(),
    })),
    {
      schema: new Schema([
        new Field("id", new Int64(), true),
        new Field("score", new Float64(), true),
        new Field("payload", new Binary(), true),
      ]),
    },
  );

/** The size of the tables: the smallest with which every finding of this size fires. */
export const size = 20_000;

export const makeTable = (connection: Connection, name: string): Promise<Table> =>
  connection.createTable(name, rows(0, size));

/** `size` rows and a quantized vector index. */
export const makeIndexed = async (connection: Connection, name: string, numPartitions = 16): Promise<Table> => {
  const table = await makeTable(connection, name);
  await table.createIndex("vector", { config: Index.ivfPq({ numPartitions, numSubVectors: 16 }) });
  return table;
};
