import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  DurationMicrosecond,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  IntervalDayTime,
  LargeBinary,
  LargeUtf8,
  List,
  Map_,
  Null,
  Schema,
  Struct,
  TimeMicrosecond,
  TimestampMicrosecond,
  Uint64,
  Utf8,
} from "apache-arrow";
import { describe, expect, test } from "vitest";
import { toJsonSchema } from "../../../service/lance/schema.ts";

const types: readonly (readonly [type: DataType, lance: string, arrow: string, length?: number])[] = [
  [new Null(), "null", "null"],
  [new Bool(), "bool", "bool"],
  [new Int8(), "int8", "int8"],
  [new Uint64(), "uint64", "uint64"],
  [new Float16(), "halffloat", "float16"],
  [new Float32(), "float", "float32"],
  [new Float64(), "double", "float64"],
  [new Utf8(), "string", "utf8"],
  [new LargeUtf8(), "large_string", "large_utf8"],
  [new Binary(), "binary", "binary"],
  [new LargeBinary(), "large_binary", "large_binary"],
  [new FixedSizeBinary(7), "fixed_size_binary:7", "fixed_size_binary", 7],
  [new Decimal(2, 10, 128), "decimal:128:10:2", "decimal128", 10_002],
  [new DateDay(), "date32:day", "date32"],
  [new DateMillisecond(), "date64:ms", "date64"],
  [new TimeMicrosecond(), "time64:us", "time64"],
  [new TimestampMicrosecond(), "timestamp:us:-", "timestamp"],
  [new TimestampMicrosecond("UTC"), "timestamp:us:UTC", "timestamp"],
  [new DurationMicrosecond(), "duration:us", "duration"],
  [new Dictionary(new Utf8(), new Int16()), "dict:string:int16:false", "utf8"],
];

const named = (type: DataType, vocabulary: "lance" | "arrow") =>
  toJsonSchema(new Schema([new Field("column", type, true)]), vocabulary).fields[0]?.type;

describe("a schema as JSON", () => {
  test.each(types.map(([type, lance, arrow, length]) => ({ name: String(type), type, lance, arrow, length })))(
    "$name is $lance to LanceDB and $arrow to the catalog",
    ({ type, lance, arrow, length }) => {
      expect(named(type, "lance")).toEqual({ type: lance });
      expect(named(type, "arrow")).toEqual({ type: arrow, ...(length === undefined ? {} : { length }) });
    },
  );

  test.each(["lance", "arrow"] as const)("uses the vocabulary %s for nested types", (vocabulary) => {
    const text = { lance: "string", arrow: "utf8" }[vocabulary];
    const inner = new Field("item", new Utf8(), true);
    const leaf = { name: "item", nullable: true, type: { type: text } };
    expect(named(new List(inner), vocabulary)).toEqual({ type: "list", fields: [leaf] });
    expect(named(new FixedSizeList(3, inner), vocabulary)).toEqual({
      type: "fixed_size_list",
      length: 3,
      fields: [leaf],
    });
    expect(named(new Struct([new Field("in", new List(inner), false)]), vocabulary)).toEqual({
      type: "struct",
      fields: [{ name: "in", nullable: false, type: { type: "list", fields: [leaf] } }],
    });
    const entries = new Struct<{ key: Utf8; value: Utf8 }>([
      new Field("key", new Utf8(), false),
      new Field("value", new Utf8(), true),
    ]);
    expect(named(new Map_(new Field("entries", entries, false)), vocabulary)).toMatchObject({ type: "map" });
  });

  test("keeps metadata of schema and fields", () => {
    const field = new Field("blob", new LargeBinary(), true, new Map([["encoding", "blob"]]));
    expect(toJsonSchema(new Schema([field], new Map([["owner", "me"]])), "arrow")).toMatchObject({
      metadata: { owner: "me" },
      fields: [{ metadata: { encoding: "blob" } }],
    });
  });

  test("rejects a type without a name in the vocabulary", () => {
    expect(() => named(new IntervalDayTime(), "lance")).toThrow(expect.objectContaining({ code: 0 }));
  });
});
