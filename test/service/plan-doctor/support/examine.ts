import * as lancedb from "@lancedb/lancedb";
import { uncheckedQuery } from "../../../../service/guard/verify-query.ts";
import { listIndices } from "../../../../service/lance/indices.ts";
import { readFacts } from "../../../../service/lance/plan-facts.ts";
import { buildQuery } from "../../../../service/lance/query.ts";
import { toJsonSchema } from "../../../../service/lance/schema.ts";
import { readStatistics } from "../../../../service/lance/statistics.ts";
import { readsTable, rowsRead } from "../../../../service/plan-doctor/case.ts";
import { diagnose } from "../../../../service/plan-doctor/diagnose.ts";
import { metricValue, nodesOf } from "../../../../service/plan-doctor/parse.ts";
import type { Finding, PlanDocument } from "../../../../service/plan-doctor/types.ts";
import { type Query, query as wireQuery } from "../../../../service/query/wire.ts";

export type Builder = lancedb.Query | lancedb.VectorQuery;

/** A query on a table as the engine ran it, and what the doctor says. */
export interface Examined {
  readonly query: Query;
  readonly builder: Builder;
  readonly document: PlanDocument;
}

export const parseQuery = (wire: unknown): Query => wireQuery.parse(wire);

/** Runs a query of the SDK and examines its plan; `query` is the same in the service's own form. */
export const examine = async (table: lancedb.Table, query: Query, builder?: Builder): Promise<Examined> => {
  const built = builder ?? (await buildQuery(table, uncheckedQuery(query)));
  const plan = await built.analyzePlan();
  const facts = await readFacts(await table.version(), {
    statistics: () => readStatistics(table),
    columns: async () => toJsonSchema(await table.schema(), "arrow"),
    indices: () => listIndices(table),
  });
  return { query, builder: built, document: { plan, ...diagnose(plan, query, facts, table.name), facts } };
};

export const codesOf = ({ document }: Examined): readonly string[] => document.findings.map(({ code }) => code);

/** What a fix as printed may use besides the table. */
export interface Surroundings {
  readonly vector: readonly number[];
  /** `_distance` of the last row before the page. */
  readonly lastDistance?: number;
}

/**
 * Runs the TypeScript of a fix as it is printed. No part of the code is TypeScript's own.
 * @returns the query that it builds; undefined for a fix of the table.
 */
export const applyFix = async (
  table: lancedb.Table,
  { fix }: Finding,
  { vector, lastDistance }: Surroundings,
): Promise<Builder | undefined> => {
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  const builds = fix.typescript.startsWith("const query = ");
  const code = `${fix.typescript}\n${builds ? "return { query };" : "return {};"}`;
  const run = AsyncFunction("table", "lancedb", "vector", "lastDistance", code);
  const { query } = await run(table, lancedb, vector, lastDistance);
  return query;
};

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
