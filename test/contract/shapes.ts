/** A JSON schema, as far as a comparison of shapes reads it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** Compared properties of a field. Nullability is not compared: the upstream models accept null for every optional field. */
export interface Shape {
  readonly type: string;
  readonly required: boolean;
}

/** Fields by path: `query.vector.single_vector[]`, `tags.*.version`; the root is `""`. */
export type Shapes = ReadonlyMap<string, Shape>;

export type Resolve = (reference: string) => Schema;

const typesOf = ({ type, enum: words, const: word, ...schema }: Schema): string[] => {
  if (schema.format === "binary") return ["bytes"];
  if (typeof type === "string") return [type];
  if (type !== undefined) return [...type];
  const values = words ?? (word === undefined ? [] : [word]);
  if (values.length > 0) return values.map((value) => (value === null ? "null" : typeof value));
  if (schema.properties !== undefined || schema.additionalProperties !== undefined) return ["object"];
  return ["any"];
};

/** The alternatives of a schema: references resolved, unions expanded, null removed. */
const alternatives = (schema: Schema, resolve: Resolve, seen: readonly string[]): [Schema, readonly string[]][] => {
  if (schema.$ref !== undefined)
    return seen.includes(schema.$ref)
      ? [[{ type: "object" }, seen]]
      : alternatives(resolve(schema.$ref), resolve, [...seen, schema.$ref]);
  const inner = schema.anyOf ?? schema.oneOf;
  if (inner !== undefined) return inner.flatMap((entry) => alternatives(entry, resolve, seen));
  if (schema.allOf?.length === 1) return schema.allOf.flatMap((entry) => alternatives(entry, resolve, seen));
  return typesOf(schema).includes("null") && typesOf(schema).length === 1 ? [] : [[schema, seen]];
};

const nameOf = (schemas: readonly Schema[]): string => {
  const names = new Set(schemas.flatMap(typesOf).filter((name) => name !== "null"));
  // An integer is a number, so both together count as a number.
  if (names.has("number")) names.delete("integer");
  return [...names].sort().join(" or ") || "null";
};

const isSchema = (value: boolean | Schema | undefined): value is Schema =>
  typeof value === "object" && Object.keys(value).length > 0;

/** All fields of a schema, nested ones included; a recursive schema is entered once. */
export const shapesOf = (schema: Schema, resolve: Resolve, required = true): Shapes => {
  const shapes = new Map<string, Shape>();
  const walk = (place: string, entry: Schema, isRequired: boolean, seen: readonly string[]): void => {
    const found = alternatives(entry, resolve, seen);
    const known = shapes.get(place);
    const type = nameOf(found.map(([alternative]) => alternative));
    // A field of two alternatives is required if both require it.
    const merged = known === undefined || known.type === type ? type : [known.type, type].sort().join(" or ");
    shapes.set(place, { type: merged, required: isRequired && (known?.required ?? true) });
    for (const [alternative, path] of found) {
      const alone = found.length === 1;
      for (const [name, property] of Object.entries(alternative.properties ?? {}))
        walk(
          place === "" ? name : `${place}.${name}`,
          property,
          alone && (alternative.required ?? []).includes(name),
          path,
        );
      if (alternative.items !== undefined) walk(`${place}[]`, alternative.items, true, path);
      // Unknown keys without a value are no field.
      if (isSchema(alternative.additionalProperties) && alternative.additionalProperties.enum === undefined)
        walk(place === "" ? "*" : `${place}.*`, alternative.additionalProperties, true, path);
    }
  };
  walk("", schema, required, []);
  return shapes;
};
