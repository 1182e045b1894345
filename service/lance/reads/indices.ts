import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../../errors.ts";
import type { IndexEntry, IndexStatistics } from "../../query/answers.ts";

/** Converts `IvfHnswSq` to `IVF_HNSW_SQ`, the form of the catalog and of the SDK's own statistics. */
const typeName = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();

const present = <T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined && entry !== null)) as never;

/** The SDK lists only indices that are built. */
const built = "SUCCEEDED";

/** In the order of their names. */
export const listIndices = async (table: Table): Promise<readonly IndexEntry[]> => {
  const indices = (await table.listIndices()).sort((left, right) => (left.name < right.name ? -1 : 1));
  return indices.map((index) => ({
    index_name: index.name,
    index_uuid: index.indexUuid ?? "",
    columns: index.columns,
    status: built,
    ...present({
      index_type: typeName(index.indexType),
      type_url: index.typeUrl,
      num_indexed_rows: index.numIndexedRows,
      num_unindexed_rows: index.numUnindexedRows,
      size_bytes: index.sizeBytes,
      num_segments: index.numSegments,
      created_at: index.createdAt?.toISOString(),
      index_version: index.indexVersion,
      index_details: index.indexDetails === undefined ? undefined : JSON.stringify(index.indexDetails),
    }),
  }));
};

/** @throws ServiceError code 6. */
export const indexStatistics = async (table: Table, name: string): Promise<IndexStatistics> => {
  const statistics = await table.indexStats(name);
  if (statistics === undefined) throw new ServiceError(6);
  const { numIndexedRows, numUnindexedRows, indexType, distanceType, numIndices } = statistics;
  return {
    num_indexed_rows: numIndexedRows,
    num_unindexed_rows: numUnindexedRows,
    index_type: indexType,
    ...present({ distance_type: distanceType, num_indices: numIndices }),
  };
};
