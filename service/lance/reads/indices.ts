import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../../errors.ts";

/** An index of a table, in the form of the catalog's specification. */
export interface IndexRecord {
  readonly index_name: string;
  readonly index_uuid: string;
  readonly columns: readonly string[];
  readonly status: string;
  readonly index_type?: string;
  readonly type_url?: string;
  readonly num_indexed_rows?: number;
  readonly num_unindexed_rows?: number;
  readonly size_bytes?: number;
  readonly num_segments?: number;
  /** RFC 3339. */
  readonly created_at?: string;
  readonly index_version?: number;
  /** JSON. */
  readonly index_details?: string;
}

export interface IndexStatisticsRecord {
  readonly num_indexed_rows: number;
  readonly num_unindexed_rows: number;
  readonly index_type: string;
  readonly distance_type?: string;
  readonly num_indices?: number;
}

/** Converts `IvfHnswSq` to `IVF_HNSW_SQ`, the form of the catalog and of the SDK's own statistics. */
const typeName = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();

const present = <T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined && entry !== null)) as never;

/** The SDK lists only indices that are built. */
const built = "SUCCEEDED";

/** In the order of their names. */
export const listIndices = async (table: Table): Promise<readonly IndexRecord[]> => {
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
export const indexStatistics = async (table: Table, name: string): Promise<IndexStatisticsRecord> => {
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
