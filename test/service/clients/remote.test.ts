import {
  BooleanQuery,
  BoostQuery,
  type Connection,
  connect,
  MatchQuery,
  MultiMatchQuery,
  Occur,
  Operator,
  PhraseQuery,
  type Query,
  type Table,
  type VectorQuery,
} from "@lancedb/lancedb";
import { type Table as ArrowTable, tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useSharedService } from "../../support/service.ts";
import { vectorOf } from "../../support/tables.ts";
import { withoutTimes } from "./support.ts";

const service = useSharedService();
/** LanceDB's own remote client on the running service, and the SDK on the same directory: they must agree. */
let remote: Connection;
let local: Connection;
let docs: Table;
let embedded: Table;

/** Without the retries of the client, which by default repeats a 409 or 5xx twice after a wait. */
const connectTo = (apiKey: string): Promise<Connection> =>
  connect("db://dev", { apiKey, hostOverride: service.base, clientConfig: { retryConfig: { retries: 0 } } });

beforeAll(async () => {
  remote = await connectTo(service.token);
  local = await connect(service.directory);
  docs = await remote.openTable("docs");
  embedded = await local.openTable("docs");
});
afterAll(() => {
  remote.close();
  local.close();
});

const failure = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(() => undefined, String);
  if (error === undefined) throw new Error("the call was expected to fail");
  return error;
};

/** Operations that the service answered since `from` lines of its log. */
const answered = (from: number): unknown[] =>
  service.log.slice(from).flatMap(({ operation }) => (operation === undefined ? [] : [operation]));

test("openTable calls describe for version and schema", async () => {
  const from = service.log.length;
  const connection = await connectTo(service.token);
  const table = await connection.openTable("docs");
  expect(answered(from)).toEqual(["describe"]);
  expect(await table.version()).toBe(await embedded.version());
  expect(String(await table.schema())).toBe(String(await embedded.schema()));
  connection.close();
});

const vector = vectorOf(1);
const search = (table: Table): VectorQuery => table.query().nearestTo(vector).column("vector").limit(4);
/** Every row that matches: most share their score with others, and the engine orders those differently from call to call. */
const text = (table: Table, query: Parameters<Query["fullTextSearch"]>[0], columns?: string[]): Query =>
  table
    .query()
    .fullTextSearch(query, columns && { columns })
    .limit(9999);

const builders: readonly (readonly [name: string, build: (table: Table) => Query | VectorQuery])[] = [
  ["a scan", (table) => table.query()],
  ["limit and offset", (table) => table.query().limit(3).offset(2)],
  ["a filter", (table) => table.query().where("id > 10 AND score < 5.5").limit(3)],
  ["columns", (table) => table.query().select(["id", "score"]).limit(3)],
  ["expressions", (table) => table.query().select({ next: "id + 1", text: "text" }).limit(3)],
  ["row ids", (table) => table.query().withRowId().limit(3)],
  ["order", (table) => table.query().orderBy({ columnName: "score", ascending: false, nullsFirst: true }).limit(3)],
  ["a vector", search],
  ["several vectors", (table) => search(table).addQueryVector(vectorOf(2))],
  ["a metric", (table) => search(table).distanceType("cosine")],
  ["probes", (table) => search(table).minimumNprobes(3).maximumNprobes(5)],
  ["nprobes and refine", (table) => search(table).nprobes(3).refineFactor(2)],
  ["bounds", (table) => search(table).distanceRange(0.25, 0.75)],
  ["no index", (table) => search(table).bypassVectorIndex()],
  ["fast search", (table) => search(table).fastSearch()],
  ["ef", (table) => table.query().nearestTo(vector).column("other").ef(40).limit(4)],
  ["a filter before", (table) => search(table).where("score < 5")],
  ["a filter after", (table) => search(table).where("score < 5").postfilter()],
  ["a text", (table) => text(table, "hello world")],
  ["a text in one column", (table) => text(table, "hello", ["text"])],
  ["a fast text search", (table) => text(table, "hello", ["text"]).fastSearch()],
  ["match", (table) => text(table, new MatchQuery("hello", "text"))],
  [
    "match with every option",
    (table) => {
      const options = { boost: 2, fuzziness: 1, maxExpansions: 9, operator: Operator.And, prefixLength: 2 };
      return text(table, new BooleanQuery([[Occur.Must, new MatchQuery("hello world", "text", options)]]));
    },
  ],
  [
    "phrase with slop",
    (table) => text(table, new BooleanQuery([[Occur.Should, new PhraseQuery("hello puppy", "text", { slop: 2 })]])),
  ],
  [
    "boost",
    (table) =>
      text(
        table,
        new BoostQuery(new MatchQuery("hello", "text"), new MatchQuery("puppy", "text"), { negativeBoost: 0.25 }),
      ),
  ],
  ["multi_match", (table) => text(table, new MultiMatchQuery("hello", ["text", "title"], { boosts: [1, 3] }))],
  [
    "boolean in boolean",
    (table) => {
      const inner = new BooleanQuery([[Occur.Must, new PhraseQuery("number 3", "text")]]);
      return text(
        table,
        new BooleanQuery([
          [Occur.Must, new MatchQuery("hello", "text")],
          [Occur.Should, new MatchQuery("part", "title")],
          [Occur.MustNot, inner],
        ]),
      );
    },
  ],
];

