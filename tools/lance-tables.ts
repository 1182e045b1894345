import { type Connection, connect, Index } from "@lancedb/lancedb";
import { DateMillisecond, Field, FixedSizeList, Float32, Float64, Int64, Schema, Utf8 } from "apache-arrow";

/** A column of a table to make; `vector` has so many 32-bit floats. */
export type ColumnKind = "text" | "integer" | "number" | "date" | { readonly vector: number };

export type Row = Readonly<Record<string, string | number | bigint | Date | readonly number[] | null>>;

export type IndexKind = "ivf_pq" | "hnsw_sq" | "full_text" | "btree" | "bitmap";

/** A table as data, for the quick start, tests and measurements. */
export interface TableDefinition {
  readonly namespace: readonly string[];
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Each batch becomes a version. */
  readonly batches: readonly (readonly Row[])[];
  readonly indices: readonly { readonly column: string; readonly kind: IndexKind }[];
  /** Added after the indices are made, so that they do not cover these rows. */
  readonly lateBatches?: readonly (readonly Row[])[];
}

const arrowType = (kind: ColumnKind) => {
  if (kind === "text") return new Utf8();
  if (kind === "integer") return new Int64();
  if (kind === "number") return new Float64();
  if (kind === "date") return new DateMillisecond();
  return new FixedSizeList(kind.vector, new Field("item", new Float32(), true));
};

const arrowSchema = (columns: TableDefinition["columns"]): Schema =>
  new Schema(Object.entries(columns).map(([name, kind]) => new Field(name, arrowType(kind), true)));

const indexConfigs: Readonly<Record<IndexKind, () => Index>> = {
  ivf_pq: () => Index.ivfPq({ numPartitions: 8, numSubVectors: 2 }),
  hnsw_sq: () => Index.hnswSq({ numPartitions: 1 }),
  full_text: () => Index.fts({ withPosition: true }),
  btree: () => Index.btree(),
  bitmap: () => Index.bitmap(),
};

const makeNamespaces = async (connection: Connection, path: readonly string[]): Promise<void> => {
  for (let depth = 1; depth <= path.length; depth++)
    try {
      await connection.createNamespace(path.slice(0, depth));
    } catch (error) {
      // The SDK ignores its own mode `exist_ok`.
      if (!/Namespace already exists/.test(String(error))) throw error;
    }
};

const makeTable = async (connection: Connection, definition: TableDefinition): Promise<void> => {
  const [first = [], ...more] = definition.batches;
  await makeNamespaces(connection, definition.namespace);
  const table = await connection.createTable(definition.name, [...first], [...definition.namespace], {
    schema: arrowSchema(definition.columns),
  });
  for (const batch of more) await table.add([...batch]);
  for (const { column, kind } of definition.indices) await table.createIndex(column, { config: indexConfigs[kind]() });
  for (const batch of definition.lateBatches ?? []) await table.add([...batch]);
};

/**
 * Makes tables in a database, nested namespaces and indices included.
 * @throws when a table exists already.
 */
export const writeTables = async (
  uri: string,
  definitions: readonly TableDefinition[],
  storageOptions: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const connection = await connect(uri, { storageOptions: { ...storageOptions } });
  try {
    for (const definition of definitions) await makeTable(connection, definition);
  } finally {
    connection.close();
  }
};
