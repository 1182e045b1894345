import type { Connection, Table } from "@lancedb/lancedb";
import type { Finding } from "../../../../service/plan-doctor/types.ts";
import { type DoctorCase, searchedVector } from "./cases.ts";
import { applyFix, type Examined, examine, parseQuery, queryOfFix } from "./examine.ts";

export interface Observation {
  readonly examined: Examined;
  /** What the fix promises to lower. */
  readonly measured: number;
}

export interface Treatment {
  readonly finding: Finding;
  readonly before: Observation;
  readonly after: Observation;
}

/** `_distance` of the last row before a page. */
const lastDistanceBefore = async (table: Table, { query }: Examined): Promise<number | undefined> => {
  if (query.offset === undefined) return undefined;
  const rows = await table
    .query()
    .nearestTo([...searchedVector])
    .limit(query.offset)
    .toArray();
  return rows.at(-1)._distance;
};

const observe = async (examined: Examined, { measure }: DoctorCase, table: Table): Promise<Observation> => ({
  examined,
  measured: await measure(examined, table),
});

/** The query after a fix of the query, from its REST form; a number of the reader's own is filled in. */
const changedQuery = (finding: Finding, lastDistance: number | undefined) =>
  queryOfFix({
    ...finding,
    fix: { ...finding.fix, rest: finding.fix.rest.replace('"<last distance>"', String(lastDistance)) },
  });

/**
 * Makes the table of a case, examines its query, applies the fix as printed and examines the query again.
 * @throws Error if the finding does not fire.
 */
export const treat = async (connection: Connection, one: DoctorCase): Promise<Treatment> => {
  const table = await one.make(connection, one.code.replaceAll("-", "_"));
  const examined = await examine(table, parseQuery(one.query));
  const finding = examined.document.findings.find(({ code }) => code === one.code);
  if (finding === undefined) throw new Error(`${one.code} does not fire: ${examined.document.plan}`);
  const before = await observe(examined, one, table);
  const lastDistance = await lastDistanceBefore(table, examined);
  const builder = await applyFix(table, finding, {
    vector: searchedVector,
    ...(lastDistance === undefined ? {} : { lastDistance }),
  });
  const query = builder === undefined ? examined.query : changedQuery(finding, lastDistance);
  const after = await observe(await examine(table, query, builder), one, table);
  return { finding, before, after };
};
