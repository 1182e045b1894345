import type { Table } from "@lancedb/lancedb";
import { invalid } from "../../errors.ts";
import { footerOf } from "./footer.ts";
import { type ArrowField, type ArrowSchema, type ArrowType, kinds, readArrowSchema, schemaFile } from "./schema.ts";

/** Bounds on the schema of a table. */
export interface SchemaLimits {
  /** Maximum bytes of a schema in Arrow's format: names, types and metadata. */
  readonly maxSchemaBytes: number;
  /** Maximum bytes of one value of a column of fixed size. */
  readonly maxValueBytes: number;
}

export interface ColumnSize {
  readonly name: string;
  /** Bytes of one value; of a type of variable size, those of its offsets and of one item. */
  readonly valueBytes: number;
}

/** The fixed parts of all columns may be as large as this many of the largest values. */
const rowShare = 4;

/** No number, date or offset is larger. */
const otherBytes = 16;
const bitBytes = 1 / 8;

type SizeOf = (type: ArrowType, items: number) => number;

/** Bytes of a value by its type and the bytes of one value of all its children. */
const sizes: Readonly<Record<number, SizeOf>> = {
  [kinds.null]: () => bitBytes,
  [kinds.bool]: () => bitBytes,
  [kinds.int]: ({ bits }) => bits / 8,
  [kinds.float]: ({ bits }) => bits / 8,
  [kinds.decimal]: () => 2 * otherBytes,
  [kinds.struct]: (_type, items) => items,
  [kinds.fixedSizeBinary]: ({ length }) => length,
  [kinds.fixedSizeList]: ({ length }, items) => length * items,
};

const sizeOfOther: SizeOf = (_type, items) => otherBytes + items;

const valueBytes = ({ type, children }: ArrowField): number => {
  const items = children.reduce((total, child) => total + valueBytes(child), 0);
  return Math.max(0, (sizes[type.kind] ?? sizeOfOther)(type, items));
};

export const columnSizes = ({ fields }: ArrowSchema): readonly ColumnSize[] =>
  fields.map((field) => ({ name: field.name, valueBytes: valueBytes(field) }));

interface TableSizes {
  /** Of the footer of a file without rows, which is little more than the schema. */
  readonly bytes: number;
  readonly columns: () => readonly ColumnSize[];
}

export const readSizes = async (table: Table): Promise<TableSizes> => {
  const file = await schemaFile(table);
  return { bytes: footerOf(file).byteLength, columns: () => columnSizes(readArrowSchema(file)) };
};

/** A type in JSON: a word with its parameters behind colons, a length, child fields. */
interface TypeInJson {
  readonly type?: unknown;
  readonly length?: unknown;
  readonly fields?: unknown;
}

const asType = (value: unknown): TypeInJson => (typeof value === "object" && value !== null ? value : {});

/** Bytes of one value of a type in JSON; those of numbers are rounded up. */
export const valueBytesOf = (value: unknown): number => {
  const { type, length, fields } = asType(value);
  const [word = "", ...parameters] = String(type).split(":");
  const children = Array.isArray(fields) ? fields : [];
  const items = children.reduce<number>((total, field) => total + valueBytesOf(asType(field).type), 0);
  if (word === "struct") return items;
  const count = Math.max(0, ...[length, ...parameters].map(Number).filter(Number.isFinite));
  if (word === "fixed_size_binary") return count;
  if (word === "fixed_size_list") return count * (children.length > 0 ? items : otherBytes);
  return otherBytes + items;
};

const askOperator = (variable: string): string => `or ask the operator to raise ${variable}`;

/** Undefined for columns within the limit. Names of columns are repeated up to a length. */
export const faultOfValues = (columns: readonly ColumnSize[], { maxValueBytes }: SchemaLimits): string | undefined => {
  const wide = columns.find(({ valueBytes }) => valueBytes > maxValueBytes);
  if (wide !== undefined)
    return `one value of the column ${JSON.stringify(wide.name.slice(0, 100))} takes ${Math.ceil(wide.valueBytes)} bytes, more than ${maxValueBytes}: use a list of variable size or large_binary, ${askOperator("LAKEHEAD_MAX_VALUE_BYTES")}`;
  const total = columns.reduce((sum, { valueBytes }) => sum + valueBytes, 0);
  return total > rowShare * maxValueBytes
    ? `one value of each column takes ${Math.ceil(total)} bytes together, more than ${rowShare * maxValueBytes}: use fewer columns, ${askOperator("LAKEHEAD_MAX_VALUE_BYTES")}`
    : undefined;
};

/** Undefined for columns that every later call can name. */
export const faultOfNames = (columns: readonly Pick<ColumnSize, "name">[]): string | undefined => {
  const wrong = columns.find(({ name }) => name === "" || /[`.]/.test(name));
  return wrong === undefined
    ? undefined
    : `a column is named ${JSON.stringify(wrong.name.slice(0, 100))}: use a name that is not empty and has neither a backtick nor a full stop`;
};

/** Undefined for a schema within the limit. */
export const faultOfSchema = (bytes: number, { maxSchemaBytes }: SchemaLimits): string | undefined =>
  bytes > maxSchemaBytes
    ? `the schema has ${bytes} bytes with its names and metadata, more than ${maxSchemaBytes}: use fewer columns or less metadata, ${askOperator("LAKEHEAD_MAX_SCHEMA_BYTES")}`
    : undefined;

/** @throws ServiceError code 13 for a fault. */
export const refuse = (fault: string | undefined): void => {
  if (fault !== undefined) throw invalid(fault);
};
