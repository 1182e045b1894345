import { type Connection, connect, Index, MatchQuery, type Table } from "@lancedb/lancedb";
import { Field, FixedSizeList, Float32, Int32, Int64, LargeBinary, Schema, Utf8 } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useService } from "../../support/service.ts";
import { asRows, plainSchema, plainStream, streamOf, writesOn } from "../writes/support.ts";

/** What LanceDB's own clients can ask for, and the SDK's answer on the same directory. */
const service = useService({
  environment: { ...writesOn, LAKEHEAD_MAX_K: "50", LAKEHEAD_CONSISTENCY_SECONDS: "0" },
});
let remote: Connection;
let local: Connection;

beforeAll(async () => {
  const clientConfig = { retryConfig: { retries: 0 } };
  remote = await connect("db://dev", { apiKey: service.token, hostOverride: service.base, clientConfig });
  local = await connect(service.directory, { readConsistencyInterval: 0 });
});
afterAll(() => {
  remote.close();
  local.close();
});

const words = ["puppy", "kitten"];
const animals = (rows: number) =>
  Array.from({ length: rows }, (_, id) => ({
    id,
    text: `cat ${words[id % 2]} ${"dog ".repeat(id % 5)}`,
    vector: [id, 1],
  }));

/** A table of its own for each test: as the client sees it, and as the SDK does. */
const makeTable = async (name: string, rows = 40): Promise<readonly [Table, Table]> => {
  const embedded = await local.createTable(name, animals(rows));
  return [await remote.openTable(name), embedded];
};

const failure = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "no failure",
    (error: unknown) => String(error),
  );

describe("options of a full-text index", () => {
  test("stop words of the caller's are left out, and the index has its block size", async () => {
    const [table, embedded] = await makeTable("stop_words");
    const config = Index.fts({ customStopWords: ["cat"], blockSize: 256 });
    await table.createIndex("text", { config });
    const found = async (word: string) => (await embedded.query().fullTextSearch(word).limit(5).toArray()).length;
    expect([await found("cat"), await found("puppy")]).toEqual([0, 5]);
    const [index] = await embedded.listIndices();
    expect(index?.indexDetails).toMatchObject({ block_size: 256, custom_stop_words: ["cat"] });
  });

  test("icu segments text without spaces", async () => {
    const embedded = await local.createTable("icu", [{ id: 1, text: "我爱北京" }]);
    const table = await remote.openTable("icu");
    await table.createIndex("text", { config: Index.fts({ baseTokenizer: "icu", stem: false }) });
    expect(await embedded.query().fullTextSearch("北京").toArray()).toHaveLength(1);
  });

  test.each([
    ["jieba/default", "base_tokenizer needs the files of a language model"],
    ["lindera/../x", "base_tokenizer needs the files of a language model"],
    ["letters", "base_tokenizer must be one of simple, whitespace, raw, ngram, icu, icu/split"],
  ])("the tokenizer %s is refused with the reason", async (base_tokenizer, error) => {
    const { status, body } = await service.call("create_index", "plain", {
      column: "text",
      index_type: "FTS",
      base_tokenizer,
    });
    expect([status, body.error]).toEqual([400, expect.stringContaining(error)]);
  });

  test("an option that the SDK cannot set is refused unless it is off", async () => {
    const [, embedded] = await makeTable("split");
    const create = (split_identifiers: boolean) =>
      service.call("create_index", "split", { column: "text", index_type: "FTS", split_identifiers });
    expect((await create(true)).body.error).toContain("split_identifiers is not supported by the database's SDK");
    expect(await embedded.listIndices()).toEqual([]);
    expect((await create(false)).status).toBe(200);
  });
});

test("create_index with replace false keeps the index that exists", async () => {
  const [, embedded] = await makeTable("kept_index");
  const create = (body: object) =>
    service.call("create_index", "kept_index", { column: "id", index_type: "BTREE", ...body });
  expect((await create({ replace: false })).status).toBe(200);
  const [before] = await embedded.listIndices();
  const refused = await create({ replace: false });
  expect([refused.status, refused.body.code, refused.body.error]).toEqual([
    409,
    7,
    'the index "id_idx" already exists: send replace: true, another name, or drop it first',
  ]);
  expect((await embedded.listIndices())[0]?.indexUuid).toBe(before?.indexUuid);
  expect((await create({ replace: true })).status).toBe(200);
  expect((await embedded.listIndices())[0]?.indexUuid).not.toBe(before?.indexUuid);
});

