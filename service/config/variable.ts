import { z } from "zod";

/** An environment variable of the service, for the documentation and error messages. */
export interface Variable {
  readonly name: string;
  readonly description: string;
  /** The default as text; absent where the variable is required or optional without a default. */
  readonly defaultText?: string;
  /** Its value never appears in an error message. */
  readonly secret?: boolean;
}

const registry = z.registry<Variable>();

/** Attaches an environment variable to a schema of its text. The default text is that of the schema's default. */
export const variable = <T extends z.ZodType>(
  name: string,
  description: string,
  schema: T,
  more: Pick<Variable, "defaultText" | "secret"> = {},
): T => {
  const value = schema instanceof z.ZodDefault ? { defaultText: String(schema.def.defaultValue) } : {};
  const own = schema.clone();
  registry.add(own, { name, description, ...value, ...more });
  return own;
};

/** A variable at its place in the schema of the configuration. */
export interface Located extends Variable {
  readonly path: readonly string[];
}

/** The variables of a schema of nested objects, in its order. */
export const variablesOf = (schema: z.ZodType, path: readonly string[] = []): readonly Located[] => {
  const own = registry.get(schema);
  if (own !== undefined) return [{ ...own, path }];
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([key, inner]) => variablesOf(inner as z.ZodType, [...path, key]));
};

export const text = z.string({ error: "must be set" });

const number = (pattern: RegExp, kind: string, min: number, max: number) =>
  text
    .refine((value) => pattern.test(value) && Number(value) >= min && Number(value) <= max, {
      error: `must be a ${kind} from ${min} to ${max}`,
    })
    .transform(Number);

export const integer = (min: number, max: number) => number(/^\d+$/, "whole number", min, max);

export const decimal = (min: number, max: number) => number(/^\d+(\.\d+)?$/, "number", min, max);

export const choice = <const T extends readonly string[]>(...choices: T) =>
  z.enum(choices, { error: `must be one of ${choices.join(", ")}` });

/** Comma-separated entries. */
export const list = <T extends z.ZodType<unknown, string>>(entry: T) =>
  text.transform((value) => value.split(",").map((part) => part.trim())).pipe(z.array(entry));

export const name = z.string().min(1, { error: "must not be empty" });

/** JSON text; `example` shows what is expected. */
export const json = <T extends z.ZodType>(schema: T, example: string) =>
  text
    .transform((value, context): unknown => {
      try {
        return JSON.parse(value);
      } catch {
        context.addIssue({ code: "custom", message: `must be JSON, for instance ${example}` });
        return z.NEVER;
      }
    })
    .pipe(schema);
