/** @lancedb/lancedb for Node as a remote database (`db://`), each of its operations. */
import { strict as assert } from "node:assert";
import { type Connection, connect, MatchQuery, type Table } from "@lancedb/lancedb";
import packageFile from "../../../package.json" with { type: "json" };
import { fails } from "./checks.ts";
import { refused } from "./remote-refused.ts";
import { writes } from "./remote-writes.ts";
import { finish, startReport, unseen, watched, world } from "./report.ts";

const say = await startReport("Node remote", `@lancedb/lancedb ${packageFile.dependencies["@lancedb/lancedb"]}`);
const { endpoint, keys, docs, plain, nested, awkward } = world;

/** Connects as a user does, with the client's retries. */
const connectWith = (apiKey: string): Promise<Connection> => connect("db://dev", { apiKey, hostOverride: endpoint });

const called = {
  connection: new Set<string>(),
  table: new Set<string>(),
  tags: new Set<string>(),
  branches: new Set<string>(),
};
const plainConnection = await connectWith(keys.all);
const connection = watched(plainConnection, called.connection);
const plainTable = await connection.openTable("docs");
const table = watched(plainTable, called.table);
const plainTags = await table.tags();
const tags = watched(plainTags, called.tags);
const plainBranches = await table.branches();
const branches = watched(plainBranches, called.branches);
const scored = watched(await connection.openTable("plain"), called.table);

/** State of `plain` at a version. A connection's handles of one table share their checked-out version. */
const at = async <Result>(version: number | string, look: () => Promise<Result>): Promise<Result> => {
  await scored.checkout(version);
  try {
    return await look();
  } finally {
    await scored.checkoutLatest();
  }
};

const tableNotFound = (name: string) => new RegExp(`Table '${name}.*' was not found`);
const badRequest = /400 Bad Request.*"code":13/;

const vectorQuery = (of: Table) => of.query().nearestTo(docs.vector).column("vector").bypassVectorIndex().limit(4);
const ids = async (rows: Promise<{ id: unknown }[]>): Promise<number[]> => (await rows).map(({ id }) => Number(id));

const arrowTypes: Readonly<Record<string, string>> = { integer: "Int64", text: "Utf8", number: "Float64" };
const expectedSchema = Object.entries(docs.columns).map(([name, kind]) => [
  name,
  typeof kind === "string" ? arrowTypes[kind] : `FixedSizeList[${kind.vector}]<Float32>`,
]);

await say("describe", "schema and version of an opened table", async () => {
  const schema = await table.schema();
  assert.deepEqual(
    schema.fields.map(({ name, type }) => [name, String(type)]),
    expectedSchema,
  );
  assert.equal(await table.version(), docs.version);
  assert.deepEqual(await table.blobColumns(), []);
});
await say("describe", "a table in a namespace", async () => {
  const own = await connection.openTable(nested.name, [...nested.namespace]);
  assert.equal(await own.version(), 2);
});
await say("describe", "a table whose id has blanks and signs", async () => {
  const own = await connection.openTable(awkward.name, [...awkward.namespace]);
  assert.equal((await own.stats()).numRows, awkward.rows);
});
await say("describe", "by a bearer token, which wins over the key", async () => {
  const extraHeaders = { authorization: `Bearer ${keys.all}` };
  const other = await connect("db://dev", {
    apiKey: "unknown",
    hostOverride: endpoint,
    clientConfig: { extraHeaders },
  });
  assert.equal(await (await other.openTable("docs")).version(), docs.version);
});
await say("describe", "checkout of a version and back", async () => {
  assert.equal(await at(3, () => scored.version()), 3);
  assert.equal(await scored.version(), plain.versions);
});
await say("describe", "a version that is not there", () => fails(tableNotFound("plain"), () => scored.checkout(99)));
await say("describe", "a table that is not there", () =>
  fails(tableNotFound("nope"), () => connection.openTable("nope")),
);
await say("describe", "a namespace that is not there", () =>
  fails(tableNotFound("docs"), () => connection.openTable("docs", ["nope"])),
);
await say("describe", "an unknown key", async () => {
  const stranger = await connectWith("unknown");
  await fails(/401 Unauthorized/, () => stranger.openTable("docs"));
});
await say("describe", "a table that the key does not permit", async () => {
  const limited = await connectWith(keys.docsStats);
  await fails(/403 Forbidden/, () => limited.openTable("plain"));
});