describe("what exists is refused by 400 on LanceDB's paths, because its clients retry 409", () => {
  test.each([
    ["create_index", { column: "id", index_type: "BTREE", replace: false }, 7],
    ["tags/create", { tag: "taken", version: 1 }, 9],
    ["branches/create", { name: "taken" }, 23],
  ])("%s", async (operation, body, code) => {
    const [{ name }] = await makeTable(`exists_${code}`);
    const ask = () => service.ask(`/v1/table/${name}/${operation}/`, body);
    expect(await ask()).toMatchObject({ status: 200 });
    expect(await ask()).toMatchObject({
      status: 400,
      body: { code, error: expect.stringContaining("already exists") },
    });
  });
});

describe("the timeout of a merge", () => {
  const merge = (query: string, headers: Record<string, string> = {}) =>
    service.ask(
      `/v1/table/plain/merge_insert?on=id&when_not_matched_insert_all=true${query}`,
      undefined,
      asRows(plainStream([1]), { headers }),
    );

  test.each<[form: string, query: string, headers: Record<string, string>]>([
    ["the specification", "&timeout=0ms", {}],
    ["LanceDB's client", "", { "x-request-timeout-ms": "0" }],
  ])("in the form of %s ends it, with an unknown outcome", async (_, query, headers) => {
    const { status, body } = await merge(query, headers);
    expect([status, body.error]).toEqual([
      424,
      expect.stringMatching(/^merge insert timed out after 0 ms: the outcome of the write is unknown/),
    ]);
  });

  test("that is long enough has no effect", async () => {
    expect((await merge("&timeout=5m")).status).toBe(200);
  });

  test.each([
    ["&timeout=soon", {}, "timeout must be a number with a unit, such as 500ms, 30s or 5m"],
    ["", { "x-request-timeout-ms": "-1" }, "x-request-timeout-ms must be a whole number of milliseconds"],
    ["&use_lsm=true", {}, "use_lsm is true, but merges through the write-ahead log are not supported yet: remove it"],
  ])("%s %j is refused", async (query, headers, error) => {
    const { status, body } = await merge(query, headers as Record<string, string>);
    expect([status, body.error]).toEqual([400, error]);
  });
});

describe("a search", () => {
  test("by full text filters what it found, as LanceDB's clients ask for it", async () => {
    const [table, embedded] = await makeTable("late_filter");
    await embedded.createIndex("text", { config: Index.fts() });
    const query = { k: 10, full_text_query: { query: { match: { terms: "dog", column: "text" } } } };
    const best = await table.query().fullTextSearch(new MatchQuery("dog", "text")).limit(10).toArray();
    const expected = best.filter(({ id }) => id < 20).map(({ id, _score }) => [id, _score]);
    expect(expected.length).toBeGreaterThan(0);
    expect(expected.length).toBeLessThan(10);
    const rows = async (body: object) => {
      const { status, body: file } = await service.call("query", "late_filter", { ...query, ...body });
      expect(status).toBe(200);
      const { tableFromIPC } = await import("apache-arrow");
      return tableFromIPC(file)
        .toArray()
        .map(({ id, _score }) => [id, _score]);
    };
    const sorted = (list: unknown[]) => list.map(String).sort();
    expect(sorted(await rows({ filter: "id < 20", prefilter: false }))).toEqual(sorted(expected));
    expect(await rows({ filter: "id < 20", prefilter: true })).toHaveLength(10);
    expect(await rows({ filter: "id < 0", prefilter: false })).toEqual([]);
  });

  test("by full text allows three edits", async () => {
    const embedded = await local.createTable("edits", [{ id: 1, text: "abcdefgh" }]);
    const table = await remote.openTable("edits");
    await embedded.createIndex("text", { config: Index.fts({ stem: false }) });
    const find = (word: string, fuzziness: number) =>
      table
        .query()
        .fullTextSearch(new MatchQuery(word, "text", { fuzziness }))
        .limit(5)
        .toArray();
    expect(await find("abcdexxx", 2)).toHaveLength(0);
    expect(await find("abcdexxx", 3)).toHaveLength(1);
    expect(await failure(find("abcdexxx", 4))).toContain("fuzziness is 4, at most 3 is possible");
    expect(await failure(find("abcdefghij".repeat(3), 3))).toContain("a word is too long for this fuzziness");
  });

  test("for more neighbours than the limit returns all rows of a smaller table", async () => {
    const [table] = await makeTable("small", 40);
    expect(await table.vectorSearch([1, 1]).limit(20_000).toArray()).toHaveLength(40);
    const [larger] = await makeTable("larger", 51);
    expect(await failure(larger.vectorSearch([1, 1]).limit(20_000).toArray())).toContain(
      "k is 20000, at most 50 is allowed",
    );
  });

  test("sorts a table that is not larger than the limit without a limit", async () => {
    const [table] = await makeTable("sorted", 50);
    const ordering = { columnName: "id", ascending: false, nullsFirst: false };
    const rows = await table.query().orderBy([ordering]).toArray();
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, index) => 49 - index));
    const [larger] = await makeTable("unsorted", 51);
    expect(await failure(larger.query().orderBy([ordering]).toArray())).toContain("k is unlimited: send at most 50");
  });
});

