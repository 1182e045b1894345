import { Field, Int64, Schema, tableFromIPC, Uint64 } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../../service/config/config.ts";
import { openInProcess } from "../../../service/lance/in-process-database.ts";
import { useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { asRows, plainStream, streamOf, writesOn } from "../writes/support.ts";

const tokens = {
  narrow: "token-of-a-manager-of-views-alone",
  reader: "token-of-a-reader",
  writer: "token-of-a-writer-who-does-not-read",
} as const;

const anyTokens = { LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([staticToken("any", "any-token", ["read"])]) };

const service = useService({
  tokens: [
    staticToken("narrow", tokens.narrow, ["manage", "write", "read"], ["mine_*", "view_*"]),
    staticToken("reader", tokens.reader, ["read"]),
    staticToken("writer", tokens.writer, ["write", "manage"]),
  ],
  environment: { ...writesOn, LAKEHEAD_CONSISTENCY_SECONDS: "0", LAKEHEAD_STABLE_ROW_IDS: "on" },
});
beforeAll(async () => {
  for (const id of ["area", "area$inner"])
    expect((await service.ask(`/v1/namespace/${id}/create`, {})).status).toBe(200);
});

let made = 0;
const makeSource = async (name = `source_${++made}`): Promise<string> => {
  expect((await service.call("create", name, undefined, asRows(plainStream([1, 2, 3])))).status).toBe(200);
  return name;
};
const view = (operation: string, name: string, body: object = {}, token?: string) =>
  service.ask(`/v1/materialized_view/${name}/${operation}`, body, token === undefined ? {} : { token });
const ended = async (id: string) => {
  for (;;) {
    const { body } = await service.ask("/v1/jobs/describe", { job_id: id });
    if (body.job_state !== "IN_PROGRESS") return body;
  }
};
const refreshed = async (name: string, body: object = {}) => {
  const answer = await view("refresh", name, body);
  expect([answer.status, answer.body]).toEqual([202, { job_id: expect.any(String) }]);
  return ended(answer.body.job_id);
};
const makeView = async (source: string, rest = "SELECT id, id * 2 AS double FROM"): Promise<string> => {
  const name = `view_${++made}`;
  const { status, body } = await view("create", name, { query: `${rest} ${source}` });
  expect([status, body]).toEqual([202, { version: 1, job_id: expect.any(String) }]);
  expect(await ended(body.job_id)).toMatchObject({ job_type: "refresh_view", job_state: "DONE" });
  return name;
};
const countOf = async (table: string, predicate?: string): Promise<number> =>
  (await service.call("count_rows", table, predicate === undefined ? {} : { predicate })).body;

describe("a materialized view", () => {
  test("has the rows of its query, and follows what is added, changed and removed without a rebuild", async () => {
    const source = await makeSource();
    const name = await makeView(source, 'SELECT id, id * 2 AS "double" FROM');
    expect(await countOf(name, "double = id * 2")).toBe(3);
    await service.call("insert", source, undefined, asRows(plainStream([4])));
    await service.call("update", source, { updates: [["id", "id + 10"]], predicate: "id = 1" });
    await service.call("delete", source, { predicate: "id = 2" });
    const { result } = await refreshed(name);
    expect(result).toEqual({
      mode: "incremental",
      rows_written: expect.any(Number),
      source_version: 4,
      version: expect.any(Number),
    });
    expect([await countOf(name), await countOf(name, "double = id * 2"), await countOf(name, "id = 11")]).toEqual([
      3, 3, 1,
    ]);
    expect((await refreshed(name)).result).toMatchObject({ mode: "no_op", rows_written: 0 });
    expect((await refreshed(name, { full: true })).result).toMatchObject({ mode: "rebuild", rows_written: 3 });
    expect((await refreshed(name, { source_version: 1 })).result).toMatchObject({ source_version: 1 });
    expect(await countOf(name, "id = 11")).toBe(0);
  });

  test("keeps filter and limit, is described, listed by pages among the permitted tables, and dropped", async () => {
    const source = await makeSource("mine_source");
    await makeSource("mine_table");
    const name = "mine_view";
    const query = "SELECT \"id\", text AS words FROM `mine_source` WHERE id > 1 AND text <> 'WHERE' LIMIT 1";
    expect((await view("create", name, { query, with_no_data: true }, tokens.narrow)).body).toEqual({ version: 1 });
    expect(await countOf(name)).toBe(0);
    const described = await view("describe", name, {}, tokens.reader);
    expect(described.body).toMatchObject({
      name,
      source_table: source,
      source_namespace: [],
      projections: [
        { output_column: "id", expression: "`id`" },
        { output_column: "words", expression: "text" },
      ],
      filter: "id > 1 AND text <> 'WHERE'",
      limit: 1,
    });
    expect((await refreshed(name)).result).toMatchObject({ rows_written: 1 });
    const list = (query: string) =>
      service.ask(`/v1/namespace/$/materialized_view/list${query}`, undefined, { method: "GET", token: tokens.narrow });
    expect((await list("?limit=2")).body).toEqual({ views: [], page_token: "mine_table" });
    expect((await list("?page_token=mine_table")).body.views).toContain(name);
    const incarnation = described.body.incarnation;
    expect((await view("refresh", name, { expected_incarnation: "another" })).status).toBe(409);
    expect((await view("refresh", name, { expected_incarnation: incarnation })).status).toBe(202);
    expect((await view("drop", name)).body).toEqual({});
    expect((await view("describe", name)).status).toBe(404);
    expect((await service.call("describe", source)).status).toBe(200);
  });

  test.each([
    ["in a namespace, of a table at the root", "", "area$"],
    ["at the root, of a table in a namespace", "area$", ""],
    ["in another namespace than its table", "area$", "area$inner$"],
  ])("%s, has its rows, follows it without a rebuild, and is described and listed", async (_, of, at) => {
    const source = await makeSource(`${of}source_${++made}`);
    const name = `${at}view_${++made}`;
    const query = `SELECT id, id * 2 AS double FROM ${source.replaceAll("$", ".")} WHERE id > 1`;
    const { status, body } = await view("create", name, { query });
    expect([status, body]).toEqual([202, { version: 1, job_id: expect.any(String) }]);
    expect(await ended(body.job_id)).toMatchObject({ job_state: "DONE", result: { mode: "rebuild", rows_written: 2 } });
    await service.call("insert", source, undefined, asRows(plainStream([4])));
    await service.call("delete", source, { predicate: "id = 2" });
    expect(await refreshed(name)).toMatchObject({ job_state: "DONE", result: { mode: "incremental" } });
    expect([await countOf(name), await countOf(name, "double = id * 2")]).toEqual([2, 2]);
    const parts = source.split("$");
    expect((await view("describe", name)).body).toMatchObject({
      name: name.split("$").at(-1),
      source_table: parts.at(-1),
      source_namespace: parts.slice(0, -1),
      inputs: ["id"],
    });
    const namespace = at === "" ? "$" : at.slice(0, -1);
    const list = `/v1/namespace/${namespace}/materialized_view/list`;
    expect((await service.ask(list, undefined, { method: "GET" })).body.views).toContain(name.split("$").at(-1));
    expect((await view("create", name, { query })).status).toBe(409);
    expect((await view("drop", name)).body).toEqual({});
  });

  test("takes no rows, columns or values but its own", async () => {
    const source = await makeSource();
    const name = await makeView(source);
    for (const [operation, body, options] of [
      ["insert", undefined, asRows(plainStream([9]))],
      ["update", { updates: [["id", "1"]] }],
      ["delete", { predicate: "id = 1" }],
      ["add_columns", { new_columns: [{ name: "more", expression: "1" }] }],
      ["drop_columns", { columns: ["id"] }],
    ] as const)
      expect(await service.call(operation, name, body, options), operation).toMatchObject({
        status: 400,
        body: { code: 20, error: expect.stringContaining("is a materialized view") },
      });
    expect(await countOf(name)).toBe(3);
  });

  test("is refused for a table whose row ids are not stable, with the remedy", async () => {
    const { status, body } = await view("create", "of_an_old_table", { query: "SELECT id FROM plain" });
    expect([status, body]).toEqual([
      409,
      expect.objectContaining({
        code: 19,
        error: expect.stringContaining("LAKEHEAD_STABLE_ROW_IDS=on, create it anew"),
      }),
    ]);
    expect((await view("describe", "of_an_old_table")).status).toBe(404);
    const elsewhere = await view("create", "area$of_an_old_table", { query: "SELECT id FROM plain" });
    expect([elsewhere.status, elsewhere.body.error]).toEqual([409, body.error]);
    expect((await view("describe", "area$of_an_old_table")).status).toBe(404);
  });

  test("is refused by name for all that is no query over one table", async () => {
    const source = await makeSource();
    for (const [query, status, text] of [
      ["SELECT a.id FROM t a", 400, /WHERE, LIMIT or the end is missing at character 20/],
      ["SELECT id FROM t AS a", 406, /another name of the table/],
      ["SELECT id FROM t, u", 406, /a second table/],
      ["SELECT id FROM t JOIN u ON true", 406, /a join/],
      ["SELECT id FROM f(1)", 406, /a function in FROM/],
      ["SELECT id FROM (SELECT 1)", 406, /a query in FROM/],
      ["SELECT DISTINCT id FROM t", 406, /DISTINCT/],
      ["SELECT id FROM t GROUP BY id", 406, /GROUP BY/],
      ["SELECT id FROM t WHERE id > 1 ORDER BY id", 406, /ORDER BY/],
      ["SELECT id FROM t LIMIT 1 OFFSET 2", 406, /OFFSET/],
      ["SELECT id FROM t UNION SELECT 1", 406, /UNION/],
      ["WITH a AS (SELECT 1) SELECT id FROM a", 406, /WITH/],
      ["SELECT id FROM t; DROP TABLE t", 400, /a semicolon/],
      ["DELETE FROM t", 400, /SELECT is missing/],
      ["SELECT FROM t", 400, /a column is missing/],
      ["SELECT id, * FROM t", 400, /only column/],
      ["SELECT id + 1 FROM t", 400, /has no name/],
      ["SELECT id FROM t LIMIT x", 400, /LIMIT takes/],
      ["SELECT id FROM t LIMIT", 400, /LIMIT takes/],
      [`SELECT (SELECT 1) AS a FROM ${source}`, 400, /sub-query/],
      [`SELECT sum(id) AS a FROM ${source}`, 400, /sum/],
      [`SELECT now() AS a FROM ${source}`, 400, /cannot be computed for each row alone/],
      [`SELECT id AS __source_row_id FROM ${source}`, 400, /is reserved/],
      [`SELECT id, id FROM ${source}`, 400, /exists/],
      [`SELECT missing FROM ${source}`, 404, /missing/],
      [`SELECT id FROM ${source} WHERE missing > 1`, 404, /missing/],
      [`SELECT id FROM ${source} WHERE id`, 400, /no predicate/],
      ["SELECT id FROM nowhere_at_all", 404, /does not exist/],
      ["SELECT id FROM team.t", 404, /does not exist/],
    ] as const) {
      const answer = await view("create", "refused", { query });
      expect([query, answer.status, answer.body.error]).toEqual([query, status, expect.stringMatching(text)]);
    }
    const nowhere = await view("create", "nowhere$refused", { query: `SELECT id FROM ${source}` });
    expect([nowhere.status, nowhere.body.code]).toEqual([404, 1]);
    expect((await view("describe", "refused")).status).toBe(404);
  });

  test("is refused in the form of the specification, with its reason", async () => {
    const body = { kind: "query", source_query: "e30=", output_schema: "", with_no_data: true, auto_refresh: false };
    const { status, body: answer } = await view("create", "of_geneva", body);
    expect([status, answer.code, answer.error]).toEqual([406, 0, expect.stringContaining("Geneva")]);
  });
});

describe("the rights of a materialized view's caller", () => {
  test("must include its source, when it is created and when it is refreshed", async () => {
    const source = await makeSource();
    for (const token of [tokens.narrow, tokens.writer, tokens.reader])
      expect((await view("create", "view_stolen", { query: `SELECT id FROM ${source}` }, token)).status).toBe(403);
    const name = await makeView(source);
    for (const token of [tokens.narrow, tokens.writer, tokens.reader])
      expect((await view("refresh", name, {}, token)).status).toBe(403);
    expect((await view("drop", name, {}, tokens.reader)).status).toBe(403);
  });

  test("are asked for what a table's own metadata names as its source", async () => {
    await makeSource("secret_source");
    const definition = JSON.stringify({
      inputs: ["id"],
      kind: "select",
      projections: [{ expression: "id", output: "id" }],
      source_table: "secret_source",
    });
    const schema = new Schema(
      [new Field("id", new Int64(), true), new Field("__source_row_id", new Uint64(), true)],
      new Map([["mv.definition", definition]]),
    );
    const create = await service.call("create", "view_forged", undefined, {
      ...asRows(streamOf([], schema)),
      token: tokens.narrow,
    });
    expect(create.status).toBe(200);
    expect((await view("refresh", "view_forged", {}, tokens.narrow)).status).toBe(403);
    for (const [kind, source_namespace, status] of [
      ["namespaced_select", ["area"], 403],
      ["select", ["area"], 406],
      ["namespaced_select", [], 406],
    ] as const) {
      const text = JSON.stringify({ ...JSON.parse(definition), kind, source_namespace, source_table: "secret_source" });
      const elsewhere = new Schema(schema.fields, new Map([["mv.definition", text]]));
      const name = `view_forged_${++made}`;
      await service.call("create", name, undefined, { ...asRows(streamOf([], elsewhere)), token: tokens.narrow });
      expect([kind, (await view("refresh", name, {}, tokens.narrow)).status]).toEqual([kind, status]);
    }
    const other = definition.replace('"id","output"', '"random()","output"');
    const hostile = new Schema(schema.fields, new Map([["mv.definition", other]]));
    await service.call("create", "view_hostile", undefined, asRows(streamOf([], hostile)));
    expect((await view("refresh", "view_hostile")).status).toBe(400);
  });

  test("do not help against another definition that was written while the job waited", async () => {
    const name = await makeView(await makeSource());
    const { body } = await view("describe", name);
    const database = openInProcess(readConfig({ LAKEHEAD_DATABASE: service.directory, ...anyTokens }).database);
    const table = { namespace: [], name, parts: [name], key: name };
    const stale = { definition: "{}", incarnation: body.incarnation };
    await expect(database.refreshView(table, stale, { full: true })).rejects.toMatchObject({ code: 14 });
    await database.close();
  });
});

test("a job that refreshes a view fails with a reason when its source is gone, and keeps its events", async () => {
  const source = await makeSource();
  const name = await makeView(source);
  await service.call("drop", source);
  const { body } = await view("refresh", name);
  expect(await ended(body.job_id)).toMatchObject({
    job_state: "FAILED",
    failure: { message: expect.stringMatching(/does not exist/) },
  });
  const steps = async (): Promise<unknown[]> => {
    const events = await service.ask("/v1/jobs/query_events", { job_id: body.job_id });
    return [...(tableFromIPC(events.body).getChild("state") ?? [])];
  };
  await expect.poll(steps).toEqual(["IN_PROGRESS", "claim", "FAILED"]);
});
