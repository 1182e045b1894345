import { connect, type Table } from "@lancedb/lancedb";
import {
  Table as ArrowTable,
  type Data,
  Field,
  FixedSizeList,
  Float32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
} from "apache-arrow";

export const million = { name: "million", rows: 1_000_000, dimensions: 128 } as const;

const rowsOfBatch = 100_000;

const item = new Field("item", new Float32(), true);
const vectorType = new FixedSizeList(million.dimensions, item);
const schema = new Schema([new Field("id", new Int64(), true), new Field("vector", vectorType, true)]);

/** Cheap noise, the same in every run: a linear congruential generator. */
const noise = (length: number, seed: number): Float32Array => {
  const values = new Float32Array(length);
  let state = seed + 1;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    values[index] = state / 2 ** 32;
  }
  return values;
};

/** Arrow columns: JavaScript rows would take minutes and gigabytes. */
const batchFrom = (first: number): ArrowTable => {
  const ids = BigInt64Array.from({ length: rowsOfBatch }, (_, index) => BigInt(first + index));
  const values = noise(rowsOfBatch * million.dimensions, first);
  const columns: Data[] = [
    makeData({ type: new Int64(), data: ids }),
    makeData({ type: vectorType, length: rowsOfBatch, child: makeData({ type: new Float32(), data: values }) }),
  ];
  const rows = makeData({ type: new Struct(schema.fields), length: rowsOfBatch, children: columns });
  return new ArrowTable(schema, [new RecordBatch(schema, rows)]);
};

/** Writes a table of a million vectors without an index, so that every search reads all of it. */
export const writeMillion = async (directory: string): Promise<void> => {
  const connection = await connect(directory);
  let table: Table | undefined;
  for (let first = 0; first < million.rows; first += rowsOfBatch)
    if (table === undefined) table = await connection.createTable(million.name, batchFrom(first));
    else await table.add(batchFrom(first));
  connection.close();
};
