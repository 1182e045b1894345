import { connect } from "@lancedb/lancedb";
import { Field, FixedSizeList, Float32, Int64, Schema } from "apache-arrow";

/** Versions of the table `metadata`. */
export const metadataVersions = 60;

const id = new Field("id", new Int64(), true);
const vector = (name: string, length: number): Field =>
  new Field(name, new FixedSizeList(length, new Field("item", new Float32(), true)), true);

/**
 * Tables that the service refuses to make, and that another program may put into its database: `huge` and `wide` have a column
 * `x` whose values take 8 GiB and 4 MiB, each version of `metadata` has 10 MB of it, the schema of `columns` has nearly 1 MB. `plain` is small.
 */
export const makeHeavyTables = async (directory: string, versions = metadataVersions): Promise<void> => {
  const connection = await connect(directory);
  await connection.createTable("plain", [{ id: 1 }]);
  await connection.createEmptyTable("huge", new Schema([id, vector("x", 2 ** 31 - 1)]));
  await connection.createEmptyTable("wide", new Schema([id, vector("x", 2 ** 20)]));
  const noted = new Map([["note", "x".repeat(900_000)]]);
  await connection.createEmptyTable("columns", new Schema([id], noted));
  const table = await connection.createEmptyTable(
    "metadata",
    new Schema([id], new Map([["note", "x".repeat(10_000_000)]])),
  );
  for (let version = 1; version < versions; version++) await table.add([{ id: version }]);
  connection.close();
};
