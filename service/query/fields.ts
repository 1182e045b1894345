import { z } from "zod";
import { type DistanceType, distanceTypes } from "./model.ts";

/**
 * Building blocks of request schemas. Every optional field takes `null` for "absent", because LanceDB's own client
 * sends it so, and transforms it away.
 */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined) as z.ZodType<
    z.output<T> | undefined,
    z.input<T> | null | undefined
  >;

/**
 * An integer that JSON carried without loss, 0 or greater. `JSON.parse` rounds integers beyond 2^53-1, so these are
 * refused and never used as something else.
 */
export const natural = z
  .int({ error: "must be a whole number between 0 and 9007199254740991 (larger ones lose digits in JSON)" })
  .min(0, { error: "must be 0 or greater" });

/** The largest 32-bit float. */
const maxFloat = 3.4028234663852886e38;

/** A column's name. The database takes an empty one for an internal fault. */
export const columnName = z.string().min(1, { error: "must not be empty" });

/** Names of tags and branches as JSON Schema says them; `guard/ref-name.ts` has the rest of the rule. */
export const refName = "[\\p{L}\\p{N}_-][\\p{L}\\p{N}._-]*";

export const branchName = z.string().meta({ pattern: `^${refName}(/${refName})*$` });

/** A number that fits a 32-bit float, as JSON Schema says it. */
export const floatSchema = { type: "number", minimum: -maxFloat, maximum: maxFloat } as const;

/** A number that fits a 32-bit float. */
export const float = z
  .number({ error: "must be a finite number" })
  .refine((value) => Number.isFinite(Math.fround(value)), { error: "must fit a 32-bit float" })
  .meta(floatSchema);

/** LanceDB's client asks for "no limit" with 2^63-1, which JSON parses to 2^63. */
export const unlimited = 2 ** 63;

export const limit = z
  .union([natural, z.literal(unlimited)], {
    error: "must be a whole number between 0 and 9007199254740991, or 9223372036854775807 for no limit",
  })
  .meta({
    anyOf: [
      { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      { type: "integer", const: unlimited, description: "No limit" },
    ],
  })
  .transform((value) => (value === unlimited ? ("unlimited" as const) : value));

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

/** A mode word as the client families write it: any case, and with quotes inside the string from one of them. */
export const booleanOperator = z.string().transform((value, context) => {
  const word = value.replaceAll('"', "").toUpperCase();
  if (word !== "AND" && word !== "OR") {
    context.addIssue({ code: "custom", message: "must be And or Or" });
    return z.NEVER;
  }
  return word;
});