await say("explain_plan", "a scan", async () => {
  assert.match(
    await table.query().where("id > 10").select(["id"]).limit(3).explainPlan(),
    /^LanceRead: uri=docs\.lance/,
  );
});
await say("explain_plan", "a vector", async () => {
  assert.match(await vectorQuery(table).explainPlan(true), /KNNVectorDistance: metric=l2/);
});
await say("explain_plan", "a text", async () => {
  const query = table.query().fullTextSearch(new MatchQuery("puppy", "text")).limit(3);
  assert.match(await query.explainPlan(), /MatchQuery: column=text, query=puppy/);
});
await say("explain_plan", "an unknown column", () =>
  fails(/400 Bad Request.*column not found/s, () => table.query().where("nope = 1").explainPlan()),
);
await say("explain_plan", "a filter that is no SQL", () =>
  fails(badRequest, () => table.query().where("id >").explainPlan()),
);

await say("get_lsm_write_spec", "there is none", async () => {
  assert.equal(await table.getLsmWriteSpec(), undefined);
});

await say("analyze_plan", "a scan at a version", async () => {
  const plan = await at(3, () => scored.query().analyzePlan());
  assert.match(plan, new RegExp(`^AnalyzeExec.*output_rows=${3 * plain.rowsPerVersion},`, "s"));
});
await say("analyze_plan", "a vector, with metrics of each worker", async () => {
  assert.match(await vectorQuery(table).analyzePlan("per_worker"), /^AnalyzeExec.*output_rows=4,/s);
});
await say("analyze_plan", "a filter that is no SQL", () =>
  fails(badRequest, () => table.query().where("id >").analyzePlan()),
);
await say("analyze_plan", "a key without the scope", async () => {
  const limited = await (await connectWith(keys.docsStats)).openTable("docs");
  await fails(/403 Forbidden/, () => limited.query().limit(1).analyzePlan());
});

await say("stats", "of a table", async () => {
  const stats = await table.stats();
  assert.deepEqual([stats.numRows, stats.totalBytes, stats.numIndices], [docs.rows, docs.bytes, docs.indices.length]);
  assert.deepEqual(
    [stats.fragmentStats.numFragments, stats.fragmentStats.lengths.max],
    [docs.fragments, docs.longestFragment],
  );
});
await say("stats", "of a table in a namespace", async () => {
  const own = await connection.openTable(nested.name, [...nested.namespace]);
  assert.equal((await own.stats()).numRows, nested.rows);
});
await say("stats", "of a branch", async () => {
  const branch = await branches.checkout("experiment");
  assert.equal((await branch.stats()).numRows, docs.branchRows);
});

await say("count_rows", "all and some", async () => {
  assert.equal(await table.countRows(), docs.rows);
  assert.equal(await table.countRows("id < 10"), 10);
});
await say("count_rows", "at a version", async () => {
  const rows = await at(3, () => scored.countRows());
  assert.equal(rows, 3 * plain.rowsPerVersion);
});
await say("count_rows", "a filter that is no SQL", () => fails(badRequest, () => table.countRows("id >")));
await say("count_rows", "an unknown column", () =>
  fails(/400 Bad Request.*column not found/s, () => table.countRows("nope = 1")),
);

