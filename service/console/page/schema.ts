import type { ArrowField, ArrowType } from "./api.ts";

/** A type as one reads it: `fixed_size_list<float32, 768>`. */
export const typeName = ({ type, length, fields = [] }: ArrowType): string => {
  const inner = fields.map((field) =>
    type === "struct" ? `${field.name}: ${typeName(field.type)}` : typeName(field.type),
  );
  const parameters = [...inner, ...(length === undefined ? [] : [String(length)])];
  return parameters.length === 0 ? type : `${type}<${parameters.join(", ")}>`;
};

/** Dimensions of a column of vectors, else undefined. */
export const dimensionsOf = ({ type: { type, length, fields } }: ArrowField): number | undefined =>
  type === "fixed_size_list" && /^(half)?float|^(u?int8|bfloat16)/.test(fields?.[0]?.type.type ?? "")
    ? length
    : undefined;

export interface VectorColumn {
  readonly name: string;
  readonly dimensions: number;
}

export const vectorColumns = (fields: readonly ArrowField[]): readonly VectorColumn[] =>
  fields.flatMap((field) => {
    const dimensions = dimensionsOf(field);
    return dimensions === undefined ? [] : [{ name: field.name, dimensions }];
  });