describe("columns", () => {
  const schema = new Schema([
    new Field("count", new Int32(), true),
    new Field("vector", new FixedSizeList(4, new Field("item", new Float32(), true)), true),
  ]);
  const add = (name: string, fields: Schema, rows: readonly Record<string, unknown>[] = []) =>
    service.call("add_columns", name, undefined, asRows(streamOf(rows, fields)));

  test("of an Arrow schema are added without values", async () => {
    const embedded = await local.createTable("empty_columns", [{ id: 1 }]);
    expect((await add("empty_columns", schema)).status).toBe(200);
    expect((await embedded.schema()).fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      "id Float64",
      "count Int32",
      "vector FixedSizeList[4]<Float32>",
    ]);
    expect(await embedded.countRows("count is null and vector is null")).toBe(1);
  });

  test.each<[what: string, fields: Schema, rows: Record<string, unknown>[], error: string]>([
    ["with rows", new Schema([new Field("n", new Int32(), true)]), [{ n: 1 }], "the stream has rows"],
    ["that cannot be null", new Schema([new Field("n", new Int32(), false)]), [], 'the column "n" has no values yet'],
    [
      "of blobs of the first kind",
      new Schema([new Field("n", new LargeBinary(), true, new Map([["lance-encoding:blob", "true"]]))]),
      [],
      "the table's file format has no blob columns of this kind",
    ],
    ["that exist", new Schema([new Field("text", new Utf8(), true)]), [], 'the column "text" exists'],
  ])("%s are refused", async (_, fields, rows, error) => {
    const { status, body } = await add("plain", fields, rows);
    expect([status, body.error]).toEqual([400, expect.stringContaining(error)]);
  });

  test("of blobs of the first kind are created, in the file format that has them", async () => {
    const blob = new Field("blob", new LargeBinary(), true, new Map([["lance-encoding:blob", "true"]]));
    const blobs = new Schema([new Field("id", new Int64(), true), blob]);
    const rows = [{ id: 1n, blob: new Uint8Array([1, 2, 3]) }];
    const created = await service.call("create", "blobs", undefined, asRows(streamOf(rows, blobs)));
    expect(created.status).toBe(200);
    const table = await local.openTable("blobs");
    expect(await table.countRows()).toBe(1);
    expect((await table.schema()).fields[1]?.metadata.get("lance-encoding:blob")).toBe("true");
  });
});

test("create tells the catalog's clients where the table is", async () => {
  const { status, body } = await service.call("create", "located", undefined, asRows(streamOf([], plainSchema)));
  const described = await service.call("describe", "located");
  expect([status, body.location]).toEqual([200, described.body.location]);
  expect(body.location).toContain("located.lance");
});

describe("the write-ahead log of a table", () => {
  test("that has none is null", async () => {
    const [table] = await makeTable("without_log");
    expect((await table.getLsmWriteSpec()) ?? null).toBeNull();
    expect((await service.call("get_lsm_write_spec", "without_log")).body).toEqual({ lsm_write_spec: null });
  });

  test("is described as the SDK describes it", async () => {
    const key = new Field("id", new Int64(), false);
    const embedded = await local.createEmptyTable("with_log", new Schema([key, new Field("text", new Utf8(), true)]));
    await embedded.setUnenforcedPrimaryKey("id");
    await embedded.setLsmWriteSpec({ specType: "bucket", column: "id", numBuckets: 4, maintainedIndexes: [] });
    const table = await remote.openTable("with_log");
    expect(await table.getLsmWriteSpec()).toEqual(await embedded.getLsmWriteSpec());
    expect(await embedded.getLsmWriteSpec()).toMatchObject({ specType: "bucket", column: "id", numBuckets: 4 });
  });

  test.each([
    ["absent", 404, 4],
    ["absent$plain", 404, 1],
  ])("of %s is an error", async (name, status, code) => {
    const answer = await service.call("get_lsm_write_spec", name);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });
});
