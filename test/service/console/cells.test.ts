import { readFileSync } from "node:fs";
import { Field, FixedSizeBinary, makeData, RecordBatch, Schema, Struct, Table, tableToIPC } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { numbersOf, textOf } from "../../../service/console/page/cell.ts";
import { mediaOf } from "../../../service/console/page/media.ts";
import { type Rows, readRows } from "../../../service/console/page/rows.ts";
import { shownColumns } from "../../../service/console/page/schema.ts";

// Written and printed by pyarrow: arrow-types/cells.py.
const file = (name: string): Buffer<ArrayBuffer> =>
  readFileSync(new URL(`arrow-types/${name}`, import.meta.url)) as Buffer<ArrayBuffer>;
const printed = (JSON.parse(file("cells.json").toString()) as { cells: Record<string, string[]> }).cells;
const rows: Rows = await readRows(file("cells.arrow"));

describe("a cell shows what pyarrow prints", () => {
  test.each(Object.entries(printed))("%s", (name, texts) => {
    const column = rows.columns.findIndex((candidate) => candidate.name === name);
    expect(Array.from({ length: rows.length }, (_, row) => textOf(rows.cell(row, column)))).toEqual(texts);
  });
});

test("the numbers of a float16 vector are those that a search takes", () => {
  const column = rows.columns.findIndex(({ name }) => name === "vector_float16");
  expect([numbersOf(rows.cell(0, column)), numbersOf(rows.cell(4, column))]).toEqual([[1.5, 0.25], undefined]);
});

test("a fixed-size list of integers is not a vector", () => {
  const column = rows.columns.findIndex(({ name }) => name === "fixed_size_list_int32");
  expect(rows.cell(0, column).kind).toBe("text");
});

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR4nGP8z8DwnwEJMDGgAQA0EgIDlAUnHwAAAABJRU5ErkJggg==",
  "base64",
);

const fixedBinary = async (value: Buffer): Promise<Rows> => {
  const type = new FixedSizeBinary(value.length);
  const child = makeData({ type, length: 1, data: new Uint8Array(value) });
  const schema = new Schema([new Field("bytes", type, true)]);
  const data = makeData({ type: new Struct(schema.fields), length: 1, children: [child] });
  return readRows(tableToIPC(new Table([new RecordBatch(schema, data)]), "file"));
};

describe("bytes are shown as what they are", () => {
  test.each([
    [png, "PNG 2×3, 76 B"],
    [
      Buffer.concat([
        Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8, 0, 5, 0, 7]),
        Buffer.alloc(40),
      ]),
      "JPEG 7×5, 57 B",
    ],
    [Buffer.concat([Buffer.from("GIF89a"), Buffer.from([4, 0, 2, 0]), Buffer.alloc(40)]), "GIF 4×2, 50 B"],
    [Buffer.from("000102030405060708090a0b0c0d0e0f", "hex"), "0x000102030405060708090a0b0c0d0e0f"],
    [Buffer.alloc(300_000), "bytes, 300 kB"],
    [Buffer.from(`<svg onload="alert(1)">${" ".repeat(40)}`), "bytes, 63 B"],
  ])("%#", async (value, text) => {
    expect(textOf((await fixedBinary(value)).cell(0, 0))).toBe(text);
  });

  test.each(["<svg xmlns='http://www.w3.org/2000/svg'/>", "<!doctype html><script></script>", "%PDF-1.7"])(
    "%s gets no thumbnail",
    (text) => {
      expect(mediaOf(Buffer.from(text))?.shown).toBeUndefined();
    },
  );

  test("a file that ends within its header has no size", () => {
    expect(mediaOf(png.subarray(0, 12))).toEqual({ name: "PNG", shown: { element: "img", type: "image/png" } });
  });
});

describe("the first rows of a table", () => {
  const field = (name: string, type: string, length?: number, inner?: string) => ({
    name,
    nullable: true,
    type: {
      type,
      ...(length === undefined ? {} : { length }),
      ...(inner === undefined ? {} : { fields: [{ name: "item", nullable: true, type: { type: inner } }] }),
    },
  });

  test("are fetched without wide columns and those that the browser cannot read", () => {
    const shown = shownColumns([
      field("id", "int64"),
      field("photo", "binary"),
      field("clip", "large_binary"),
      field("uuid", "fixed_size_binary", 16),
      field("small", "fixed_size_list", 1536, "float32"),
      field("large", "fixed_size_list", 4096, "float32"),
      field("tags", "large_list", undefined, "utf8"),
    ]);
    expect(shown.names).toEqual(["id", "uuid", "small"]);
    expect([shown.wide, shown.unreadable].map((fields) => fields.map(({ name }) => name))).toEqual([
      ["photo", "clip", "large"],
      ["tags"],
    ]);
  });

  test("are fetched whole where all columns are narrow", () => {
    expect(shownColumns([field("id", "int64")]).names).toBeUndefined();
  });
});
