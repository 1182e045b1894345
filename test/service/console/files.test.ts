import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int32,
  Int64,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  TimestampNanosecond,
  TimestampSecond,
  tableFromIPC,
  tableToIPC,
  Uint64,
  Utf8,
} from "apache-arrow";
import { parquetReadObjects } from "hyparquet";
import { describe, expect, test } from "vitest";
import { cellAt, textOf } from "../../../service/console/page/cell.ts";
import { parquetOf } from "../../../service/console/page/table/parquet-file.ts";
import { typesOf } from "../../../service/console/page/upload/csv.ts";
import { dataOf } from "../../../service/console/page/upload/encode.ts";
import { prepare } from "../../../service/console/page/upload/prepare.ts";
import { converterOf, Moment } from "../../../service/console/page/upload/values.ts";

const item = (type: DataType): Field => new Field("item", type, true);
const vector = new FixedSizeList(2, item(new Float32()));
const pair = new Struct([new Field("a", new Int64(), true), new Field("b", new Utf8(), true)]);

describe("a value of a file", () => {
  test.each([
    [new Int8(), "-128", -128],
    [new Int8(), 127n, 127],
    [new Uint64(), "18446744073709551615", 2n ** 64n - 1n],
    [new Float64(), "-inf", Number.NEGATIVE_INFINITY],
    [new Float32(), "1e3", 1000],
    [new Utf8(), 5n, "5"],
    [new Bool(), "TRUE", true],
    [new Binary(), "AAH/", new Uint8Array([0, 1, 255])],
    [new DateDay(), "1970-01-03", 2],
    [new DateDay(), new Date(86_400_000), 1],
    [new TimestampMicrosecond("UTC"), "1970-01-01T00:00:01.000001Z", 1_000_001n],
    [new TimestampMicrosecond("UTC"), "1970-01-01 01:00+01:00", 0n],
    [new TimestampNanosecond(), new Moment(7n), 7n],
    [vector, "[1, null]", [1, null]],
    [new List(item(new Utf8())), ["a"], ["a"]],
    [pair, '{"a": 5}', { a: 5n, b: null }],
  ])("fits %s: %s", (type, value, expected) => {
    expect(converterOf(type)(value)).toEqual(expected);
  });

  test.each([
    [new Int8(), "128", '"128" is not a whole number from -128 to 127'],
    [new Int32(), 1.5, "1.5 is not a whole number"],
    [new Int64(), 2 ** 53, "is not a whole number"],
    [new Uint64(), "-1", '"-1" is not a whole number from 0'],
    [new Float64(), "warm", '"warm" is not a number'],
    [new Bool(), "yes", '"yes" is not true or false'],
    [new Binary(), "%", '"%" is not bytes in base64'],
    [new DateDay(), "31.01.2026", "is not a date like 2026-01-31"],
    [new TimestampSecond(), "2026-01-31T12:30:00.5Z", "without a fraction of the column's unit"],
    [new TimestampMicrosecond(), "noon", "is not a time like"],
    [vector, "[1]", "a list of 1 values is not a list of 2 values"],
    [vector, "1, 2", "is not JSON"],
    [pair, "5", "is not an object"],
  ])("is refused for %s: %s", (type, value, reason) => {
    expect(() => converterOf(type)(value)).toThrow(reason);
  });

  test("of a type that the console cannot fill names a client as the remedy", () => {
    expect(() => converterOf(new Decimal(2, 10, 128))).toThrow("send the file with a client");
  });
});

test.each([
  [["1", "-2"], "Int64,Float64,Float32,Utf8"],
  [["1", "2.5"], "Float64,Float32,Utf8"],
  [["0150", "1"], "Utf8"],
  [["true", "FALSE"], "Bool,Utf8"],
  [["2026-01-31"], "Date32<DAY>,Utf8"],
  [["2026-01-31T10:00:00Z"], "Timestamp<MICROSECOND, UTC>,Utf8"],
  [["[1, 2]", "[3.5, 4]"], "FixedSizeList[2]<Float32>,Utf8"],
  [["[1, 2]", "[3]"], "Utf8"],
  [[], "Utf8"],
])("the texts %j can have the types %s", (texts, types) => {
  expect(typesOf(texts).map(String).join()).toBe(types);
});

