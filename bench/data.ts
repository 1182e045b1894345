import { connect } from "@lancedb/lancedb";
import { type Row, writeTables } from "../tools/lance-tables.ts";
import { knownTag, tables, vectorOf } from "./workloads.ts";

const rowsOf = (count: number, dimensions: number): Row[] =>
  Array.from({ length: count }, (_, id) => ({ id: BigInt(id), vector: [...vectorOf(id, dimensions)] }));

/** Writes the tables of the workloads, each with a vector index and a tag. */
export const writeData = async (directory: string): Promise<void> => {
  await writeTables(
    directory,
    Object.values(tables).map(({ name, rows, dimensions }) => ({
      namespace: [],
      name,
      columns: { id: "integer", vector: { vector: dimensions } } as const,
      batches: [rowsOf(rows, dimensions)],
      indices: [{ column: "vector", kind: "ivf_pq" }] as const,
    })),
  );
  const connection = await connect(directory);
  for (const { name } of Object.values(tables))
    await (await (await connection.openTable(name)).tags()).create(knownTag, 1);
  connection.close();
};
