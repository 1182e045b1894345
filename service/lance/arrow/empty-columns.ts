import {
  Table as ArrowTable,
  Binary,
  Bool,
  type DataType,
  DateDay,
  DateMillisecond,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  LargeUtf8,
  List,
  Schema,
  Struct,
  tableToIPC,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from "apache-arrow";
import { ServiceError } from "../../errors.ts";
import type { BoundColumn, ExactField, ExactType } from "../../functions/index.ts";

const simple: Readonly<Record<string, () => DataType>> = {
  bool: () => new Bool(),
  int8: () => new Int8(),
  int16: () => new Int16(),
  int32: () => new Int32(),
  int64: () => new Int64(),
  uint8: () => new Uint8(),
  uint16: () => new Uint16(),
  uint32: () => new Uint32(),
  uint64: () => new Uint64(),
  float16: () => new Float16(),
  float32: () => new Float32(),
  float64: () => new Float64(),
  utf8: () => new Utf8(),
  large_utf8: () => new LargeUtf8(),
  binary: () => new Binary(),
  date32: () => new DateDay(),
  date64: () => new DateMillisecond(),
};

const fieldOf = ({ name, nullable, type }: ExactField): Field => new Field(name, typeOf(type), nullable);

const typeOf = (exact: ExactType): DataType => {
  if (!("fields" in exact)) return simple[exact.type]?.() ?? unsupported(exact.type);
  const [item, ...others] = exact.fields.map(fieldOf);
  if (item === undefined) return unsupported(exact.type);
  if ("length" in exact) return new FixedSizeList(exact.length, item);
  if (exact.type === "struct") return new Struct([item, ...others]);
  return exact.type === "list" ? new List(item) : unsupported(exact.type);
};

const unsupported = (type: string): never => {
  throw new ServiceError(0, {
    message: `columns of the type ${type} cannot be added for a Function yet: choose another`,
  });
};

/** An Arrow IPC stream without rows. @throws ServiceError code 0 for a type that the library lacks. */
export const emptyColumns = (columns: readonly BoundColumn[]): Uint8Array => {
  const fields = columns.map(
    ({ name, type, metadata }) => new Field(name, typeOf(type), true, new Map(Object.entries(metadata))),
  );
  return tableToIPC(new ArrowTable(new Schema(fields)), "stream");
};
