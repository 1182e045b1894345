import { Field, Schema, tableFromIPC, Utf8 } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { createLog } from "../../../service/telemetry/log.ts";
import { sendRequest } from "../../support/request.ts";
import { isolated, startTestService, useService } from "../../support/service.ts";
import { dictionary, lz4, uncompressed, zstd } from "./streams.ts";
import { asRows, plainSchema, plainStream, streamOf, writesOn } from "./support.ts";

// Within the staleness bound, so that a write must remove cached handles for its caller to see it.
const service = useService({ environment: { ...writesOn, ...isolated, LAKEHEAD_CONSISTENCY_SECONDS: "3600" } });

const call = async (operation: string, table: string, body?: object) => {
  const answer = await service.call(operation, table, body);
  expect(answer, `${operation}: ${JSON.stringify(answer.body)}`).toMatchObject({ status: 200 });
  return answer.body;
};
const send = async (
  operation: string,
  table: string,
  rows: Uint8Array<ArrayBuffer>,
  query = "",
  trailingSlash = false,
) => service.call(operation, table, undefined, asRows(rows, { query, trailingSlash }));
const count = async (table: string, predicate?: string): Promise<unknown> =>
  call("count_rows", table, predicate === undefined ? {} : { predicate });
const values = async (table: string, column: string): Promise<unknown[]> => {
  const response = await fetch(`${service.base}/v1/table/${table}/query`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.token}`, "content-type": "application/json" },
    body: JSON.stringify({ k: 100, vector: [], columns: [column] }),
  });
  return tableFromIPC(new Uint8Array(await response.arrayBuffer()))
    .toArray()
    .map((row) => row[column]);
};

describe("a caller reads its own write at once", () => {
  test("through the life of a table", async () => {
    const life = "life";
    expect((await send("create", life, plainStream([1, 2, 3]))).body).toMatchObject({ version: 1 });
    expect(await count(life)).toBe(3);
    expect((await send("insert", life, plainStream([4]))).body).toMatchObject({ version: 2 });
    expect(await count(life)).toBe(4);
    const merged = await send(
      "merge_insert",
      life,
      plainStream([4, 5], "merged"),
      "?on=id&when_matched_update_all=true&when_not_matched_insert_all=true",
    );
    expect(merged.body).toMatchObject({ num_updated_rows: 1, num_inserted_rows: 1, num_deleted_rows: 0 });
    expect(await count(life, "text = 'merged'")).toBe(2);
    const updated = await call("update", life, { predicate: "id < 3", updates: [["text", "'updated'"]] });
    expect(updated).toMatchObject({ rows_updated: 2, updated_rows: 2 });
    expect(await count(life, "text = 'updated'")).toBe(2);
    expect(await call("delete", life, { predicate: "id = 1" })).toMatchObject({ num_deleted_rows: 1 });
    expect(await count(life)).toBe(4);
    await call("create_index", life, { column: "id", index_type: "BTREE" });
    expect((await call("index/list", life)).indexes).toMatchObject([{ index_name: "id_idx" }]);
    await call("index/id_idx/drop", life);
    expect((await call("index/list", life)).indexes).toEqual([]);
    await call("add_columns", life, { new_columns: [{ name: "twice", expression: "id * 2" }] });
    await call("alter_columns", life, { alterations: [{ path: "twice", rename: "double" }] });
    expect((await values(life, "double")).map(Number).sort()).toEqual([10, 4, 6, 8]);
    await call("drop_columns", life, { columns: ["double"] });
    await call("restore", life, { version: 1 });
    expect((await values(life, "id")).map(Number)).toEqual([1, 2, 3]);
    await call("drop", life);
    expect((await service.call("describe", life)).body).toMatchObject({ code: 4 });
  });

  test("also after the table was dropped and created again", async () => {
    for (const ids of [[1, 2, 3], [4]]) {
      await send("create", "again", plainStream(ids));
      expect(await count("again")).toBe(ids.length);
      expect((await call("stats", "again")).num_rows).toBe(ids.length);
      await call("drop", "again");
    }
  });

  test("on a branch, and main stays as it is", async () => {
    await send("create", "tree", plainStream([1]));
    await call("branches/create", "tree", { name: "side" });
    await send("insert", "tree", plainStream([2]), "?branch=side");
    expect([await count("tree"), await call("count_rows", "tree", { branch: "side" })]).toEqual([1, 2]);
    await call("branches/delete", "tree", { name: "side" });
    expect((await call("branches/list", "tree")).branches).toEqual({});
  });
});

describe("rows", () => {
  test.each([
    ["uncompressed", uncompressed],
    ["compressed with LZ4", lz4],
    ["compressed with ZSTD", zstd],
  ])("%s create a table, and are inserted and merged", async (name, stream) => {
    const table = `codec-${name.split(" ").at(-1)}`;
    await send("create", table, stream);
    await send("insert", table, stream);
    expect(await count(table)).toBe(32);
    expect((await send("merge_insert", table, stream, "?on=vector&when_not_matched_insert_all=true")).status).toBe(200);
    expect(await count(table)).toBe(32);
  });

  test("with dictionaries create a table", async () => {
    expect((await send("create", "words", dictionary)).status).toBe(200);
    expect(await count("words")).toBe(3);
  });

  test("of more than 256 KiB are written", async () => {
    const large = streamOf([{ id: 1n, text: "x".repeat(2 ** 20), vector: [0, 0, 0, 0] }], plainSchema);
    await send("create", "large", large);
    expect((await send("insert", "large", large)).status).toBe(200);
    expect(await count("large", "length(text) = 1048576")).toBe(2);
  });

  test.each([
    ["little", 10],
    ["much", 300 * 1024],
  ])("that arrive together share commits, and only those that are wrong fail: %s text", async (name, length) => {
    const [table, text] = [`joined-${name}`, "x".repeat(length)];
    const ids = (from: number, rows: number) => Array.from({ length: rows }, (_, index) => from + index);
    const reordered = streamOf([{ id: 50n, text, vector: [0, 0, 0, 0] }], plainSchema.select(["text", "id", "vector"]));
    const wrong = streamOf([{ wrong: text }], new Schema([new Field("wrong", new Utf8(), true)]));
    await send("create", table, plainStream([0]));
    const sent = [1, 2, 3, 4, 5].map((rows) => plainStream(ids(10 * rows, rows), text));
    const answers = await Promise.all(
      [...sent, reordered, wrong, new Uint8Array(length)].map((rows) => send("insert", table, rows)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 400, 400]);
    expect(answers.slice(0, 6).map(({ body }) => body.num_inserted_rows)).toEqual([1, 2, 3, 4, 5, 1]);
    expect((await values(table, "id")).map(Number).sort((a, b) => a - b)).toEqual(
      [0, ...[1, 2, 3, 4, 5].flatMap((rows) => ids(10 * rows, rows)).sort((a, b) => a - b)].flatMap((id) =>
        id === 50 ? [50, 50] : [id],
      ),
    );
  });

  test("of more than 256 KiB with one schema become fewer versions than requests", async () => {
    const large = plainStream([1], "x".repeat(300 * 1024));
    await send("create", "fewer", plainStream([0]));
    const answers = await Promise.all(Array.from({ length: 12 }, () => send("insert", "fewer", large)));
    const versions = new Set(answers.map(({ body }) => body.version));
    expect(versions.size).toBeLessThan(12);
    expect(await count("fewer")).toBe(13);
    expect((await call("version/list", "fewer")).versions).toHaveLength(versions.size + 1);
  });

  test("replace those of a table in the mode overwrite, which keeps its versions", async () => {
    await send("create", "replaced", plainStream([1, 2]));
    expect((await send("insert", "replaced", plainStream([3]), "?mode=overwrite")).body).toMatchObject({ version: 2 });
    expect((await send("create", "replaced", plainStream([4, 5, 6]), "?mode=overwrite")).body).toMatchObject({
      version: 3,
    });
    expect([await count("replaced"), await call("count_rows", "replaced", { version: 1 })]).toEqual([3, 2]);
  });

  test("may be none: a schema alone creates a table", async () => {
    expect((await send("create", "empty", streamOf([], plainSchema))).body).toMatchObject({ version: 1 });
    expect(await count("empty")).toBe(0);
  });
});

describe("a table that exists", () => {
  test.each([
    ["LanceDB's client, which retries 409", true, 400],
    ["the catalog's clients", false, 409],
  ])("is refused as %s expects", async (_, trailingSlash, status) => {
    const answer = await send("create", "plain", plainStream([1]), "", trailingSlash);
    expect(answer).toMatchObject({ status, body: { code: 5, error: /already exists/ } });
  });

  test("stays as it is in the mode exist_ok", async () => {
    const before = await count("plain");
    expect((await send("create", "plain", plainStream([99]), "?mode=exist_ok")).status).toBe(200);
    expect(await count("plain")).toBe(before);
  });
});

describe("a write has an audit line", () => {
  const linesOf = (of: string, log = service.log) => log.filter(({ msg, table }) => msg === "write" && table === of);

  test("with its caller, versions, rows and bytes, and not their content", async () => {
    const rows = plainStream([1, 2], "secret words");
    await send("create", "audited", rows);
    await send("insert", "audited", rows);
    await call("delete", "audited", { predicate: "text = 'secret words'" });
    await call("drop", "audited");
    expect(linesOf("audited")).toMatchObject([
      { operation: "create_table", version: 1, rows: { inserted: 2, updated: 0, deleted: 0 } },
      {
        operation: "insert",
        principal: "tester",
        outcome: "committed",
        before: 1,
        version: 2,
        rows: { inserted: 2, updated: 0, deleted: 0 },
        bytes: rows.byteLength,
      },
      { operation: "delete", before: 2, version: 3, rows: { inserted: 0, updated: 0, deleted: 4 } },
      { operation: "drop_table", outcome: "committed" },
    ]);
    expect(JSON.stringify(service.log)).not.toContain("secret words");
    const metrics = await (await fetch(`${service.operationsBase}/metrics`)).text();
    expect(metrics).toMatch(/^lakehead_written_rows_total\{change="deleted"\} [1-9]/m);
    expect(metrics).toMatch(/^lakehead_written_bytes_total [1-9]/m);
    expect(metrics).toMatch(/^lakehead_upload_bytes 0$/m);
  });

  test("unless it was refused, and reads have none", async () => {
    await send("insert", "missing", plainStream([1]));
    await service.call("describe", "plain");
    expect([...linesOf("missing"), ...linesOf("plain").filter(({ operation }) => operation === "describe")]).toEqual(
      [],
    );
  });

  test("at every log level", async () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog("error", { write: (line: string) => lines.push(JSON.parse(line)) });
    log.request({ requestId: "1", operation: "insert", method: "POST", status: 200, durationMs: 1 });
    log.write({ requestId: "1", operation: "insert", outcome: "committed", version: 2 });
    expect(lines).toMatchObject([{ msg: "write", level: "info", version: 2 }]);
  });
});

describe("expressions pass the guard", () => {
  test.each([
    ["delete", { predicate: "repeat('a', 999999999) = 'a'" }],
    ["update", { predicate: "repeat('a', 999999999) = 'a'", updates: [["id", "1"]] }],
    ["update", { updates: [["text", "repeat('a', 999999999)"]] }],
    ["add_columns", { new_columns: [{ name: "more", expression: "repeat('a', 999999999)" }] }],
  ])("of %s: %j", async (operation, body) => {
    expect(await service.call(operation, "plain", body)).toMatchObject({
      status: 400,
      body: { code: 13, error: /function repeat is not allowed/ },
    });
  });

  test.each(["when_matched_update_all_filt", "when_not_matched_by_source_delete_filt"])(
    "of merge_insert: %s",
    async (name) => {
      const query = `?on=id&when_matched_update_all=true&when_not_matched_by_source_delete=true&${name}=${encodeURIComponent("repeat('a', 999999999) = 'a'")}`;
      expect(await send("merge_insert", "plain", plainStream([1]), query)).toMatchObject({
        status: 400,
        body: { code: 13, error: /function repeat is not allowed/ },
      });
    },
  );
});

test("without LAKEHEAD_WRITES, the OpenAPI document has no operation that writes", async () => {
  const readOnly = await startTestService();
  try {
    const { paths } = (await (await fetch(`${readOnly.base}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(paths)).not.toContain("/v1/table/{id}/insert");
    expect(Object.keys(paths)).toContain("/v1/table/{id}/query");
    expect(await sendRequest(readOnly.base, "/v1/table/plain/count_rows")).toMatchObject({ status: 200 });
  } finally {
    await readOnly.stop();
  }
});
