import { connect } from "@lancedb/lancedb";
import { makeRows } from "../ingest/rows.ts";

export const million = { name: "million", rows: 1_000_000, dimensions: 128 } as const;

const rowsOfBatch = 100_000;

/** Writes a table of a million vectors without an index, so that every search reads all of it. */
export const writeMillion = async (directory: string): Promise<void> => {
  const connection = await connect(directory);
  const table = await connection.createTable(million.name, makeRows(million.dimensions, rowsOfBatch));
  for (let first = rowsOfBatch; first < million.rows; first += rowsOfBatch)
    await table.add(makeRows(million.dimensions, rowsOfBatch, first));
  connection.close();
};
