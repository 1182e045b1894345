import { cp } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  DurationNanosecond,
  DurationSecond,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  Map_,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimeMicrosecond,
  TimeMillisecond,
  TimeNanosecond,
  TimeSecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import { picture } from "./picture.ts";

/** Markup that would run a script if it were parsed anywhere. Lance allows no dot in a column name. */
export const script = `<img src=x onerror="document['title']='owned'"><script>document['title']='owned'</script>`;
export const breakout = `"'></td></style><svg onload=document['title']='owned'>\${7*7}&lt;b&gt;`;

const item = (type: DataType): Field => new Field("item", type, true);
const entry = new Struct([new Field("key", new Utf8(), false), new Field("value", new Int64(), true)]);
const dimensions = 4096;

/** A column of each type that the browser's Arrow library can make, with a value. */
const columns: Readonly<Record<string, readonly [type: DataType, value: unknown]>> = {
  id: [new Int64(), 2n ** 53n + 1n],
  [script]: [new Utf8(), breakout],
  [breakout]: [new Utf8(), script],
  __proto__x: [new Utf8(), "x".repeat(20_000)],
  photo: [new Binary(), picture(800, 900)],
  half: [new FixedSizeList(4, item(new Float16())), [0.5, -1.5, 2, 0.25]],
  wide: [new FixedSizeList(dimensions, item(new Float32())), Array.from({ length: dimensions }, (_, at) => at / 4096)],
  codes: [new FixedSizeList(4, item(new Uint8())), [1, 2, 3, 255]],
  bool: [new Bool(), true],
  int8: [new Int8(), -7],
  int16: [new Int16(), -7],
  int32: [new Int32(), -7],
  uint8: [new Uint8(), 7],
  uint16: [new Uint16(), 7],
  uint32: [new Uint32(), 7],
  uint64: [new Uint64(), 2n ** 64n - 1n],
  float16: [new Float16(), 0.5],
  float32: [new Float32(), 0.1],
  float64: [new Float64(), Number.NaN],
  fixed_binary: [new FixedSizeBinary(16), new Uint8Array(16)],
  decimal: [new Decimal(2, 10, 128), new Uint32Array([12_345, 0, 0, 0])],
  day: [new DateDay(), 86_400_000],
  day_ms: [new DateMillisecond(), 86_400_000],
  time_s: [new TimeSecond(), 5],
  time_ms: [new TimeMillisecond(), 5],
  time_us: [new TimeMicrosecond(), 5n],
  time_ns: [new TimeNanosecond(), 5n],
  at_s: [new TimestampSecond(), 5000],
  at_ms: [new TimestampMillisecond("Europe/Oslo"), 5000],
  at_us: [new TimestampMicrosecond("UTC"), 5000],
  at_ns: [new TimestampNanosecond(), 5000],
  lasts_s: [new DurationSecond(), 5n],
  lasts_ns: [new DurationNanosecond(), 5n],
  words: [new List(item(new Utf8())), ["a", null, script]],
  pair: [new Struct([new Field("a", new Int64(), true), new Field("b", new Utf8(), true)]), { a: 1n, b: breakout }],
  pairs: [new List(item(new Struct([new Field("a", new Int64(), true)]))), [{ a: 1n }]],
  word: [new Dictionary(new Utf8(), new Int32()), "word"],
  map: [new Map_(new Field("entries", entry, false)), new Map([["a", 1n]])],
};

/** Fixed-size lists of this Arrow library have no room for the values of a null. */
const canBeNull = (type: DataType): boolean => !(type instanceof FixedSizeList);

const rowCount = 4;

const hostileRows = (): Table => {
  const schema = new Schema(Object.entries(columns).map(([name, [type]]) => new Field(name, type, true)));
  const children = Object.values(columns).map(([type, value]) => {
    const values = Array.from({ length: rowCount }, (_, row) => (row === 1 && canBeNull(type) ? null : value));
    const [data] = vectorFromArray(values, type).data;
    if (data === undefined) throw new Error(`no values of type ${type}`);
    return data;
  });
  return new Table(
    schema,
    new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: rowCount, nullCount: 0, children })),
  );
};

export const tagCount = 200;

/**
 * A database whose table `hostile` has all types, photos of 2 MB, vectors of 4,096 numbers, names with markup, versions and
 * 200 tags, beside 999 others.
 */
export const writeHostileDatabase = async (folder: string): Promise<void> => {
  const connection = await connect(folder);
  const table = await connection.createTable("hostile", hostileRows());
  for (let change = 0; change < 20; change++)
    await table.update({ where: "id > 0", values: { int32: String(change) } });
  const tags = await table.tags();
  for (let tag = 0; tag < tagCount; tag++) await tags.create(`release-${tag}-${"x".repeat(tag % 40)}`, 1 + (tag % 20));
  await connection.createTable("small", [{ id: 1 }]);
  connection.close();
  for (let copy = 2; copy < 1000; copy++)
    await cp(join(folder, "small.lance"), join(folder, `small${copy}.lance`), { recursive: true });
};
