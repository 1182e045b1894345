import { Field, Int64, makeData, Null, RecordBatch, Schema, Struct, Table, tableToIPC, Utf8 } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { useService } from "../../support/service.ts";
import { asRows, plainStream, streamOf, writesOn } from "./support.ts";

const service = useService({ environment: writesOn });

const refusal = (text: string | RegExp, code = 13) => ({
  status: 400,
  body: { code, error: expect.stringMatching(text) },
});

let tables = 0;
const newTable = (): string => `columns-${++tables}`;
const created = async (): Promise<string> => {
  const name = newTable();
  expect(await service.call("create", name, undefined, asRows(plainStream([1, 2])))).toMatchObject({ status: 200 });
  return name;
};

describe("a column that later calls could not name is refused", () => {
  test.each(["", "a`b", "a.b"])("at create: %j", async (name) => {
    const rows = asRows(streamOf([{ [name]: 1n }], new Schema([new Field(name, new Int64(), true)])));
    expect(await service.call("create", newTable(), undefined, rows)).toMatchObject(
      refusal(/a column is named ".*": use a name/),
    );
  });

  test.each(["a`b", "a.b"])("when it is added or renamed: %j", async (name) => {
    const table = await created();
    const added = { new_columns: [{ name, expression: "id" }] };
    expect(await service.call("add_columns", table, added)).toMatchObject(refusal(/backtick/));
    const renamed = { alterations: [{ path: "text", rename: name }] };
    expect(await service.call("alter_columns", table, renamed)).toMatchObject(refusal(/backtick/));
  });
});

test("bytes behind the end of a stream are refused, not dropped", async () => {
  const table = await created();
  const twice = new Uint8Array([...plainStream([3]), ...plainStream([4])]);
  expect(await service.call("insert", table, undefined, asRows(twice))).toMatchObject(refusal(/bytes follow the end/));
  expect((await service.call("count_rows", table, {})).body).toBe(2);
});

test("rows of null alone are written", async () => {
  const type = new Null();
  const schema = new Schema([new Field("nothing", type, true)]);
  const data = makeData({
    type: new Struct(schema.fields),
    length: 3,
    nullCount: 0,
    children: [makeData({ type, length: 3 })],
  });
  const stream = new Uint8Array(tableToIPC(new Table([new RecordBatch(schema, data)]), "stream"));
  const table = newTable();
  expect(await service.call("create", table, undefined, asRows(stream))).toMatchObject({ status: 200 });
  expect((await service.call("count_rows", table, {})).body).toBe(3);
});

test("an update that sets a column twice is refused", async () => {
  const body = {
    updates: [
      ["text", "'a'"],
      ["text", "'b'"],
    ],
  };
  expect(await service.call("update", await created(), body)).toMatchObject(refusal(/names a column twice/));
});

test("an ambiguous column in the condition of a merge is named with the remedy", async () => {
  const query = `?on=id&when_matched_update_all=true&when_matched_update_all_filt=${encodeURIComponent("id > 1")}`;
  const rows = asRows(plainStream([1]), { query });
  expect(await service.call("merge_insert", await created(), undefined, rows)).toMatchObject(
    refusal(/ambiguous: write target/),
  );
});

describe("metadata that says how values are stored is refused", () => {
  test.each(["lance-encoding:blob", "lance-encoding:compression", "ARROW:extension:name", "lance:x"])(
    "%s",
    async (key) => {
      const table = await created();
      for (const value of ["x", null]) {
        const body = { updates: [{ path: "text", metadata: { [key]: value } }] };
        expect(await service.call("update_field_metadata", table, body)).toMatchObject(refusal(/key of the engine/));
      }
    },
  );

  test("and a replacement keeps it, so that the column stays readable", async () => {
    const table = newTable();
    const metadata = new Map([["lance-encoding:compression", "zstd"]]);
    const schema = new Schema([new Field("id", new Int64(), true), new Field("text", new Utf8(), true, metadata)]);
    const rows = asRows(streamOf([{ id: 1n, text: "a" }], schema));
    expect(await service.call("create", table, undefined, rows)).toMatchObject({ status: 200 });
    const replaced = { updates: [{ path: "text", metadata: { unit: "none" }, replace: true }] };
    expect(await service.call("update_field_metadata", table, replaced)).toMatchObject({ status: 200 });
    const { body } = await service.call("describe", table, {});
    const [, text] = (body as { schema: { fields: { metadata?: object }[] } }).schema.fields;
    expect(text?.metadata).toEqual({ unit: "none", "lance-encoding:compression": "zstd" });
  });

  test("and other keys are not", async () => {
    const body = { updates: [{ path: "text", metadata: { unit: "none" } }] };
    expect(await service.call("update_field_metadata", await created(), body)).toMatchObject({ status: 200 });
  });
});

test("a hamming index of floats is refused, and the table is served", async () => {
  const table = await created();
  const body = { column: "vector", index_type: "IVF_FLAT", distance_type: "hamming" };
  expect(await service.call("create_index", table, body)).toMatchObject(refusal(/hamming/, 20));
  expect((await service.call("count_rows", table, {})).status).toBe(200);
});
