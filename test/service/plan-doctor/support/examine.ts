import type * as lancedb from "@lancedb/lancedb";
import { uncheckedQuery } from "../../../../service/guard/verify-query.ts";
import { listIndices } from "../../../../service/lance/reads/indices.ts";
import { readFacts } from "../../../../service/lance/reads/plan-facts.ts";
import { buildQuery } from "../../../../service/lance/reads/query.ts";
import { readSchema } from "../../../../service/lance/reads/schema.ts";
import { readStatistics } from "../../../../service/lance/reads/statistics.ts";
import { readsTable, rowsRead } from "../../../../service/plan-doctor/case.ts";
import { diagnose } from "../../../../service/plan-doctor/diagnose.ts";
import { metricValue, nodesOf } from "../../../../service/plan-doctor/parse.ts";
import type { Finding, PlanDocument } from "../../../../service/plan-doctor/types.ts";
import { type Query, query as wireQuery } from "../../../../service/query/wire.ts";

/** A row of a result, as far as cases measure it. */
export interface ResultRow {
  readonly id: bigint;
  readonly _distance: number;
}

/** A query that an engine ran: its measured plan, and its rows. */
export interface Execution {
  readonly plan: string;
  readonly rows: () => Promise<readonly ResultRow[]>;
}

/** A query on a table as an engine ran it, and what the doctor says. */
export interface Examined extends Pick<Execution, "rows"> {
  readonly query: Query;
  readonly document: PlanDocument;
}

export const parseQuery = (wire: unknown): Query => wireQuery.parse(wire);

export const execute = async (builder: lancedb.Query | lancedb.VectorQuery): Promise<Execution> => ({
  plan: await builder.analyzePlan(),
  rows: () => builder.toArray(),
});

/** Runs a query with the service's own engine. */
export const executeQuery = async (table: lancedb.Table, query: Query): Promise<Execution> =>
  execute(await buildQuery(table, uncheckedQuery(query)));

/** Examines the plan of a query that ran. */
export const examine = async (table: lancedb.Table, query: Query, { plan, rows }: Execution): Promise<Examined> => {
  const facts = await readFacts(await table.version(), {
    statistics: () => readStatistics(table),
    columns: () => readSchema(table, "arrow"),
    indices: () => listIndices(table),
  });
  return { query, rows, document: { plan, ...diagnose(plan, query, facts, table.name), facts } };
};

export const codesOf = ({ document }: Examined): readonly string[] => document.findings.map(({ code }) => code);

/** The query in the REST form of a fix. */
export const queryOfFix = ({ fix }: Finding): Query =>
  parseQuery(JSON.parse(fix.rest.slice(fix.rest.indexOf("\n") + 1)));

const nodes = ({ document }: Examined) => nodesOf(document.tree);

const total = (examined: Examined, metric: string): number =>
  nodes(examined).reduce((sum, node) => sum + (metricValue(node.metrics, metric) ?? 0), 0);

/** Rows that are read from the table in its order. */
export const rowsScanned = async (examined: Examined): Promise<number> =>
  nodes(examined)
    .filter(readsTable)
    .reduce((sum, node) => sum + (rowsRead(node) ?? 0), 0);

/** Rows that the partitions of a vector index return. */
export const rowsRanked = async (examined: Examined): Promise<number> =>
  nodes(examined)
    .filter(({ name }) => name === "ANNSubIndex")
    .reduce((sum, node) => sum + (node.rows_out ?? 0), 0);

export const bytesRead = async (examined: Examined): Promise<number> => total(examined, "bytes_read");
export const requests = async (examined: Examined): Promise<number> => total(examined, "requests");
export const reads = async (examined: Examined): Promise<number> => total(examined, "iops");
export const partsLoaded = async (examined: Examined): Promise<number> => total(examined, "parts_loaded");
export const partitionsSearched = async (examined: Examined): Promise<number> => total(examined, "partitions_searched");

export const milliseconds = ({ document }: Examined): number => (document.tree.elapsed_ns ?? 0) / 1e6;
