import { type Connection, connect, type Table } from "@lancedb/lancedb";
import { Table as ArrowTable, Dictionary, Int32, tableFromIPC, Utf8, vectorFromArray } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isolated, useService, useSharedService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { vectorOf } from "../../support/tables.ts";

const service = useService({ tokens: [staticToken("sizes only", "sizes-only", ["stats"])], environment: isolated });
const small = useService({ environment: { ...isolated, LAKEHEAD_MAX_RESULT_BYTES: "20000" } });
const inProcess = useSharedService();
let connection: Connection;
let docs: Table;

beforeAll(async () => {
  connection = await connect(service.directory);
  docs = await connection.openTable("docs");
});
afterAll(() => connection.close());

const unlimited = '{"k":9223372036854775807,"vector":[]';

const rowsOf = async (body: object | string, from = service, table = "docs") => {
  const answer = await from.call("query", table, body, typeof body === "string" ? { rawBody: body } : {});
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return tableFromIPC(answer.body);
};

const ids = (rows: Iterable<unknown>): number[] => [...rows].map((row) => Number((row as { id: bigint }).id));

describe("query", () => {
  test("returns all rows of all fragments in one file", async () => {
    const table = await rowsOf(`${unlimited}}`);
    expect(ids(table)).toEqual(ids(await docs.query().toArray()));
    expect(table.batches.length).toBeGreaterThan(1);
  });

  test("returns the same in the service's process as in a worker process", async () => {
    const query = { k: 7, vector: vectorOf(3), vector_column: "vector", with_row_id: true, columns: ["id"] };
    const [isolated, own] = [await rowsOf(query), await rowsOf(query, inProcess)];
    expect(own.schema.fields.map(String)).toEqual(isolated.schema.fields.map(String));
    expect([...own].map(String)).toEqual([...isolated].map(String));
    expect(isolated.schema.fields.map(({ name }) => name)).toEqual(["id", "_distance", "_rowid"]);
  });

  test.each([
    ["names", ["id", "score"], ["id", "score"]],
    ["names in the catalog's form", { column_names: ["score"] }, ["score"]],
    ["aliases", { next: "id + 1", shout: "upper(category)" }, ["next", "shout"]],
    ["aliases in the catalog's form", { column_aliases: { next: "id + 1" } }, ["next"]],
  ])("takes columns as %s", async (_, columns, names) => {
    const table = await rowsOf({ k: 3, columns });
    expect(table.schema.fields.map(({ name }) => name)).toEqual(names);
    expect(table.numRows).toBe(3);
  });

  test("numbers the vectors of a multi-vector query", async () => {
    const table = await rowsOf({ k: 3, vector: [vectorOf(1), vectorOf(2)], vector_column: "vector", columns: ["id"] });
    expect(table.schema.fields.map(({ name }) => name)).toEqual(["query_index", "id", "_distance"]);
    expect(table.numRows).toBe(6);
  });

  test("searches text, filters, orders and pages", async () => {
    const text = await rowsOf({ k: 5, full_text_query: { query: "puppy", columns: ["text"] }, filter: "id < 100" });
    expect(text.numRows).toBe(5);
    expect(ids(text).every((id) => id < 100)).toBe(true);
    const ordered = { k: 3, offset: 2, order_by: [{ column_name: "score", ascending: false }] };
    expect(ids(await rowsOf(ordered))).toEqual([1017, 1016, 1015]);
  });

  test("returns the version of the rows", async () => {
    const answer = await service.call("query", "docs", { k: 1 });
    expect(answer.headers.get("x-lancedb-version")).toBe(String(await docs.version()));
    const earlier = await service.call("query", "docs", { k: 9999, version: 1 });
    expect(earlier.headers.get("x-lancedb-version")).toBe("1");
    expect(tableFromIPC(earlier.body).numRows).toBe(1000);
  });

  test("reads a branch", async () => {
    expect((await rowsOf(`${unlimited},"branch":"experiment","columns":["id"]}`)).numRows).toBe(900);
  });

  test.each([
    ["no row found", { k: 3, filter: "id < 0", columns: ["id"] }, ["id"]],
    ["no row wanted", { k: 0, columns: ["id"] }, ["id"]],
    ["nothing near", { k: 3, vector: vectorOf(1), vector_column: "vector", upper_bound: 0, columns: ["id"] }, null],
  ])("with %s is a file with a schema", async (_, query, names) => {
    const table = await rowsOf(query);
    expect(table.numRows).toBe(0);
    expect(table.schema.fields.map(({ name }) => name)).toEqual(names ?? ["id", "_distance"]);
  });

  test("is refused with a remedy when its rows exceed the maximum bytes", async () => {
    const { status, body } = await small.call("query", "docs", {}, { rawBody: `${unlimited}}` });
    expect({ status, code: body.code }).toEqual({ status: 400, code: 13 });
    expect(body.error).toMatch(/more than 20000 bytes: request fewer rows .* LAKEHEAD_MAX_RESULT_BYTES/);
    expect((await rowsOf({ k: 100, columns: ["id"] }, small)).numRows).toBe(100);
  });

  test.each([
    ["a filter that divides by zero", { k: 10, filter: "id % 0 = 1" }],
    ["a filter that is not allowed", { k: 10, filter: "repeat(text, 9) = 'a'" }],
    ["a hybrid search", { k: 3, vector: vectorOf(1), full_text_query: { query: "puppy", columns: [] } }],
  ])("refuses %s", async (_, query) => {
    expect(await service.call("query", "docs", query)).toMatchObject({ status: 400, body: { code: 13 } });
  });

  test("keeps a dictionary that all rows share, and refuses several with a remedy", async () => {
    const words = (from: number, count: number) =>
      new ArrowTable({
        word: vectorFromArray(
          Array.from({ length: count }, (_, index) => `word ${(from + index) % 5}`),
          new Dictionary(new Utf8(), new Int32()),
        ),
      });
    const table = await connection.createTable("words", words(0, 3000));
    const one = await rowsOf({ k: 3000 }, service, "words");
    expect(one.batches.length).toBeGreaterThan(1);
    expect([...one].slice(0, 2).map(String)).toEqual(['{"word": "word 0"}', '{"word": "word 1"}']);
    await table.add(words(7, 10));
    const several = () => service.call("query", "words", { k: 9999 });
    await expect.poll(several, { timeout: 20_000 }).toMatchObject({ status: 406, body: { code: 0 } });
    const values = await rowsOf({ k: 9999, columns: { word: "cast(word as string)" } }, service, "words");
    expect(values.numRows).toBe(3010);
  });
});

