import type { JsonField, JsonType } from "../../query/answers.ts";

/** A type as one reads it: `fixed_size_list<float32, 768>`. */
export const typeName = ({ type, length, fields = [] }: JsonType): string => {
  const inner = fields.map((field) =>
    type === "struct" ? `${field.name}: ${typeName(field.type)}` : typeName(field.type),
  );
  const parameters = [...inner, ...(length === undefined ? [] : [String(length)])];
  return parameters.length === 0 ? type : `${type}<${parameters.join(", ")}>`;
};

/** Whether a query returns the descriptions of a column's values in place of their bytes. */
export const isBlob = ({ metadata }: JsonField): boolean => metadata?.["ARROW:extension:name"] === "lance.blob.v2";

/** Dimensions of a column of vectors, else undefined. */
export const dimensionsOf = ({ type: { type, length, fields } }: JsonField): number | undefined =>
  type === "fixed_size_list" && /^(half)?float|^(u?int8|bfloat16)/.test(fields?.[0]?.type.type ?? "")
    ? length
    : undefined;

export interface VectorColumn {
  readonly name: string;
  readonly dimensions: number;
}

export const vectorColumns = (fields: readonly JsonField[]): readonly VectorColumn[] =>
  fields.flatMap((field) => {
    const dimensions = dimensionsOf(field);
    return dimensions === undefined ? [] : [{ name: field.name, dimensions }];
  });

/** Types that the page's Arrow reader does not know: one column of them makes a whole result unreadable. */
const unreadable = /large_list|list_view|_view|run_end/;

const maxValueBytes = 8192;

const isUnreadable = ({ type, fields = [] }: JsonType): boolean =>
  unreadable.test(type) || fields.some((field) => isUnreadable(field.type));

/** Values of unbounded bytes, and vectors of more than 8 kB. Texts may be long, too, but are what the reader looks for. */
const isWide = ({ type, length = 1, fields = [] }: JsonType): boolean => {
  const bytes = Number(/(\d+)$/.exec(fields[0]?.type.type ?? "")?.[1] ?? 64) / 8;
  if (type === "fixed_size_list") return length * bytes > maxValueBytes || fields.some((field) => isWide(field.type));
  if (type === "fixed_size_binary") return length > maxValueBytes;
  return /binary|blob/.test(type) || fields.some((field) => isWide(field.type));
};

export interface ShownColumns {
  /** Fetched with the rows; undefined if these are all. */
  readonly names: readonly string[] | undefined;
  /** Fetched by value, at the reader's request. */
  readonly wide: readonly JsonField[];
  readonly unreadable: readonly JsonField[];
}

export const shownColumns = (fields: readonly JsonField[]): ShownColumns => {
  const columns = { names: [] as string[], wide: [] as JsonField[], unreadable: [] as JsonField[] };
  for (const field of fields) {
    if (isUnreadable(field.type)) columns.unreadable.push(field);
    else if (isWide(field.type)) columns.wide.push(field);
    else columns.names.push(field.name);
  }
  return columns.names.length === fields.length ? { ...columns, names: undefined } : columns;
};
