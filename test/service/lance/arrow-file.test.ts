import {
  Bool,
  Decimal,
  Dictionary,
  Field,
  FixedSizeList,
  Float32,
  Int8,
  Int32,
  List,
  makeData,
  type RecordBatch,
  Struct,
  Table,
  TimestampMicrosecond,
  tableFromArrays,
  tableFromIPC,
  tableToIPC,
  Utf8,
  Vector,
  vectorFromArray,
} from "apache-arrow";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { joinArrowFiles } from "../../../service/lance/arrow/file.ts";

const rows = (table: Table): string[] =>
  table.toArray().map((row) => JSON.stringify(row, (_, v) => (typeof v === "bigint" ? `${v}n` : v)));
const fileOf = (table: Table): Uint8Array => tableToIPC(table, "file");
const join = ([first, ...others]: readonly Uint8Array[]): Table => {
  if (first === undefined) throw new Error("no file");
  return tableFromIPC(joinArrowFiles([first, ...others]));
};

const wide = (from: number, count: number): Table => {
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  const floats = makeData({ type: new Float32(), data: Float32Array.from(numbers.flatMap((n) => [n, n / 2])) });
  const list = makeData({
    type: new FixedSizeList(2, new Field("item", new Float32(), true)),
    length: count,
    nullCount: 0,
    child: floats,
  });
  return new Table({
    text: vectorFromArray(
      numbers.map((n) => (n % 3 === 0 ? null : `row ${n}`)),
      new Utf8(),
    ),
    small: vectorFromArray(
      numbers.map((n) => n % 100),
      new Int8(),
    ),
    flag: vectorFromArray(
      numbers.map((n) => n % 2 === 0),
      new Bool(),
    ),
    tags: vectorFromArray(
      numbers.map((n) => Array.from({ length: n % 4 }, (_, i) => `t${i}`)),
      new List(new Field("item", new Utf8(), true)),
    ),
    pair: vectorFromArray(
      numbers.map((n) => ({ a: n, b: `${n}` })),
      new Struct([new Field("a", new Int32(), true), new Field("b", new Utf8(), true)]),
    ),
    time: vectorFromArray(
      numbers.map((n) => n * 1000),
      new TimestampMicrosecond(),
    ),
    vector: new Vector([list]),
  });
};

describe("joining Arrow files", () => {
  test.each([[[1]], [[3, 1]], [[100, 1, 57]], [Array.from({ length: 40 }, (_, index) => index + 1)]])(
    "of %j rows keeps every value of every type",
    (counts) => {
      let from = 0;
      const tables = counts.map((count) => {
        const table = wide(from, count);
        from += count;
        return table;
      });
      const joined = join(tables.map(fileOf));
      expect(joined.batches.map(({ numRows }: RecordBatch) => numRows)).toEqual(counts);
      expect(rows(joined)).toEqual(tables.flatMap(rows));
      expect(joined.schema.fields.map(String)).toEqual(wide(0, 1).schema.fields.map(String));
    },
  );

  test("with several batches and without batches keeps all rows", () => {
    const [two, three] = [new Table([wide(0, 5), wide(5, 5)].flatMap(({ batches }) => batches)), wide(10, 3)];
    const none = new Table(two.schema);
    expect(rows(join([fileOf(two), fileOf(three)]))).toEqual([...rows(two), ...rows(three)]);
    expect(rows(join([fileOf(three), fileOf(none), fileOf(two)]))).toEqual([...rows(three), ...rows(two)]);
    expect(join([fileOf(none), fileOf(none)]).numRows).toBe(0);
  });

  test("returns a single file unchanged", () => {
    const file = fileOf(wide(0, 3));
    expect(joinArrowFiles([file])).toBe(file);
  });

  test("results in a file that can be joined again", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.option(fc.string({ maxLength: 20 })), { minLength: 1, maxLength: 9 }), {
          minLength: 1,
          maxLength: 6,
        }),
        (batches) => {
          const tables = batches.map((values) => new Table({ text: vectorFromArray(values, new Utf8()) }));
          const once = joinArrowFiles([fileOf(tables[0] as Table), ...tables.slice(1).map(fileOf)]);
          const twice = join([once, once]);
          expect(rows(twice)).toEqual([...tables.flatMap(rows), ...tables.flatMap(rows)]);
        },
      ),
    );
  });

  const encoded = (values: readonly string[]): Table =>
    new Table({ word: vectorFromArray([...values], new Dictionary(new Utf8(), new Int32(), 1)) });

  test("keeps a dictionary that all files share", () => {
    const [one, two] = [encoded(["a", "b", "a"]), encoded(["a", "b", "b"])];
    expect(rows(join([fileOf(one), fileOf(two)]))).toEqual([...rows(one), ...rows(two)]);
  });

  test("rejects different dictionaries and suggests a cast", () => {
    const files = [fileOf(encoded(["a", "b"])), fileOf(encoded(["c", "b"]))];
    expect(() => join(files)).toThrow(expect.objectContaining({ code: 0, message: expect.stringMatching(/cast\(/) }));
  });

  test("keeps the metadata of the schema", () => {
    const table = tableFromArrays({ id: Int32Array.of(1, 2) });
    table.schema.metadata.set("key", "value");
    expect(join([fileOf(table), fileOf(table)]).schema.metadata.get("key")).toBe("value");
  });

  test("keeps decimals of 128 bits", () => {
    const type = new Decimal(2, 10, 128);
    const values = vectorFromArray([Uint32Array.of(5, 0, 0, 0), Uint32Array.of(7, 0, 0, 0)], type);
    const table = new Table({ price: values });
    expect(rows(join([fileOf(table), fileOf(table)]))).toEqual([...rows(table), ...rows(table)]);
  });
});
