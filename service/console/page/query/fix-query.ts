import type { Query } from "../api.ts";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Fields that the doctor prints in the form of another client, or not at all where they are long: no fix changes them. */
const kept = ["vector", "full_text_query"] as const;

const columnsOf = (columns: unknown): unknown =>
  isObject(columns) ? (columns.column_names ?? columns.column_aliases) : columns;

/**
 * The query of a fix that changes the query alone.
 * @param rest of the fix: method, path and body.
 * @param query of the run with the finding.
 * @returns undefined for a fix of another kind, and for one that the reader has to complete.
 */
export const queryOfFix = (rest: string, query: Query): Query | undefined => {
  const [, json] = /^POST \S+\/query\n(\{.*\})$/s.exec(rest) ?? [];
  if (json === undefined) return undefined;
  try {
    const printed: unknown = JSON.parse(json);
    if (!isObject(printed) || typeof (printed.lower_bound ?? 0) !== "number") return undefined;
    const own = kept.flatMap((key) => (query[key] === undefined ? [] : [[key, query[key]] as const]));
    const columns = printed.columns === undefined ? {} : { columns: columnsOf(printed.columns) };
    return { ...printed, ...columns, ...Object.fromEntries(own) };
  } catch {
    return undefined;
  }
};
