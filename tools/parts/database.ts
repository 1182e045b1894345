import { connect } from "@lancedb/lancedb";
import { testTables } from "../../test/support/tables.ts";
import { writeTables } from "../lance-tables.ts";

/** Rows of the table `docs` on its branch `experiment`. */
export const branchRows = 900;

/** A database of the test tables, with a branch `experiment` of `docs`, where nothing is yet: a directory or an address in a store. */
export const makeTestDatabase = async (
  uri: string,
  storageOptions: Readonly<Record<string, string>> = {},
): Promise<void> => {
  await writeTables(uri, testTables, storageOptions);
  const connection = await connect(uri, { storageOptions: { ...storageOptions } });
  const table = await connection.openTable("docs");
  const branch = await (await table.branches()).create("experiment");
  await branch.delete(`id >= ${branchRows}`);
  connection.close();
};