describe("explainPlan and analyzePlan are the embedded database's own", () => {
  const relative = (plan: string): string => plan.replaceAll(`uri=${service.directory.slice(1)}/`, "uri=");

  test.each(builders)("%s", async (_, build) => {
    expect(await build(docs).explainPlan()).toBe(relative(await build(embedded).explainPlan()));
    const measured = [await build(docs).analyzePlan(), relative(await build(embedded).analyzePlan())];
    expect(measured[0]).toMatch(/^AnalyzeExec/);
    expect(withoutTimes(measured[0])).toBe(withoutTimes(measured[1]));
  });

  test("verbose and metrics of distributed workers are accepted", async () => {
    const plan = await search(docs).explainPlan();
    expect(await search(docs).explainPlan(true)).toBe(plan);
    expect(await search(docs).analyzePlan("per_worker")).toMatch(/^AnalyzeExec/);
  });
});

/** The rows as text, in the order they came; a text search's in order of text, since its ranks have ties. */
const withTiesSettled = (table: ArrowTable): string[] => {
  const rows = table.toArray().map(String);
  return table.schema.names.includes("_score") ? rows.sort() : rows;
};

describe("rows are the embedded database's own", () => {
  test.each(builders)("%s", async (_, build) => {
    const [own, theirs] = [await build(docs).toArrow(), await build(embedded).toArrow()];
    expect(String(own.schema)).toBe(String(theirs.schema));
    expect(own.toArray().map(({ _score }) => _score)).toEqual(theirs.toArray().map(({ _score }) => _score));
    expect(withTiesSettled(own)).toEqual(withTiesSettled(theirs));
  });

  test("a hybrid search, which the client sends as two queries", async () => {
    const hybrid = docs.query().fullTextSearch("puppy").nearestTo(vector).column("vector").limit(3);
    expect(await hybrid.toArray()).toHaveLength(3);
  });

  test("a result without rows has a schema", async () => {
    expect((await docs.query().where("id < 0").toArrow()).numRows).toBe(0);
    const { body } = await service.call("query", "docs", { k: 5, filter: "id < 0", columns: ["id", "text"] });
    const table = tableFromIPC(body);
    expect(table.numRows).toBe(0);
    expect(table.schema.fields.map(({ name }) => name)).toEqual(["id", "text"]);
  });

  test("rows by their ids and offsets", async () => {
    const rows = await embedded.query().withRowId().select(["id"]).limit(5).toArray();
    const ids = rows.map(({ _rowid }) => BigInt(_rowid));
    expect((await docs.takeRowIds(ids).select(["id"]).toArray()).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    expect(await docs.takeOffsets([3, 1, 4]).toArray()).toHaveLength(3);
  });

  test("counts, with a condition and without", async () => {
    expect(await docs.countRows()).toBe(await embedded.countRows());
    expect(await docs.countRows("id > 10 AND category = 'red'")).toBe(
      await embedded.countRows("id > 10 AND category = 'red'"),
    );
    expect(await failure(docs.countRows("nope = 1"))).toContain('"code":12');
  });
});

describe("metadata of a table", () => {
  test("its indices and their statistics", async () => {
    const named = (indices: { name: string; columns: string[]; indexType: string }[]) =>
      indices.map(({ name, columns, indexType }) => ({ name, columns, indexType }));
    expect(named(await docs.listIndices())).toEqual(named(await embedded.listIndices()));
    for (const { name } of await embedded.listIndices())
      expect(await docs.indexStats(name)).toEqual(await embedded.indexStats(name));
    expect(await docs.indexStats("nope")).toBeUndefined();
  });

  test("its versions, with their times", async () => {
    const facts = (versions: { version: number; timestamp: Date }[]) =>
      versions.map(({ version, timestamp }) => [version, timestamp.getTime()]);
    expect(facts(await docs.listVersions())).toEqual(facts(await embedded.listVersions()));
  });

  test("its branches", async () => {
    const names = async (table: Table) => Object.keys(await (await table.branches()).list());
    expect(await names(docs)).toEqual(await names(embedded));
  });
});

describe("names", () => {
  test("of tables, at the root and in a namespace", async () => {
    expect(await remote.tableNames()).toEqual(await local.tableNames());
    expect(await remote.tableNames(["prod", "vectors"])).toEqual(["docs"]);
    expect(await remote.tableNames({ limit: 1 })).toEqual(["docs"]);
    expect(await remote.tableNames({ startAfter: "docs" })).toEqual(["plain"]);
    expect(await failure(remote.tableNames(["nope"]))).toContain('"code":1');
  });

  test("of namespaces", async () => {
    expect((await remote.listNamespaces()).namespaces).toEqual(["prod"]);
    expect((await remote.listNamespaces(["prod"])).namespaces).toEqual(["vectors"]);
    expect((await remote.describeNamespace(["prod"])).properties ?? {}).toEqual({});
    expect(await failure(remote.describeNamespace(["nope"]))).toContain('"code":1');
  });
});

test("stats are the embedded database's own", async () => {
  expect(await docs.stats()).toEqual(await embedded.stats());
});

test("checkout plans at a version, checkoutLatest at the latest again", async () => {
  const table = await remote.openTable("plain");
  const all = (): Promise<string> => table.query().explainPlan();
  expect(await all()).toContain("num_fragments=10,");
  await table.checkout(3);
  expect(await table.version()).toBe(3);
  expect(await all()).toContain("num_fragments=3,");
  expect(await table.query().analyzePlan()).toContain("output_rows=30,");
  await table.checkoutLatest();
  expect(await all()).toContain("num_fragments=10,");
  const error = await failure(table.checkout(999));
  expect(error).toContain("was not found");
  expect(error).toContain('"code":11');
});

describe("tags", () => {
  test("create, getVersion and delete", async () => {
    const tags = await docs.tags();
    await tags.create("remote-release", 2);
    expect(await tags.getVersion("remote-release")).toBe(2);
    expect(await (await embedded.tags()).getVersion("remote-release")).toBe(2);
    await tags.delete("remote-release");
    expect(Object.keys(await (await embedded.tags()).list())).not.toContain("remote-release");
  });

  test("list and update", async () => {
    const tags = await docs.tags();
    await tags.create("moves", 1);
    await tags.update("moves", 2);
    const [own, theirs] = [await tags.list(), await (await embedded.tags()).list()];
    expect(Object.keys(own).sort()).toEqual(Object.keys(theirs).sort());
    expect(own.moves?.version).toBe(2);
    expect(own.moves?.manifestSize).toBe(theirs.moves?.manifestSize);
    await tags.delete("moves");
  });

  test("a tag that the embedded database created is returned", async () => {
    await (await embedded.tags()).create("from-outside", 3);
    expect(await (await docs.tags()).getVersion("from-outside")).toBe(3);
  });

  test("a missing or existing tag is an error with the service's message", async () => {
    const tags = await docs.tags();
    const missing = '"error":"tag not found: the table has no such tag","code":8';
    expect(await failure(tags.getVersion("nope"))).toContain(missing);
    expect(await failure(tags.delete("nope"))).toContain(missing);
    await tags.create("twice", 1);
    expect(await failure(tags.create("twice", 2))).toContain('"error":"the tag already exists","code":9');
    expect(await failure(tags.create("of-no-version", 999))).toContain('"code":11');
    expect(await failure(tags.create("../x", 1))).toContain('"code":13');
  });
});

describe("a table in a namespace", () => {
  test("is not confused with a table of the same name in the root", async () => {
    const nested = await remote.openTable("docs", ["prod", "vectors"]);
    const own = await local.openTable("docs", ["prod", "vectors"]);
    expect(await nested.stats()).toEqual(await own.stats());
    expect(await nested.query().limit(2).explainPlan()).toContain(
      "prod$vectors$docs/data, projection=[id, text, vector]",
    );
    const tags = await nested.tags();
    await tags.create("nested", 1);
    expect(await tags.getVersion("nested")).toBe(1);
    expect(await failure((await docs.tags()).getVersion("nested"))).toContain('"code":8');
  });

  test("a missing table and a missing namespace have their own errors", async () => {
    expect(await failure(remote.openTable("nope"))).toContain('"error":"the table does not exist","code":4');
    expect(await failure(remote.openTable("docs", ["nope"]))).toContain(
      '"error":"the namespace does not exist","code":1',
    );
  });
});

describe("a refusal has its reason", () => {
  test("of a hybrid search", async () => {
    const hybrid = docs.query().fullTextSearch("hello").nearestTo(vector).column("vector").limit(3);
    expect(await failure(hybrid.explainPlan())).toContain(
      "query.full_text_query cannot be combined with vector: a hybrid search is two queries",
    );
  });

  test("of a search with too many candidates", async () => {
    expect(await failure(search(docs).limit(9999).refineFactor(1000).explainPlan())).toContain(
      "(k + offset) times refine_factor times the number of vectors is 9999000, at most 1000000 is allowed",
    );
  });

  test("of a filter that is not SQL and of a missing column", async () => {
    expect(await failure(docs.query().where("id >").explainPlan())).toContain('"code":13');
    expect(await failure(docs.query().where("nope = 1").explainPlan())).toContain(
      '"error":"column not found: the table has no column',
    );
  });

  test("of an unknown key", async () => {
    const error = await failure((await connectTo("wrong")).openTable("docs"));
    expect(error).toContain("401 Unauthorized");
    expect(error).toContain('"code":16');
  });

  test("of unsupported operations are neither a missing table nor retried", async () => {
    const from = service.log.length;
    const calls = [
      () => docs.delete("id < 0"),
      () => docs.createIndex("score"),
      () => remote.dropTable("docs"),
      () => remote.createNamespace(["new"]),
    ];
    for (const call of calls) expect(await failure(call())).toContain("406 Not Acceptable");
    // The client requests the schema before it creates an index.
    expect(answered(from).filter((operation) => operation !== "describe")).toHaveLength(4);
  });
});

test("the client's request id is in the response and the log", async () => {
  const error = await failure(remote.openTable("absent"));
  const id = /request_id=([0-9a-f-]+)/.exec(error)?.[1];
  expect(id).toBeDefined();
  expect(error).toContain(`"instance":"${id}"`);
  expect(service.log.some(({ requestId }) => requestId === id)).toBe(true);
});
