import * as lancedb from "@lancedb/lancedb";
import type { Finding } from "../../../../service/plan-doctor/types.ts";
import type { Query } from "../../../../service/query/wire.ts";
import { type DoctorCase, searchedVector } from "./cases.ts";
import type { Tables } from "./data.ts";
import {
  type Examined,
  type Execution,
  examine,
  execute,
  executeQuery,
  milliseconds,
  parseQuery,
  queryOfFix,
} from "./examine.ts";

export interface Observation {
  readonly examined: Examined;
  /** What the fix promises to lower. */
  readonly measured: number;
  /** Times of the query, the fastest first. */
  readonly milliseconds: readonly number[];
}

export interface Treatment {
  readonly finding: Finding;
  readonly before: Observation;
  readonly after: Observation;
}

/** What a fix as printed may use besides the table. */
export interface Surroundings {
  readonly vector: readonly number[];
  /** `_distance` of the last row before the page. */
  readonly lastDistance?: number;
}

/** A fix that was applied as it is printed, and the query after it. */
export interface Applied {
  /** The query as the fix prints it; undefined for a fix of the table, after which the query stays as it was. */
  readonly query?: () => Promise<Execution>;
}

/** Applies the program of a fix to a table. `query` is the one that was examined. */
export type ApplyFix = (
  table: lancedb.Table,
  finding: Finding,
  surroundings: Surroundings,
  query: Query,
) => Promise<Applied>;

/** Whether a fix changes the query; else it changes the table. */
export const changesQuery = ({ fix }: Finding): boolean => fix.typescript.startsWith("const query = ");

/** Runs the TypeScript of a fix as it is printed. No part of the code is TypeScript's own. */
export const applyTypescript: ApplyFix = async (table, finding, { vector, lastDistance }) => {
  const { fix } = finding;
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  const builds = changesQuery(finding);
  const code = `${fix.typescript}\n${builds ? "return { query };" : "return {};"}`;
  const { query } = await AsyncFunction(
    "table",
    "lancedb",
    "vector",
    "lastDistance",
    code,
  )(table, lancedb, vector, lastDistance);
  return builds ? { query: () => execute(query) } : {};
};

/** `_distance` of the last row before a page. */
const lastDistanceBefore = async (table: lancedb.Table, { offset }: Query): Promise<number | undefined> => {
  if (offset === undefined) return undefined;
  const rows = await table
    .query()
    .nearestTo([...searchedVector])
    .limit(offset)
    .toArray();
  return rows.at(-1)._distance;
};

/** The query after a fix of the query, from its REST form; a number of the reader's own is filled in. */
const changedQuery = (finding: Finding, lastDistance: number | undefined): Query =>
  queryOfFix({
    ...finding,
    fix: { ...finding.fix, rest: finding.fix.rest.replace('"<last distance>"', String(lastDistance)) },
  });

/** Runs a query and examines the last plan; what is measured and which findings there are does not depend on caches. */
const observe = async (
  one: DoctorCase,
  table: lancedb.Table,
  query: Query,
  run: () => Promise<Execution>,
  repeats: number,
): Promise<Observation> => {
  const runs: Examined[] = [];
  while (runs.length < (one.firstRunOnly ? 1 : repeats)) runs.push(await examine(table, query, await run()));
  const examined = runs.at(-1) as Examined;
  const times = runs.map(milliseconds).sort((left, right) => left - right);
  return { examined, measured: await one.measure(examined, table), milliseconds: times };
};

/**
 * Makes the table of a case, examines its query, applies the fix as printed and examines the query again. The fix and the
 * second query have a connection of their own, whose caches are empty.
 * @param repeats how often the query runs, before and after.
 * @throws Error if the finding does not fire.
 */
export const treat = async (
  tables: Tables,
  one: DoctorCase,
  apply: ApplyFix = applyTypescript,
  repeats = 1,
): Promise<Treatment> => {
  const name = one.code.replaceAll("-", "_");
  const table = await one.make(tables, name);
  const query = parseQuery(one.query);
  const before = await observe(one, table, query, () => executeQuery(table, query), repeats);
  const finding = before.examined.document.findings.find(({ code }) => code === one.code);
  if (finding === undefined) throw new Error(`${one.code} does not fire: ${before.examined.document.plan}`);
  const lastDistance = await lastDistanceBefore(table, query);
  const surroundings = { vector: searchedVector, ...(lastDistance === undefined ? {} : { lastDistance }) };
  const later = await tables.reopen(name);
  try {
    const applied = await apply(later.table, finding, surroundings, query);
    const next = changesQuery(finding) ? changedQuery(finding, lastDistance) : query;
    const run = applied.query ?? (() => executeQuery(later.table, next));
    return { finding, before, after: await observe(one, later.table, next, run, repeats) };
  } finally {
    later.close();
  }
};
