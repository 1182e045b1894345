import type { Table } from "@lancedb/lancedb";
import { invalid } from "../../errors.ts";
import { fieldAt, follow, structsAt, viewOf } from "./flatbuffer.ts";
import { magic } from "./footer.ts";

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

const offsetBytes = 4;
const schemaFields = { fields: 1 } as const;
const fieldFields = { name: 0, typeKind: 2, type: 3, children: 5 } as const;

/** Kinds of types, as Arrow's format numbers them. */
const kinds = { none: 1, int: 2, float: 3, bool: 6, decimal: 7, struct: 13, fixedBinary: 15, fixedList: 16 } as const;

/** The length of a fixed-size list or binary, and the width of a number, is the first field of its type. */
const firstOf = (flat: DataView, type: number | undefined): number => {
  const at = type === undefined ? undefined : fieldAt(flat, type, 0);
  return at === undefined ? 0 : flat.getInt32(at, true);
};

const precisionOf = (flat: DataView, type: number | undefined): number => {
  const at = type === undefined ? undefined : fieldAt(flat, type, 0);
  return at === undefined ? 0 : flat.getInt16(at, true);
};

/** No number, date or offset is larger. */
const otherBytes = 16;
const bitBytes = 1 / 8;

type SizeOf = (flat: DataView, type: number | undefined, items: number) => number;

/** Bytes of a value by its type and the bytes of one value of all its children. */
const sizes: Readonly<Record<number, SizeOf>> = {
  [kinds.none]: () => bitBytes,
  [kinds.bool]: () => bitBytes,
  [kinds.int]: (flat, type) => firstOf(flat, type) / 8,
  [kinds.float]: (flat, type) => 2 ** (precisionOf(flat, type) + 1),
  [kinds.decimal]: () => 2 * otherBytes,
  [kinds.struct]: (_flat, _type, items) => items,
  [kinds.fixedBinary]: (flat, type) => firstOf(flat, type),
  [kinds.fixedList]: (flat, type, items) => firstOf(flat, type) * items,
};

const sizeOfOther: SizeOf = (_flat, _type, items) => otherBytes + items;

const fieldsAt = (flat: DataView, vectorAt: number | undefined): readonly number[] =>
  structsAt(flat, vectorAt, offsetBytes).map((at) => follow(flat, at));

const valueBytesAt = (flat: DataView, field: number): number => {
  const kindAt = fieldAt(flat, field, fieldFields.typeKind);
  const typeAt = fieldAt(flat, field, fieldFields.type);
  const children = fieldsAt(flat, fieldAt(flat, field, fieldFields.children));
  const items = children.reduce((total, child) => total + valueBytesAt(flat, child), 0);
  const sizeOf = sizes[kindAt === undefined ? 0 : flat.getUint8(kindAt)] ?? sizeOfOther;
  return Math.max(0, sizeOf(flat, typeAt === undefined ? undefined : follow(flat, typeAt), items));
};

const textAt = (flat: DataView, at: number | undefined): string => {
  if (at === undefined) return "";
  const start = follow(flat, at);
  return Buffer.from(flat.buffer, flat.byteOffset + start + 4, flat.getUint32(start, true)).toString();
};

/** The columns of a schema. @param flat the flatbuffer of its message. @param schema its position there. */
export const columnSizes = (flat: DataView, schema: number): readonly ColumnSize[] =>
  fieldsAt(flat, fieldAt(flat, schema, schemaFields.fields)).map((field) => ({
    name: textAt(flat, fieldAt(flat, field, fieldFields.name)),
    valueBytes: valueBytesAt(flat, field),
  }));

const lengthBytes = 4;
const footerFields = { schema: 1 } as const;

/** An Arrow IPC file without rows: its footer is little more than the schema. */
const readFile = (file: Uint8Array) => {
  const end = file.byteLength - magic.byteLength - lengthBytes;
  const bytes = viewOf(file).getInt32(end, true);
  const flat = viewOf(file.subarray(end - bytes, end));
  const schemaAt = fieldAt(flat, follow(flat, 0), footerFields.schema);
  return { bytes, columns: () => (schemaAt === undefined ? [] : columnSizes(flat, follow(flat, schemaAt))) };
};

/** The schema of a table. The SDK's own method fails on types that its Arrow library lacks. */
export const readSizes = async (table: Table): Promise<ReturnType<typeof readFile>> =>
  readFile(await (table as unknown as { readonly inner: { schema(): Promise<Buffer> } }).inner.schema());

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