describe("count_rows", () => {
  test.each([
    [{}, 1020],
    [{ version: 1 }, 1000],
    [{ branch: "experiment" }, 900],
    [{ predicate: "id < 10" }, 10],
    [{ predicate: "id < 10", version: 1 }, 10],
    [{ predicate: "category = 'red' AND id < 6", branch: "experiment" }, 2],
    [{ predicate: null, version: null }, 1020],
  ])("%j: %i", async (body, rows) => {
    const answer = await service.call("count_rows", "docs", body);
    expect(answer).toMatchObject({ status: 200, body: rows });
    expect(Number(answer.headers.get("x-lancedb-version"))).toBeGreaterThan(0);
  });

  test("counts all rows without the scope read, but no predicate", async () => {
    const token = "sizes-only";
    expect(await service.call("count_rows", "docs", {}, { token })).toMatchObject({ status: 200, body: 1020 });
    const asked = await service.call("count_rows", "docs", { predicate: "id = 7" }, { token });
    expect(asked).toMatchObject({ status: 403, body: { code: 15, error: expect.stringContaining("read") } });
  });

  test("by GET counts all rows", async () => {
    const answer = await service.call("count_rows", "docs", undefined, { method: "GET" });
    expect(answer).toMatchObject({ status: 200, body: 1020 });
  });

  test.each([
    ["repeat(text, 9) = 'a'", 13, /^predicate: /],
    ["id >", 13, /predicate/],
    ["id % 0 = 1", 13, /divides by zero/],
    ["id + 1", 13, /condition|predicate/],
    ["nope = 1", 12, /no column/],
  ])("%s: code %i", async (predicate, code, says) => {
    const { body } = await service.call("count_rows", "docs", { predicate });
    expect(body).toMatchObject({ code, error: expect.stringMatching(says) });
  });
});