await say("query", "columns of a filter", async () => {
  const rows = await table.query().where("id >= 10 AND id < 13").select(["id", "text"]).toArray();
  assert.deepEqual(rows.map(({ id }) => Number(id)).sort(), [10, 11, 12]);
  assert.deepEqual(Object.keys(rows[0] ?? {}), ["id", "text"]);
});
await say("query", "a vector", async () => {
  assert.deepEqual(await ids(vectorQuery(table).select(["id"]).toArray()), docs.nearest);
});
await say("query", "several vectors", async () => {
  const rows = await vectorQuery(table).addQueryVector(docs.vector).select(["id"]).toArray();
  assert.deepEqual(rows.map(({ query_index }) => query_index).sort(), [0, 0, 0, 0, 1, 1, 1, 1]);
});
await say("query", "a text", async () => {
  const rows = await table
    .query()
    .fullTextSearch("puppy", { columns: ["text"] })
    .select(["text"])
    .limit(5)
    .toArray();
  assert.deepEqual(
    rows.map(({ text }) => String(text).includes("puppy")),
    Array(5).fill(true),
  );
});
await say("query", "expressions and row ids", async () => {
  const rows = await table.query().where("id = 7").select({ next: "id + 1" }).withRowId().toArray();
  assert.deepEqual(
    rows.map(({ next, _rowid }) => [Number(next), typeof _rowid]),
    [[8, "bigint"]],
  );
});
await say("query", "everything at a version", async () => {
  const rows = await at(2, () => scored.toArrow());
  assert.equal(rows.numRows, 2 * plain.rowsPerVersion);
});
await say("query", "rows by offset and by id", async () => {
  assert.deepEqual(await ids(scored.takeOffsets([0, 2]).select(["id"]).toArray()), [0, 2]);
  assert.deepEqual(await ids(scored.takeRowIds([0n, 2n]).select(["id"]).toArray()), [0, 2]);
});
await say("query", "nothing found", async () => {
  assert.deepEqual(await table.query().where("id < 0").toArray(), []);
});
await say("query", "a filter that is no SQL", () =>
  fails(/400 Bad Request/, () => table.query().where("id >").toArray()),
);
await say("query", "a vector of another length", () =>
  fails(/400 Bad Request/, () => table.query().nearestTo([1, 2]).column("vector").limit(1).toArray()),
);

await say("tags/create", "a name for a version", async () => {
  await tags.create("v1", 1);
  assert.equal(await tags.getVersion("v1"), 1);
});
await say("tags/create", "a name that is taken, without a retry", () =>
  fails(/400 Bad Request.*"code":9/s, () => tags.create("v1", 2)),
);
await say("tags/create", "a version that is not there", () => fails(/"code":11/, () => tags.create("late", 99)));
await say("tags/create", "a name that cannot be", () => fails(badRequest, () => tags.create("../x", 1)));
await say("tags/version", "a tag that is there", async () => assert.equal(await tags.getVersion("v1"), 1));
await say("tags/version", "a tag that is not", () => fails(/"code":8/, () => tags.getVersion("nope")));
await say("tags/version", "checkout of a tag", async () => {
  const own = await scored.tags();
  await own.create("third", 3);
  assert.equal(await at("third", () => scored.version()), 3);
  await own.delete("third");
});
await say("tags/list", "the tags and their versions", async () => {
  await tags.create("v2", 2);
  const list = await tags.list();
  assert.deepEqual(
    Object.entries(list)
      .map(([name, { version }]) => [name, version])
      .sort(),
    [
      ["v1", 1],
      ["v2", 2],
    ],
  );
});
await say("tags/list", "none", async () => assert.deepEqual(await (await scored.tags()).list(), {}));
await say("tags/update", "another version", async () => {
  await tags.update("v2", 3);
  assert.equal(await tags.getVersion("v2"), 3);
});
await say("tags/update", "a tag that is not there", () => fails(/"code":8/, () => tags.update("nope", 1)));
await say("tags/update", "a version that is not there", () => fails(/"code":11/, () => tags.update("v2", 99)));
await say("tags/delete", "a tag", async () => {
  await tags.delete("v2");
  await tags.delete("v1");
});
await say("tags/delete", "a tag that is not there", () => fails(/"code":8/, () => tags.delete("v1")));

