import { createHash } from "node:crypto";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, connect, Index, makeArrowTable, type Table } from "@lancedb/lancedb";
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

/** An index is trained with few rows and rounds: a finding does not depend on how good its centroids are. */
const training = { sampleRate: 16, maxIterations: 4 } as const;

type Make = (connection: Connection, name: string) => Promise<Table>;

const plain: Make = (connection, name) => connection.createTable(name, rows(0, size));

/** The SDK uses a configuration once. */
const withIndex =
  (column: string, config: () => Index): Make =>
  async (connection, name) => {
    const table = await plain(connection, name);
    await table.createIndex(column, { config: config() });
    return table;
  };

/** Tables of `size` rows that cases begin with, and how each is made. */
const kinds = {
  plain,
  /** Half a byte for each number of a vector. */
  quantized: withIndex("vector", () => Index.ivfPq({ numPartitions: 16, numSubVectors: 16, ...training })),
  "1 bit": withIndex("vector", () => Index.ivfPq({ numPartitions: 16, numSubVectors: 4, ...training })),
  "64 partitions": withIndex("vector", () => Index.ivfFlat({ numPartitions: 64, ...training })),
  "256 partitions": withIndex("vector", () => Index.ivfFlat({ numPartitions: 256, ...training })),
  "B-tree on id": withIndex("id", () => Index.btree()),
  "B-tree on score": withIndex("score", () => Index.btree()),
  "text index": withIndex("body", () => Index.fts()),
} as const satisfies Readonly<Record<string, Make>>;

export type Kind = keyof typeof kinds;

/** A local database of tables with faults. */
export interface Tables {
  readonly directory: string;
  readonly connection: Connection;
  /** A new table. The first one of its kind is made, the others are copies of its files. */
  readonly make: (kind: Kind, name: string) => Promise<Table>;
  /** A table by a new connection, whose caches are empty. */
  readonly reopen: (name: string) => Promise<{ readonly table: Table; readonly close: () => void }>;
  /** Closes the database and removes its directory. */
  readonly remove: () => Promise<void>;
}

export const createTables = async (): Promise<Tables> => {
  const directory = await mkdtemp(join(tmpdir(), "lakehead-doctor-"));
  const connection = await connect(directory);
  const originals = new Map<Kind, Promise<string>>();
  const original = (kind: Kind): Promise<string> => {
    const made = originals.get(kind) ?? kinds[kind](connection, `original_${originals.size}`).then(({ name }) => name);
    originals.set(kind, made);
    return made;
  };
  const fileOf = (name: string): string => join(directory, `${name}.lance`);
  return {
    directory,
    connection,
    make: async (kind, name) => {
      await cp(fileOf(await original(kind)), fileOf(name), { recursive: true });
      return connection.openTable(name);
    },
    reopen: async (name) => {
      const other = await connect(directory);
      return { table: await other.openTable(name), close: () => other.close() };
    },
    remove: async () => {
      connection.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
