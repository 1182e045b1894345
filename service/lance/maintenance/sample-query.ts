import type { Query, Table, VectorQuery } from "@lancedb/lancedb";
import { metricValue, nodesOf, parsePlan } from "../../plan-doctor/parse.ts";
import type { ColumnFacts, Facts } from "../../plan-doctor/types.ts";
import { analyze } from "../reads/analyze.ts";

/** The cost of one query. */
export interface SampleCost {
  readonly milliseconds: number;
  /** Bytes and requests of the reads of data files. */
  readonly bytes: number;
  readonly reads: number;
}

const neighbours = 10;
const scannedRows = 10_000;

/** Types whose values are small. */
const narrow = /^(?:u?int|float|bool|date|time)/;

const narrowest = (columns: readonly ColumnFacts[]): string | undefined =>
  (columns.find(({ type }) => narrow.test(type)) ?? columns[0])?.name;

/** A search of the first vector index, or else a scan of a narrow column. */
const queryOf = (table: Table, { columns, indices }: Facts): Query | VectorQuery | undefined => {
  const searched = indices?.find(({ metric }) => metric !== null)?.columns[0];
  const dimensions = columns?.find(({ name }) => name === searched)?.dimensions;
  const column = narrowest(columns ?? []);
  if (column === undefined) return undefined;
  if (searched !== undefined && dimensions !== null && dimensions !== undefined)
    return table
      .query()
      .nearestTo(new Array<number>(dimensions).fill(1))
      .column(searched)
      .select([column])
      .limit(neighbours);
  return table.query().select([column]).limit(scannedRows);
};

/** @returns null for a table that no query fits. */
export const sampleCost = async (table: Table, facts: Facts): Promise<SampleCost | null> => {
  const query = queryOf(table, facts);
  if (query === undefined) return null;
  const tree = parsePlan(await analyze(query));
  const sum = (metric: string): number =>
    nodesOf(tree).reduce((total, { metrics }) => total + (metricValue(metrics, metric) ?? 0), 0);
  return { milliseconds: (tree.elapsed_ns ?? 0) / 1e6, bytes: sum("bytes_read"), reads: sum("iops") };
};
