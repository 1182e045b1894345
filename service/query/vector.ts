import { z } from "zod";
import { floatSchema, ifSet } from "./fields.ts";
import { maxSizes, tooLong } from "./lists.ts";

/** The path of a fault in the value, and a message that continues the path. */
class Fault {
  readonly path: readonly (string | number)[];
  readonly message: string;

  constructor(path: readonly (string | number)[], message: string) {
    this.path = path;
    this.message = message;
  }
}

const typeName = (value: unknown): string => (value === null ? "null" : typeof value);

/**
 * Copies numbers into a Float32Array and stops at the first other value. A schema of every element would take as long as
 * parsing the JSON, and report one issue for each.
 */
const readVector = (value: readonly unknown[], path: readonly (string | number)[]): Float32Array | Fault => {
  if (value.length > maxSizes.dimensions) return new Fault(path, tooLong(maxSizes.dimensions));
  const vector = new Float32Array(value.length);
  for (let index = 0; index < value.length; index++) {
    const element = value[index];
    if (typeof element !== "number")
      return new Fault([...path, index], `must be a number, not of type ${typeName(element)}`);
    vector[index] = element;
    if (!Number.isFinite(vector[index])) return new Fault([...path, index], "does not fit a 32-bit float");
  }
  return vector;
};

const readVectors = (value: readonly unknown[], path: readonly (string | number)[]): Float32Array[] | Fault => {
  if (value.length > maxSizes.vectors) return new Fault(path, tooLong(maxSizes.vectors));
  const vectors: Float32Array[] = [];
  for (let index = 0; index < value.length; index++) {
    const row = value[index];
    if (!Array.isArray(row)) return new Fault([...path, index], "must be an array of numbers");
    const vector = readVector(row, [...path, index]);
    if (vector instanceof Fault) return vector;
    if (vector.length === 0) return new Fault([...path, index], "must not be empty");
    vectors.push(vector);
  }
  return vectors;
};

const readSingle = (value: readonly unknown[], path: readonly (string | number)[]): Float32Array[] | Fault => {
  if (value.length === 0) return [];
  const vector = readVector(value, path);
  return vector instanceof Fault ? vector : [vector];
};

/** The Java client sends the unset one of both lists as `[]`. */
const ifSetArray = (value: unknown): unknown => (Array.isArray(value) ? ifSet(value) : (value ?? undefined));

const readObject = (value: Readonly<Record<string, unknown>>): Float32Array[] | Fault => {
  const single = ifSetArray(value.single_vector);
  const multi = ifSetArray(value.multi_vector);
  if (single === undefined && multi === undefined) {
    // The catalog's generated clients send an empty object for a query without a vector.
    const other = Object.keys(value).some((key) => key !== "single_vector" && key !== "multi_vector");
    return other ? new Fault([], "must hold one of single_vector and multi_vector") : [];
  }
  if (single !== undefined && multi !== undefined)
    return new Fault([], "must hold only one of single_vector and multi_vector");
  if (single !== undefined)
    return Array.isArray(single)
      ? readSingle(single, ["single_vector"])
      : new Fault(["single_vector"], "must be an array of numbers");
  return Array.isArray(multi)
    ? readVectors(multi, ["multi_vector"])
    : new Fault(["multi_vector"], "must be an array of arrays of numbers");
};

/** The vectors of `[]`, which LanceDB's clients send for a query without a vector. */
export const emptyList: Float32Array[] = [];

const read = (value: unknown): Float32Array[] | Fault => {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value) && value.length === 0) return emptyList;
  if (Array.isArray(value)) return Array.isArray(value[0]) ? readVectors(value, []) : readSingle(value, []);
  if (typeof value === "object") return readObject(value as Record<string, unknown>);
  return new Fault([], "must be an array of numbers or an object with single_vector or multi_vector");
};

const numbers = { type: "array", items: floatSchema } as const;
const orNull = ["array", "null"] as const;
const several = { type: "array", items: { ...numbers, minItems: 1 } } as const;

/**
 * The query vectors of a request in all forms that clients send: absent, `null`, `[]`, `[0.5, 0.25]`,
 * `[[0.5, 0.25], …]`, `{}`, `{single_vector: […]}`, `{multi_vector: [[…], …]}`, of both an empty one. Empty if there is none.
 */
export const vectors = z
  .unknown()
  .optional()
  .transform((value, context): Float32Array[] => {
    const vectors = read(value);
    if (!(vectors instanceof Fault)) return vectors;
    context.addIssue({ code: "custom", path: [...vectors.path], message: vectors.message });
    return z.NEVER;
  })
  .meta({
    anyOf: [
      { type: "null" },
      { type: "array", items: numbers.items, description: "One vector; empty for none" },
      { ...several, description: "Several vectors" },
      { type: "object", maxProperties: 0, description: "None" },
      {
        type: "object",
        description: "At most one of both",
        properties: { single_vector: { ...numbers, type: orNull }, multi_vector: { ...several, type: orNull } },
      },
    ],
  });