await say("version/list", "every version", async () => {
  const versions = await scored.listVersions();
  assert.deepEqual(
    versions.map(({ version }) => version).sort((a, b) => a - b),
    Array.from({ length: plain.versions }, (_, at) => at + 1),
  );
  assert.ok(versions.every(({ timestamp }) => timestamp.getTime() > Date.UTC(2020)));
});
await say("index/list", "every index", async () => {
  const list = (await table.listIndices()).map(({ name, indexType, columns }) => ({ name, type: indexType, columns }));
  const byName = (rows: readonly { name: string }[]) => rows.toSorted((a, b) => a.name.localeCompare(b.name));
  assert.deepEqual(byName(list), byName(docs.indices));
});
await say("index/list", "none", async () => assert.deepEqual(await scored.listIndices(), []));
await say("index/list", "waiting for an index that is complete", async () => {
  const indexed = docs.indices.find(({ name }) => name === "vector_idx");
  assert.ok(indexed);
  await fails(/timed? ?out|not.*within/i, () => table.waitForIndex([indexed.name], 1));
});
await say("index/{index_name}/stats", "of a vector index", async () => {
  assert.deepEqual({ ...(await table.indexStats("vector_idx")) }, docs.vectorIndex);
});
await say("index/{index_name}/stats", "of an index that is not there", async () => {
  assert.equal(await table.indexStats("nope"), undefined);
});
await say("index/list", "tokens of a full-text index", async () => {
  const tokens = await table.tokenize("Hello Puppies", { column: "text" });
  assert.deepEqual(
    tokens.map(({ text }) => text),
    ["hello", "puppi"],
  );
});
await say("branches/list", "the branches", async () => {
  assert.deepEqual(Object.keys(await branches.list()), ["experiment"]);
});

await say("namespace/table/list", "of the root, of a namespace, in pages", async () => {
  assert.deepEqual((await connection.listTables()).tables.toSorted(), ["docs", "plain"]);
  assert.deepEqual((await connection.listTables([...nested.namespace])).tables, [nested.name]);
  const first = await connection.listTables({ limit: 1 });
  const second = await connection.listTables({ limit: 1, ...(first.pageToken ? { pageToken: first.pageToken } : {}) });
  assert.deepEqual([...first.tables, ...second.tables], ["docs", "plain"]);
});
await say("namespace/table/list", "of a namespace that is not there", () =>
  fails(/"code":1/, () => connection.listTables(["nope"])),
);
await say("/table", "names of the root's tables", async () => {
  assert.deepEqual((await connection.tableNames()).toSorted(), ["docs", "plain"]);
  assert.deepEqual(await connection.tableNames({ startAfter: "docs", limit: 1 }), ["plain"]);
});
await say("namespace/list", "of the root and of a namespace", async () => {
  assert.deepEqual((await connection.listNamespaces([])).namespaces, ["prod"]);
  assert.deepEqual((await connection.listNamespaces(["prod"])).namespaces, ["vectors"]);
});
await say("namespace/list", "of one that is not there", () =>
  fails(/"code":1/, () => connection.listNamespaces(["nope"])),
);
await say("namespace/describe", "a namespace", async () => {
  assert.deepEqual((await connection.describeNamespace(["prod"])).properties ?? {}, {});
});
await say("namespace/describe", "one that is not there", () =>
  fails(/"code":1/, () => connection.describeNamespace(["nope"])),
);

for (const [operation, name, call] of refused({ connection, table, branches }))
  await say(operation, name, () => fails(/"code":0/, call));
await writes(say, connection, {
  table: (subject) => watched(subject, called.table),
  branches: (subject) => watched(subject, called.branches),
});

/** Calls that the client refuses or answers without a request. */
const localOnly = [
  ...["createMaterializedView", "openMaterializedView", "listMaterializedViews", "refreshMaterializedView"],
  ...["dropAllTables", "refreshColumn", "setUnenforcedPrimaryKey", "closeLsmWriters", "optimize", "currentBranch"],
  ...["initialStorageOptions", "latestStorageOptions"],
  ...["usesV2ManifestPaths", "migrateManifestPathsV2", "search", "vectorSearch", "name"],
];
await say("methods", "each was asked, or asks no service", async () => {
  const missed = [
    ...unseen(plainConnection, called.connection, ["isOpen", "close", "display", "getStorageOptions", ...localOnly]),
    ...unseen(plainTable, called.table, ["isOpen", "close", "display", "getEmbeddingFunctions", ...localOnly]),
    ...unseen(plainTags, called.tags, []),
    ...unseen(plainBranches, called.branches, []),
  ];
  assert.deepEqual(missed, []);
});

plainConnection.close();
finish();
