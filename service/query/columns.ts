import { z } from "zod";
import { maxSizes, tooLong } from "./lists.ts";
import type { Projection } from "./model.ts";

/** @returns the names, or the fault. */
const readNames = (listed: readonly unknown[]): Projection | string => {
  if (listed.length > maxSizes.columns) return tooLong(maxSizes.columns);
  return listed.every(isName) ? { kind: "names", names: listed } : namesFault;
};

const isName = (name: unknown): name is string => typeof name === "string" && name !== "";

/** `column_names` and `column_aliases` are legal aliases too: the type of their value distinguishes an envelope from an alias. */
const readObject = (value: Readonly<Record<string, unknown>>): Projection | string => {
  const listed = Array.isArray(value.column_names) ? value.column_names : undefined;
  const mapped =
    typeof value.column_aliases === "object" && value.column_aliases !== null ? value.column_aliases : undefined;
  if (listed !== undefined && mapped !== undefined) return "must hold exactly one of column_names and column_aliases";
  if (listed !== undefined) return readNames(listed);
  if (Object.keys(mapped ?? value).length > maxSizes.columns) return tooLong(maxSizes.columns);
  // A record of zod drops the key __proto__, which is a valid alias.
  const expressions = Object.entries(mapped ?? value).filter(([, expression]) => expression !== null);
  if (expressions.length === 0) return "must name at least one column";
  if (!expressions.every(isExpression)) return "must map each alias to an SQL expression (a string)";
  return { kind: "expressions", expressions };
};

const namesFault = "must be an array of column names (non-empty strings)";

const isExpression = (entry: readonly [string, unknown]): entry is [string, string] => typeof entry[1] === "string";

const nameList = { type: "array", items: { type: "string", minLength: 1 } } as const;
const expressionMap = {
  type: "object",
  additionalProperties: { type: ["string", "null"], minLength: 1 },
  minProperties: 1,
} as const;

/**
 * The columns of a request in all forms that clients send: absent or `null` (all), `["id"]`, `{"x": "id + 1"}`,
 * `{column_names: […]}`, `{column_aliases: {…}}`.
 */
export const columns = z
  .unknown()
  .optional()
  .transform((value, context): Projection | undefined => {
    if (value === null || value === undefined) return undefined;
    const read = Array.isArray(value)
      ? readNames(value)
      : typeof value === "object"
        ? readObject(value as Record<string, unknown>)
        : "must be an array of names or an object";
    if (typeof read !== "string") return read;
    context.addIssue({ code: "custom", message: read });
    return z.NEVER;
  })
  .meta({
    anyOf: [
      { type: "null" },
      { ...nameList, description: "Names" },
      { type: "object", properties: { column_names: nameList }, required: ["column_names"] },
      { type: "object", properties: { column_aliases: expressionMap }, required: ["column_aliases"] },
      { ...expressionMap, description: "Aliases with SQL expressions" },
    ],
  });
