import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  Struct,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from "apache-arrow";
import { parquetMetadataAsync, parquetRead, parquetSchema, type SchemaElement, type SchemaTree } from "hyparquet";
import type { Source } from "./source.ts";
import { Moment } from "./values.ts";

const integers: Readonly<Record<string, () => DataType>> = {
  INT_8: () => new Int8(),
  INT_16: () => new Int16(),
  UINT_8: () => new Uint8(),
  UINT_16: () => new Uint16(),
  UINT_32: () => new Uint32(),
  UINT_64: () => new Uint64(),
};

const timestampOf = ({ converted_type: converted, logical_type: logical }: SchemaElement): DataType | undefined => {
  if (converted === "TIMESTAMP_MILLIS") return new TimestampMillisecond("UTC");
  if (converted === "TIMESTAMP_MICROS") return new TimestampMicrosecond("UTC");
  if (logical?.type !== "TIMESTAMP") return undefined;
  const zone = logical.isAdjustedToUTC ? "UTC" : null;
  if (logical.unit === "NANOS") return new TimestampNanosecond(zone);
  return logical.unit === "MICROS" ? new TimestampMicrosecond(zone) : new TimestampMillisecond(zone);
};

/** @throws Error that names the type and the remedy. */
const scalarOf = (element: SchemaElement): DataType => {
  const { type, converted_type: converted, logical_type: logical } = element;
  const refused = ["DECIMAL", "TIME_MILLIS", "TIME_MICROS", "INTERVAL", "BSON"].find((name) => name === converted);
  if (refused !== undefined || logical?.type === "TIME" || logical?.type === "DECIMAL")
    throw new Error(
      `${refused ?? logical?.type} is not read in the browser: cast it to a number or a text, or send it with a client`,
    );
  const timestamp = timestampOf(element);
  if (timestamp !== undefined) return timestamp;
  if (type === "INT96") return new TimestampNanosecond();
  if (converted === "DATE") return new DateDay();
  if (logical?.type === "FLOAT16") return new Float16();
  if (
    converted === "UTF8" ||
    converted === "ENUM" ||
    converted === "JSON" ||
    logical?.type === "STRING" ||
    logical?.type === "UUID"
  )
    return new Utf8();
  const integer = integers[converted ?? ""]?.();
  if (integer !== undefined) return integer;
  if (type === "BOOLEAN") return new Bool();
  if (type === "INT32") return new Int32();
  if (type === "INT64") return new Int64();
  if (type === "FLOAT") return new Float32();
  return type === "DOUBLE" ? new Float64() : new Binary();
};

const isList = ({ element, children }: SchemaTree): boolean =>
  element.converted_type === "LIST" ||
  element.logical_type?.type === "LIST" ||
  (children[0]?.element.repetition_type === "REPEATED" && children.length === 1);

/** The codecs that the library has by itself: others are many times its size. */
const codecs: readonly string[] = ["UNCOMPRESSED", "SNAPPY"];

const typeOf = (tree: SchemaTree): DataType => {
  const { element, children } = tree;
  if (element.converted_type === "MAP" || element.logical_type?.type === "MAP")
    throw new Error("MAP is not read in the browser: send the file with a client");
  if (children.length === 0) return scalarOf(element);
  if (!isList(tree)) return new Struct(children.map((child) => new Field(child.element.name, typeOf(child), true)));
  const [repeated] = children;
  const item = repeated?.children[0] ?? repeated;
  if (item === undefined) throw new Error("a list without a type");
  return new List(new Field("item", typeOf(item), true));
};

/** Lists of numbers that all have the same length are vectors. */
const vectorOf = (type: DataType, values: readonly unknown[]): DataType | undefined => {
  const [{ type: item } = { type: undefined }] = type instanceof List ? type.children : [];
  if (!(item instanceof Float16 || item instanceof Float32 || item instanceof Float64)) return undefined;
  const lengths = new Set(values.filter(Array.isArray).map((value) => value.length));
  const [length] = lengths;
  return lengths.size === 1 && length !== undefined && length > 1
    ? new FixedSizeList(length, new Field("item", item, true))
    : undefined;
};

/** @throws Error that names the column that cannot be read. */
export const readParquet = async (file: File): Promise<Source> => {
  const buffer = { byteLength: file.size, slice: (from: number, to?: number) => file.slice(from, to).arrayBuffer() };
  const metadata = await parquetMetadataAsync(buffer, { geoparquet: false });
  const codec = metadata.row_groups
    .flatMap((group) => group.columns)
    .map((column) => column.meta_data?.codec ?? "UNCOMPRESSED")
    .find((name) => !codecs.includes(name));
  if (codec !== undefined) throw new Error(`it is compressed by ${codec}: write it with snappy, or uncompressed`);
  const columns = parquetSchema(metadata).children.map((tree) => {
    try {
      return {
        name: tree.element.name,
        type: typeOf(tree),
        values: new Array<unknown>(Number(metadata.num_rows)).fill(null),
      };
    } catch (error) {
      throw new Error(`column ${tree.element.name}: ${(error as Error).message}`, { cause: error });
    }
  });
  await parquetRead({
    file: buffer,
    metadata,
    utf8: false,
    geoparquet: false,
    // As they are counted: a Date has milliseconds only.
    parsers: {
      timestampFromMilliseconds: (count) => new Moment(count * 1_000_000n),
      timestampFromMicroseconds: (count) => new Moment(count * 1000n),
      timestampFromNanoseconds: (count) => new Moment(count),
      jsonFromBytes: (bytes) => new TextDecoder().decode(bytes),
    },
    onChunk({ columnName, columnData, rowStart }) {
      const values = columns.find(({ name }) => name === columnName)?.values;
      if (values === undefined) return;
      for (let at = 0; at < columnData.length; at++) values[rowStart + at] = columnData[at] ?? null;
    },
  });
  return {
    kind: "values",
    length: Number(metadata.num_rows),
    columns: columns.map(({ name, type, values }) => {
      const vector = vectorOf(type, values);
      return { name, values, types: vector === undefined ? [type] : [vector, type] };
    }),
  };
};
