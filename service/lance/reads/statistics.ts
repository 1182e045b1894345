import type { Table, TableStatistics } from "@lancedb/lancedb";
import type { Statistics } from "../../query/answers.ts";

const toRecord = ({ totalBytes, numRows, numIndices, fragmentStats }: TableStatistics): Statistics => {
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

/** All integers. Each call reads the metadata of every full-text index. */
export const readStatistics = async (table: Table): Promise<Statistics> => toRecord(await table.stats());
