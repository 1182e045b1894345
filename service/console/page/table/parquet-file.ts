import { type Data, type DataType, type Field, type Table, Type } from "apache-arrow";
import type { SchemaElement } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { cellAt, textOf } from "../cell.ts";

/** How the values of a type are written. */
interface Form {
  /** The column and what is below it, in the order of the format. */
  readonly elements: (name: string) => SchemaElement[];
  /** A value at a place of some data, not null. */
  readonly read: (data: Data, at: number) => unknown;
}

const optional = "OPTIONAL" as const;

const scalar = (element: Omit<SchemaElement, "name">, read: Form["read"] = (data, at) => data.values[at]): Form => ({
  elements: (name) => [{ name, repetition_type: optional, ...element }],
  read,
});

const asText: Form = scalar({ type: "BYTE_ARRAY", converted_type: "UTF8" }, (data, at) => textOf(cellAt(data, at)));

const bytesAt: Form["read"] = (data, at) => {
  const cell = cellAt(data, at);
  return cell.kind === "bytes" ? cell.bytes : new Uint8Array();
};

const integers = {
  8: ["INT_8", "UINT_8"],
  16: ["INT_16", "UINT_16"],
  32: ["INT_32", "UINT_32"],
  64: ["INT_64", "UINT_64"],
} as const;

const units = [undefined, "MILLIS", "MICROS", "NANOS"] as const;

const valueAt = (form: Form, data: Data, at: number): unknown => (data.getValid(at) ? form.read(data, at) : null);

const list = (item: Form, ends: (data: Data, at: number) => readonly [number, number]): Form => ({
  elements: (name) => [
    { name, repetition_type: optional, converted_type: "LIST", num_children: 1 },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    ...item.elements("element"),
  ],
  read(data, at) {
    const [from, to] = ends(data, at);
    const [child] = data.children;
    return Array.from({ length: to - from }, (_, place) =>
      child === undefined ? null : valueAt(item, child, from + place),
    );
  },
});

/** Types that Parquet lacks, or that this writer does, are texts as the console shows them. */
const formOf = (type: DataType): Form => {
  const { bitWidth, isSigned, unit, timezone, listSize, precision } = type as unknown as Readonly<
    Record<string, number>
  >;
  const item = (): Form => formOf((type.children[0] as Field).type);
  switch (type.typeId) {
    case Type.Bool:
      return scalar({ type: "BOOLEAN" }, (data, at) => textOf(cellAt(data, at)) === "true");
    case Type.Int:
      return scalar({
        type: bitWidth === 64 ? "INT64" : "INT32",
        converted_type: integers[(bitWidth ?? 64) as keyof typeof integers][isSigned ? 0 : 1],
      });
    case Type.Float:
      // Of half precision, the values are bits.
      if (precision === 0)
        return scalar({ type: "FLOAT" }, (data, at) => Number(textOf(cellAt(data, at)).replace("inf", "Infinity")));
      return scalar({ type: precision === 1 ? "FLOAT" : "DOUBLE" });
    case Type.Utf8:
      return asText;
    case Type.Binary:
      return scalar({ type: "BYTE_ARRAY" }, bytesAt);
    case Type.Date:
      return unit === 0 ? scalar({ type: "INT32", converted_type: "DATE" }) : asText;
    case Type.Timestamp: {
      const name = units[unit ?? 0];
      const logical = { type: "TIMESTAMP", isAdjustedToUTC: Boolean(timezone), unit: name ?? "MILLIS" } as const;
      return scalar(
        { type: "INT64", logical_type: logical },
        (data, at) => data.values[at] * (name === undefined ? 1000n : 1n),
      );
    }
    case Type.List:
      return list(item(), (data, at) => [data.valueOffsets[at] ?? 0, data.valueOffsets[at + 1] ?? 0]);
    case Type.FixedSizeList:
      return list(item(), (_, at) => [at * (listSize ?? 0), (at + 1) * (listSize ?? 0)]);
    default:
      return asText;
  }
};

/** A table as a Parquet file. */
export const parquetOf = (table: Table): ArrayBuffer => {
  const columns = table.schema.fields.map(({ name, type }, column) => {
    const form = formOf(type);
    const data = table.batches.flatMap((batch) => {
      const [child] = batch.data.children.slice(column, column + 1);
      return Array.from({ length: batch.numRows }, (_, at) => (child === undefined ? null : valueAt(form, child, at)));
    });
    return { name, data, elements: form.elements(name) };
  });
  return parquetWriteBuffer({
    columnData: columns.map(({ name, data }) => ({ name, data })),
    schema: [{ name: "root", num_children: columns.length }, ...columns.flatMap(({ elements }) => elements)],
  });
};
