import { z } from "zod";
import { isUnset } from "./fields.ts";
import { entriesInOrder } from "./key-order.ts";
import { maxSizes, tooLong } from "./lists.ts";
import type { Projection } from "./model.ts";

/** The list form of LanceDB's clients: names, or pairs of alias and expression (Python up to 0.27). @returns the fault, if any. */
const readList = (listed: readonly unknown[]): Projection | string => {
  if (listed.length > maxSizes.columns) return tooLong(maxSizes.columns);
  return listed.length > 0 && listed.every(isPair) ? { kind: "expressions", expressions: listed } : readNames(listed);
};

/** @returns the names, or the fault. */
const readNames = (listed: readonly unknown[]): Projection | string => {
  if (listed.length > maxSizes.columns) return tooLong(maxSizes.columns);
  return listed.every(isName) ? { kind: "names", names: listed } : namesFault;
};

const isPair = (value: unknown): value is readonly [string, string] =>
  Array.isArray(value) && value.length === 2 && value.every(isName);

const isName = (name: unknown): name is string => typeof name === "string" && name !== "";

/** `column_names` and `column_aliases` are legal aliases too: the type of their value distinguishes an envelope from an alias. */
const readObject = (value: Readonly<Record<string, unknown>>): Projection | string | undefined => {
  const { column_names: names, column_aliases: aliases } = value;
  const isEnvelope = Array.isArray(names) || (typeof aliases === "object" && aliases !== null);
  const listed = Array.isArray(names) && !isUnset(names) ? names : undefined;
  const mapped = typeof aliases === "object" && aliases !== null && !isUnset(aliases) ? aliases : undefined;
  if (isEnvelope && listed === undefined && mapped === undefined) return undefined;
  if (listed !== undefined && mapped !== undefined) return "must hold exactly one of column_names and column_aliases";
  if (listed !== undefined) return readNames(listed);
  if (Object.keys(mapped ?? value).length > maxSizes.columns) return tooLong(maxSizes.columns);
  // A record of zod drops the key __proto__, which is a valid alias.
  const expressions = entriesInOrder(mapped ?? value).filter(([, expression]) => expression !== null);
  if (expressions.length === 0) return "must name at least one column";
  if (!expressions.every(isExpression)) return "must map each alias to an SQL expression (a string)";
  return { kind: "expressions", expressions };
};

const namesFault = "must be an array of column names (non-empty strings), or of pairs of alias and SQL expression";

const isExpression = (entry: readonly [string, unknown]): entry is [string, string] => typeof entry[1] === "string";

const nameList = { type: "array", items: { type: "string", minLength: 1 } } as const;
const expressionMap = { type: "object", additionalProperties: { type: ["string", "null"], minLength: 1 } } as const;
const pairList = {
  type: "array",
  items: { type: "array", items: { type: "string", minLength: 1 }, minItems: 2, maxItems: 2 },
} as const;

/**
 * The columns of a request in all forms that clients send: unset (all), `["id"]`, `{"x": "id + 1"}`, `[["x", "id + 1"]]`,
 * `{column_names: […]}`, `{column_aliases: {…}}`, the last two with the other one empty.
 */
export const columns = z
  .unknown()
  .optional()
  .transform((value, context): Projection | undefined => {
    if (isUnset(value)) return undefined;
    const read = Array.isArray(value)
      ? readList(value)
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
      { ...pairList, description: "Pairs of an alias and an SQL expression" },
    ],
  });
