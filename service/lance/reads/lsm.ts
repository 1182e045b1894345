import type { Table } from "@lancedb/lancedb";

/** How merges are written to a table's write-ahead log, in the form of LanceDB's clients. */
export interface LsmWriteSpec {
  readonly sharding:
    | { readonly mode: "unsharded" }
    | { readonly mode: "bucket"; readonly column: string; readonly num_buckets: number }
    | { readonly mode: "identity"; readonly column: string };
  readonly maintained_indexes: readonly string[];
  readonly writer_config_defaults: Readonly<Record<string, string>>;
}

/** Null for a table without a write-ahead log. */
export const readLsmWriteSpec = async (table: Table): Promise<LsmWriteSpec | null> => {
  const spec = await table.getLsmWriteSpec();
  if (spec === undefined || spec === null) return null;
  const { specType: mode, column = "", numBuckets = 1, maintainedIndexes = [], writerConfigDefaults = {} } = spec;
  const shardings = {
    unsharded: { mode: "unsharded" },
    bucket: { mode: "bucket", column, num_buckets: numBuckets },
    identity: { mode: "identity", column },
  } as const;
  return {
    sharding: shardings[mode],
    maintained_indexes: maintainedIndexes,
    writer_config_defaults: writerConfigDefaults,
  };
};
