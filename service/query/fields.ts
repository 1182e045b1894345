import { z } from "zod";
import { type DistanceType, distanceTypes } from "./model.ts";

/**
 * Whether a field is unset: absent, `null` (LanceDB's client), or an empty container (the generated Java client writes `[]`
 * or `{}` for each container that is not set).
 */
export const isUnset = (value: unknown): boolean => {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isPlainObject(value) && Object.keys(value).length === 0;
};

const isPlainObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** A value, or undefined if it {@link isUnset}. */
export const ifSet = <T>(value: T): T | undefined => (isUnset(value) ? undefined : value);

/** An optional field of a request; undefined if it {@link isUnset}. An empty container of another type is refused. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform(ifSet) as z.ZodType<z.output<T> | undefined, z.input<T> | null | undefined>;

/**
 * An integer from 0 to 2^53-1. `JSON.parse` rounds larger ones, so they are refused.
 */
export const natural = z
  .int({ error: "must be a whole number between 0 and 9007199254740991 (larger ones lose digits in JSON)" })
  .min(0, { error: "must be 0 or greater" });

/** The largest 32-bit float. */
const maxFloat = 3.4028234663852886e38;

/** A column name. The database fails with an internal error on an empty one. */
export const columnName = z.string().min(1, { error: "must not be empty" });

/** Of a column that does not exist yet: no expression could name it otherwise. */
export const newColumnName = columnName.regex(/^[^`.]*$/, { error: "must have neither a backtick nor a full stop" });

/** Pattern of tag and branch names for JSON Schema; `guard/ref-name.ts` checks the full rule. */
export const refName = "[\\p{L}\\p{N}_-][\\p{L}\\p{N}._-]*";

export const branchName = z.string().meta({ pattern: `^${refName}(/${refName})*$` });

/** JSON Schema of a number that fits a 32-bit float. */
export const floatSchema = { type: "number", minimum: -maxFloat, maximum: maxFloat } as const;

/** A number that fits a 32-bit float. */
export const float = z
  .number({ error: "must be a finite number" })
  .refine((value) => Number.isFinite(Math.fround(value)), { error: "must fit a 32-bit float" })
  .meta(floatSchema);

/** 2^63-1 and 2^64-1, which LanceDB's clients send for "no limit" (Python up to 0.27 the latter), as JSON parses them. */
export const unlimited = [2 ** 63, 2 ** 64] as const;

/** The digits that clients write for {@link unlimited}: JavaScript rounds them. */
export const unlimitedDigits = ["9223372036854775807", "18446744073709551615"] as const;

export const limit = z
  .union([natural, z.literal(unlimited)], {
    error: "must be a whole number between 0 and 9007199254740991, or 9223372036854775807 for no limit",
  })
  .meta({
    anyOf: [
      { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      { type: "integer", enum: unlimited, description: "No limit" },
    ],
  })
  .transform((value) => (value > Number.MAX_SAFE_INTEGER ? ("unlimited" as const) : value));

const distanceAliases: Readonly<Record<string, DistanceType>> = {
  ...Object.fromEntries(distanceTypes.map((type) => [type, type])),
  euclidean: "l2",
  inner_product: "dot",
};

export const distanceType = z
  .string()
  .meta({ enum: Object.keys(distanceAliases) })
  .transform((value, context) => {
    const type = Object.hasOwn(distanceAliases, value.toLowerCase()) ? distanceAliases[value.toLowerCase()] : undefined;
    if (type === undefined) {
      context.addIssue({ code: "custom", message: `must be one of ${Object.keys(distanceAliases).join(", ")}` });
      return z.NEVER;
    }
    return type;
  });

/** A boolean operator in any case. One client family sends it with quotes inside the string. */
export const booleanOperator = z.string().transform((value, context) => {
  const word = value.replaceAll('"', "").toUpperCase();
  if (word !== "AND" && word !== "OR") {
    context.addIssue({ code: "custom", message: "must be And or Or" });
    return z.NEVER;
  }
  return word;
});
