import type { Table, TableStatistics } from "@lancedb/lancedb";

/** Statistics of a table, all integers. `num_rows` counts live rows, `total_bytes` includes indices. */
export interface StatisticsRecord {
  readonly total_bytes: number;
  readonly num_rows: number;
  readonly num_indices: number;
  readonly fragment_stats: {
    readonly num_fragments: number;
    readonly num_small_fragments: number;
    readonly lengths: Readonly<Record<"min" | "max" | "mean" | "p25" | "p50" | "p75" | "p99", number>>;
  };
}

const toRecord = ({ totalBytes, numRows, numIndices, fragmentStats }: TableStatistics): StatisticsRecord => {
  const { min, max, mean, p25, p50, p75, p99 } = fragmentStats.lengths;
  return {
    total_bytes: totalBytes,
    num_rows: numRows,
    num_indices: numIndices,
    fragment_stats: {
      num_fragments: fragmentStats.numFragments,
      num_small_fragments: fragmentStats.numSmallFragments,
      // LanceDB's client rejects a fractional mean.
      lengths: { min, max, mean: Math.trunc(mean), p25, p50, p75, p99 },
    },
  };
};

/** Each call reads the metadata of every full-text index. */
export const readStatistics = async (table: Table): Promise<StatisticsRecord> => toRecord(await table.stats());
