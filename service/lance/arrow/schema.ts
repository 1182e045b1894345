import type { Table } from "@lancedb/lancedb";
import { fieldAt, follow, structsAt, viewOf } from "./flatbuffer.ts";
import { footerOf } from "./footer.ts";

/** A type of Arrow, with the parameters that such a type has. */
export interface ArrowType {
  /** Number of the kind of type in Arrow's format, see {@link kinds}. */
  readonly kind: number;
  readonly bits: number;
  readonly isSigned: boolean;
  readonly unit: number;
  readonly precision: number;
  readonly scale: number;
  readonly timezone: string | undefined;
  /** Bytes of a fixed-size binary, or values of a fixed-size list. */
  readonly length: number;
}

export interface ArrowField {
  readonly name: string;
  readonly nullable: boolean;
  /** Of the values, if a dictionary encodes them. */
  readonly type: ArrowType;
  /** The integers that stand for the values of a dictionary. */
  readonly keys: ArrowType | undefined;
  readonly children: readonly ArrowField[];
  readonly metadata: Metadata;
}

export interface ArrowSchema {
  readonly fields: readonly ArrowField[];
  readonly metadata: Metadata;
}

/** In its order, as pairs: any text may be a key. */
type Metadata = readonly (readonly [key: string, value: string])[];

/** The kinds of types in Arrow's format that tables can have. */
export const kinds = {
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  list: 12,
  struct: 13,
  fixedSizeBinary: 15,
  fixedSizeList: 16,
  map: 17,
  duration: 18,
  largeBinary: 19,
  largeUtf8: 20,
  largeList: 21,
} as const;

const offsetBytes = 4;
const lengthBytes = 4;

const footerFields = { schema: 1 } as const;
export const schemaFields = { fields: 1, metadata: 2 } as const;
export const fieldFields = { name: 0, nullable: 1, kind: 2, type: 3, dictionary: 4, children: 5, metadata: 6 } as const;
export const pairFields = { key: 0, value: 1 } as const;
export const timestampFields = { unit: 0, timezone: 1 } as const;
const dictionaryFields = { keys: 1 } as const;
/** The keys of a dictionary that names no type for them. */
const defaultKeys = { bits: 32, isSigned: true };

/** Reads the fields of a table of the format. */
const readerOf = (view: DataView, table: number) => {
  const at = (index: number) => fieldAt(view, table, index);
  return {
    int8: (index: number): number => view.getInt8(at(index) ?? missing()),
    flag: (index: number): boolean => {
      const position = at(index);
      return position !== undefined && view.getInt8(position) !== 0;
    },
    int16: (index: number, otherwise: number): number => {
      const position = at(index);
      return position === undefined ? otherwise : view.getInt16(position, true);
    },
    int32: (index: number, otherwise: number): number => {
      const position = at(index);
      return position === undefined ? otherwise : view.getInt32(position, true);
    },
    text: (index: number): string | undefined => {
      const position = at(index);
      if (position === undefined) return undefined;
      const start = follow(view, position);
      return Buffer.from(view.buffer, view.byteOffset + start + lengthBytes, view.getUint32(start, true)).toString();
    },
    table: (index: number): number | undefined => {
      const position = at(index);
      return position === undefined ? undefined : follow(view, position);
    },
    tables: (index: number): readonly number[] =>
      structsAt(view, at(index), offsetBytes).map((position) => follow(view, position)),
  };
};

type Reader = ReturnType<typeof readerOf>;

const missing = (): never => {
  throw new RangeError("a field of an Arrow schema has no type");
};

const plain: Omit<ArrowType, "kind"> = {
  bits: 0,
  isSigned: false,
  unit: 0,
  precision: 0,
  scale: 0,
  timezone: undefined,
  length: 0,
};

/** Where the format keeps the parameters of a type, and their defaults. */
const parameters: Readonly<Record<number, (type: Reader) => Partial<ArrowType>>> = {
  [kinds.int]: (type) => ({ bits: type.int32(0, 0), isSigned: type.flag(1) }),
  [kinds.float]: (type) => ({ bits: 16 << type.int16(0, 0) }),
  [kinds.decimal]: (type) => ({ precision: type.int32(0, 0), scale: type.int32(1, 0), bits: type.int32(2, 128) }),
  [kinds.date]: (type) => ({ unit: type.int16(0, 1) }),
  [kinds.time]: (type) => ({ unit: type.int16(0, 1), bits: type.int32(1, 32) }),
  [kinds.timestamp]: (type) => ({
    unit: type.int16(timestampFields.unit, 0),
    timezone: type.text(timestampFields.timezone),
  }),
  [kinds.duration]: (type) => ({ unit: type.int16(0, 1) }),
  [kinds.fixedSizeBinary]: (type) => ({ length: type.int32(0, 0) }),
  [kinds.fixedSizeList]: (type) => ({ length: type.int32(0, 0) }),
};

const readType = (view: DataView, kind: number, table: number): ArrowType => ({
  ...plain,
  kind,
  ...parameters[kind]?.(readerOf(view, table)),
});

const readMetadata = (view: DataView, pairs: readonly number[]): Metadata =>
  pairs.map((table) => {
    const pair = readerOf(view, table);
    return [pair.text(pairFields.key) ?? "", pair.text(pairFields.value) ?? ""];
  });

const readKeys = (view: DataView, encoding: number): ArrowType => {
  const table = readerOf(view, encoding).table(dictionaryFields.keys);
  return table === undefined ? { ...plain, kind: kinds.int, ...defaultKeys } : readType(view, kinds.int, table);
};

const readField = (view: DataView, table: number): ArrowField => {
  const field = readerOf(view, table);
  const encoding = field.table(fieldFields.dictionary);
  return {
    name: field.text(fieldFields.name) ?? "",
    nullable: field.flag(fieldFields.nullable),
    type: readType(view, field.int8(fieldFields.kind), field.table(fieldFields.type) ?? missing()),
    keys: encoding === undefined ? undefined : readKeys(view, encoding),
    children: field.tables(fieldFields.children).map((child) => readField(view, child)),
    metadata: readMetadata(view, field.tables(fieldFields.metadata)),
  };
};

/** The schema at a position of a flatbuffer. @throws RangeError for one that points out of it. */
export const readSchemaAt = (view: DataView, position: number): ArrowSchema => {
  const schema = readerOf(view, position);
  return {
    fields: schema.tables(schemaFields.fields).map((table) => readField(view, table)),
    metadata: readMetadata(view, schema.tables(schemaFields.metadata)),
  };
};

/**
 * The schema of an Arrow IPC file. Not with apache-arrow, which reads no file that has a large list in its schema.
 * @throws RangeError for bytes that are not such a file.
 */
export const readArrowSchema = (file: Uint8Array): ArrowSchema => {
  const view = viewOf(footerOf(file));
  return readSchemaAt(view, readerOf(view, follow(view, 0)).table(footerFields.schema) ?? missing());
};

/** An Arrow IPC file without rows. The SDK's own method fails on types that its Arrow library lacks. */
export const schemaFile = (table: Table): Promise<Uint8Array> =>
  (table as unknown as { readonly inner: { schema(): Promise<Uint8Array> } }).inner.schema();