const columns: readonly (readonly [name: string, type: DataType, values: readonly unknown[]])[] = [
  ["int8", new Int8(), [-5, null]],
  ["int64", new Int64(), [2n ** 53n + 1n, null]],
  ["uint64", new Uint64(), [2n ** 64n - 1n, null]],
  ["half", new Float16(), [0.5, null]],
  ["single", new Float32(), [0.25, null]],
  ["double", new Float64(), [0.1, null]],
  ["bool", new Bool(), [true, null]],
  ["text", new Utf8(), ["å", null]],
  ["bytes", new Binary(), [new Uint8Array([1, 2]), null]],
  ["day", new DateDay(), [20_484, null]],
  ["at", new TimestampMicrosecond("UTC"), [1_769_862_600_123_456n, null]],
  ["vector", vector, [[1, 2], null]],
  ["words", new List(item(new Utf8())), [["a", null], null]],
  ["pair", pair, [{ a: 1n, b: "x" }, null]],
];

/** Written and read once more, as it is sent. */
const sent = (): Table => {
  const schema = new Schema(columns.map(([name, type]) => new Field(name, type, true)));
  const children = columns.map(([, type, values]) => dataOf(type, values));
  const data = makeData({ type: new Struct(schema.fields), length: 2, nullCount: 0, children });
  return tableFromIPC(tableToIPC(new Table(schema, new RecordBatch(schema, data)), "stream"));
};

test("values are the same after they were sent", () => {
  const [batch] = sent().batches;
  const texts = columns.map(([name], at) => {
    const data = batch?.data.children[at];
    return [name, ...[0, 1].map((row) => (data === undefined ? "" : textOf(cellAt(data, row))))];
  });
  expect(texts).toEqual([
    ["int8", "-5", "null"],
    ["int64", "9007199254740993", "null"],
    ["uint64", "18446744073709551615", "null"],
    ["half", "0.5", "null"],
    ["single", "0.25", "null"],
    ["double", "0.1", "null"],
    ["bool", "true", "null"],
    ["text", "å", "null"],
    ["bytes", "0x0102", "null"],
    ["day", "2026-01-31", "null"],
    ["at", "2026-01-31 12:30:00.123456Z", "null"],
    ["vector", "[1, 2]", "null"],
    ["words", '["a", null]', "null"],
    ["pair", '{a: 1, b: "x"}', "null"],
  ]);
});

test("a Parquet file has the same values", async () => {
  const rows = await parquetReadObjects({
    file: parquetOf(sent()),
    utf8: false,
    parsers: { timestampFromMicroseconds: (count) => count },
  });
  expect(rows).toEqual([
    {
      int8: -5,
      int64: 2n ** 53n + 1n,
      uint64: 2n ** 64n - 1n,
      half: 0.5,
      single: 0.25,
      double: 0.1,
      bool: true,
      text: "å",
      bytes: new Uint8Array([1, 2]),
      day: new Date("2026-01-31"),
      at: 1_769_862_600_123_456n,
      vector: [1, 2],
      words: ["a", null],
      pair: '{a: 1, b: "x"}',
    },
    // Its reader has no null of a list.
    Object.fromEntries(columns.map(([name]) => [name, /vector|words/.test(name) ? undefined : null])),
  ]);
});

test("rows that do not fit are counted and left out, and columns are compared with the table's", () => {
  const source = {
    kind: "values",
    length: 3,
    columns: [
      { name: "id", values: ["1", "x", null], types: [new Utf8()] },
      { name: "extra", values: ["a", "b", "c"], types: [new Utf8()] },
    ],
  } as const;
  const id = new Field("id", new Int32(), false);
  const needed = new Field("needed", new Utf8(), false);
  const refused = prepare(source, [id, needed, new Field("other", new Utf8(), true)]);
  expect(refused.columns.map(({ column }) => column)).toEqual(["extra", "needed"]);
  expect(refused.missing).toEqual(["needed", "other"]);
  const { table, badRows, values } = prepare({ ...source, columns: source.columns.slice(0, 1) }, [id]);
  expect([table?.numRows, badRows, values.map(({ row, reason }) => [row, reason])]).toEqual([
    1,
    2,
    [
      [2, '"x" is not a whole number from -2147483648 to 2147483647'],
      [3, "the column takes no null"],
    ],
  ]);
});
