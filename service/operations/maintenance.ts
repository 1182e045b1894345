import { z } from "zod";
import { ServiceError } from "../errors.ts";
import type { RecordRow } from "../lance/maintenance/maintenance-record.ts";
import { mapConcurrently } from "../lance/map-concurrently.ts";
import { count, type MaintenanceState, maintenanceResult, maintenanceState } from "../query/answers.ts";
import { defineOperation, type Tools } from "./operation.ts";
import { emptyBody } from "./shared/snapshot.ts";
import { committed } from "./shared/write.ts";
import { joinIds, tablesBeneath } from "./tables/lists.ts";

const maxTables = 500;

/** Tables whose facts are read at the same time, and the time for all of them in milliseconds. */
const concurrency = 4;
const maxFactsMs = 10_000;

/** What the record says of a table. A time of 0 is none. */
const recorded = (row: RecordRow | undefined): Omit<MaintenanceState, "id" | "has_rule" | "due" | "notes"> => {
  if (row === undefined) return {};
  const { owner, expiresAt, dueSince, finishedAt, note } = row;
  return {
    ...(dueSince > 0 ? { due_since_millis: dueSince } : {}),
    ...(finishedAt > 0 ? { finished_at_millis: finishedAt } : {}),
    ...(note === "" ? {} : { left: note }),
    ...(owner !== "" && expiresAt > Date.now() ? { holder: { owner, expires_at_millis: expiresAt } } : {}),
  };
};

/** @returns undefined for a table that was dropped meanwhile. */
const stateOf = async (
  { database, maintenance }: Tools,
  parts: readonly string[],
  row: RecordRow | undefined,
): Promise<Omit<MaintenanceState, "id"> | undefined> => {
  const base = { has_rule: true, due: [], notes: [], ...recorded(row) };
  const [namespace, name] = [parts.slice(0, -1), parts.at(-1) ?? ""];
  try {
    const facts = await database.planFacts({ parts, key: parts.join("$"), namespace, name }, {}, true);
    const judged = maintenance.judge(parts, facts);
    if (judged === undefined) return { ...base, has_rule: false };
    const missing = facts.missing.find(({ fact }) => fact !== "columns");
    const exhausted = row !== undefined && row.exhaustedAt === facts.version;
    return {
      ...base,
      ...judged,
      notes: exhausted
        ? [...judged.notes, "the last run could do no more, and the table has not changed since"]
        : judged.notes,
      ...(missing === undefined ? {} : { problem: `${missing.fact}: ${missing.reason}` }),
    };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.code === 4
      ? undefined
      : { ...base, problem: error.code === 18 ? "the table cannot be read" : error.message };
  }
};

/** Tables that a run has found due, or works on, come first. */
const isKnown = (row: RecordRow | undefined): boolean => row !== undefined && (row.dueSince > 0 || row.owner !== "");

export const listMaintenance = defineOperation({
  name: "list_maintenance",
  target: "root",
  path: "maintenance",
  extension: "service",
  methods: ["GET"],
  scope: "stats",
  // The number of namespaces is unbounded.
  admission: "analyze",
  errors: [],
  summary: "Returns what is due for the permitted tables, and what the record of maintenance says of each",
  body: emptyBody,
  parameters: z.object({
    limit: z.coerce
      .number({ error: `must be a whole number from 1 to ${maxTables}` })
      .int({ error: `must be a whole number from 1 to ${maxTables}` })
      .min(1, { error: `must be a whole number from 1 to ${maxTables}` })
      .max(maxTables, { error: `must be a whole number from 1 to ${maxTables}` })
      .default(100)
      .describe("Maximum tables to judge; those that a run has found due come first"),
  }),
  answer: z.object({
    tables: z.array(maintenanceState).describe("The judged tables; fewer than limit where the time did not suffice"),
    total: count.describe("Number of permitted tables"),
  }),
  handle: async (tools, root, _body, { parameters: { limit }, principal, delimiter }) => {
    const [ids, rows] = await Promise.all([tablesBeneath(tools, principal, root.parts), tools.maintenance.record()]);
    const rowOf = (parts: readonly string[]): RecordRow | undefined => rows.get(parts.join("$"));
    const byName = ids.toSorted((left, right) => (left.join("$") < right.join("$") ? -1 : 1));
    const chosen = byName.toSorted((left, right) => Number(isKnown(rowOf(right))) - Number(isKnown(rowOf(left))));
    const end = performance.now() + maxFactsMs;
    const judged = chosen.slice(0, limit);
    const states = await mapConcurrently(concurrency, judged, (parts) =>
      performance.now() > end ? Promise.resolve(undefined) : stateOf(tools, parts, rowOf(parts)),
    );
    const names = joinIds(judged, delimiter);
    const tables = states.flatMap((found, index) => (found === undefined ? [] : [{ id: names[index], ...found }]));
    return { tables, total: ids.length };
  },
});

export const maintain = defineOperation({
  name: "maintain",
  target: "table",
  path: "maintain",
  extension: "service",
  scope: "manage",
  admission: "write",
  errors: [14, 19],
  summary:
    "Merges fragments and extends indices where the table's rule says that it is due, and answers when it is done",
  body: emptyBody,
  answer: maintenanceResult,
  handle: async ({ database, maintenance }, table) => {
    // The record of runs gets no row for a table that does not exist.
    await database.requireTable(table, {});
    try {
      const result = await maintenance.maintain(table);
      return committed(result, { before: result.before.version, version: result.version });
    } finally {
      // Another process has changed it, perhaps also where it failed.
      database.forget(table.key);
    }
  },
});
