import { writeFile } from "node:fs/promises";
import { connect, type Table } from "@lancedb/lancedb";
import { branchRows, makeTestDatabase } from "../../tools/parts/database.ts";
import { plainStream } from "../service/writes/support.ts";
import { arrowTypes } from "../support/arrow-types.ts";
import { testToken } from "../support/request.ts";
import { docs, nested, plain, vectorOf } from "../support/tables.ts";

/** Keys of the started service: one with every permission, one that may read the statistics of one table. */
export const keys = { all: testToken, docsStats: "key-for-the-statistics-of-docs" } as const;

/** Input of a client's program: the service's address and the expected facts about its tables. */
export interface World extends Facts {
  readonly endpoint: string;
  readonly keys: typeof keys;
}

/** Expected facts about the tables. */
export type Facts = Awaited<ReturnType<typeof facts>>;

/** A table of one row whose id has characters that clients encode differently. */
const awkward = { namespace: ["prod", "vectors", "a b+c ü"], name: "t.1-x" } as const;

/** Writes the test tables and the one with special characters. */
export const makeDatabase = async (directory: string): Promise<void> => {
  await makeTestDatabase(directory);
  const connection = await connect(directory);
  await connection.createNamespace([...awkward.namespace]);
  await connection.createTable(awkward.name, [{ id: 1 }], [...awkward.namespace]);
  connection.close();
};

const column = async (rows: Promise<unknown[]>, name: string): Promise<number[]> =>
  (await rows).map((row) => Number((row as Readonly<Record<string, unknown>>)[name]));

const nearestIds = (table: Table, vector: readonly number[]): Promise<number[]> =>
  column(
    table
      .query()
      .nearestTo([...vector])
      .column("vector")
      .bypassVectorIndex()
      .select(["id", "_distance"])
      .limit(4)
      .toArray(),
    "id",
  );

/** Facts from the embedded database, which every client must see as well. */
export const facts = async (database: string) => {
  const connection = await connect(database);
  const table = await connection.openTable("docs");
  const { fragmentStats, ...stats } = await table.stats();
  const vector = vectorOf(5);
  const described = {
    /** Columns and their kinds, see `ColumnKind`. */
    columns: docs.columns,
    rows: await table.countRows(),
    version: await table.version(),
    branchRows,
    bytes: stats.totalBytes,
    fragments: fragmentStats.numFragments,
    longestFragment: fragmentStats.lengths.max,
    /** Statistics of the vector index. */
    vectorIndex: await table.indexStats("vector_idx"),
    indices: (await table.listIndices()).map(({ name, indexType, columns }) => ({ name, type: indexType, columns })),
    vector,
    /** The four rows that are nearest to `vector`, found without an index. */
    nearest: await nearestIds(table, vector),
    withPuppy: await table
      .query()
      .fullTextSearch("puppy", { columns: ["text"] })
      .limit(5000)
      .toArray()
      .then((rows) => rows.length),
  };
  const rowsPerVersion = plain.batches[0]?.length ?? 0;
  connection.close();
  return {
    docs: described,
    /** A table of ten versions of ten rows more each, without an index. */
    plain: { versions: plain.batches.length, rowsPerVersion, rows: rowsPerVersion * plain.batches.length },
    /** A table in a namespace that is in another. */
    nested: { namespace: nested.namespace, name: nested.name, rows: nested.batches.flat().length },
    awkward: { ...awkward, rows: 1 },
    /** Expressions of pyarrow for the types that Lance stores, and that LanceDB's clients read as they are. */
    types: arrowTypes.map(({ pyarrow }) => pyarrow).filter((type) => !type.startsWith("pa.map_")),
    /** Arrow IPC streams in hexadecimal digits, for clients without an Arrow library. Columns: id, text, vector of 4. */
    streams: {
      /** Ids 1 to 3; the texts begin with "row". */
      first: hexadecimal(plainStream([1, 2, 3])),
      /** Ids 3 and 4, with the text "merged". */
      merged: hexadecimal(plainStream([3, 4], "merged")),
    },
  };
};

const hexadecimal = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

export const writeWorld = async (file: string, endpoint: string, of: Facts): Promise<void> => {
  const world: World = { endpoint, keys, ...of };
  await writeFile(file, JSON.stringify(world));
};
