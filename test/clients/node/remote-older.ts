/**
 * Older releases of @lancedb/lancedb for Node as a remote database (`db://`): the operations that each of them has. The
 * release is that of the folder LAKEHEAD_CLIENT.
 */
import { strict as assert } from "node:assert";
import { createRequire } from "node:module";
import { join } from "node:path";
import { env } from "node:process";
import type { Table } from "@lancedb/lancedb";
import { fails } from "./checks.ts";
import { finish, startReport, world } from "./report.ts";

const require = createRequire(join(env.LAKEHEAD_CLIENT ?? "", "package.json"));
const { connect, Index } = require("@lancedb/lancedb") as typeof import("@lancedb/lancedb");
const version: string = require("./package.json").dependencies["@lancedb/lancedb"];
const say = await startReport(`Node remote ${version.replace(/\.\d+$/, "")}`, `@lancedb/lancedb ${version}`);
const { endpoint, keys, docs, plain } = world;

const connectWith = (apiKey: string) => connect("db://dev", { apiKey, hostOverride: endpoint });
const connection = await connectWith(keys.all);
const table = await connection.openTable("docs");
const other = await connection.openTable("plain");

const has = (subject: object, name: string): boolean => name in subject;
const nearest = (of: Table) => of.query().nearestTo(docs.vector).column("vector").limit(4);
const withText = (of: Table) =>
  of
    .query()
    .fullTextSearch("puppy", { columns: ["text"] })
    .limit(4);
const badRequest = /400 Bad Request/;
// The client says so of every 404, without the service's own text.
const notFound = /not found/;

await say("describe", "schema and version of an opened table", async () => {
  assert.deepEqual(
    (await table.schema()).fields.map(({ name }) => name),
    Object.keys(docs.columns),
  );
  assert.equal(await table.version(), docs.version);
});
await say("describe", "a table that is not there, an unknown key", async () => {
  await fails(notFound, () => connection.openTable("nope"));
  await fails(/401/, async () => (await connectWith("unknown")).openTable("docs"));
});
await say("describe", "checkout of a version", async () => {
  await other.checkout(3);
  assert.equal(await other.version(), 3);
  await other.checkoutLatest();
});
// Release 0.15 plans in the client, from the schema of the rows.
const explains = version.startsWith("0.15.") ? "query" : "explain_plan";
await say(explains, "the plan of a scan, a vector, a text", async () => {
  const plans = [table.query().where("id > 10").limit(4), nearest(table), withText(table)].map((of) =>
    of.explainPlan(),
  );
  const shown = explains === "query" ? /OneShotStream/ : /docs\.lance/;
  for (const plan of await Promise.all(plans)) assert.match(plan, shown);
});
await say(explains, "no plan: no SQL, no such column", async () => {
  await fails(badRequest, () => table.query().where("id >").limit(4).explainPlan());
  await fails(notFound, () => table.query().where("nope = 1").limit(4).explainPlan());
});
if (has(table.query(), "analyzePlan"))
  await say("analyze_plan", "a scan, a vector, no SQL", async () => {
    assert.match(await table.query().limit(4).analyzePlan(), /output_rows=4,/);
    assert.match(await nearest(table).analyzePlan(), /^AnalyzeExec/);
    await fails(badRequest, () => table.query().where("id >").limit(4).analyzePlan());
  });
await say("count_rows", "all, some, no SQL", async () => {
  assert.deepEqual([await table.countRows(), await table.countRows("id < 10")], [docs.rows, 10]);
  await fails(badRequest, () => table.countRows("id >"));
});
await say("query", "columns of a filter, all rows, an expression", async () => {
  const rows = await table.query().where("id >= 10 AND id < 13").select(["id", "text"]).limit(9).toArray();
  assert.deepEqual(rows.map(({ id }) => Number(id)).sort(), [10, 11, 12]);
  assert.equal((await other.query().limit(1000).toArray()).length, plain.rows);
  const [next] = await table.query().where("id = 7").select({ next: "id + 1" }).limit(4).toArray();
  assert.equal(Number(next?.next), 8);
});
await say("query", "a vector, a text", async () => {
  assert.equal((await nearest(table).select(["id"]).toArray()).length, 4);
  const texts = await withText(table).select(["text"]).toArray();
  assert.deepEqual(
    texts.map(({ text }) => String(text).includes("puppy")),
    [true, true, true, true],
  );
});
await say("query", "no SQL, no such column, a vector of another length", async () => {
  await fails(badRequest, () => table.query().where("id >").limit(4).toArray());
  await fails(notFound, () => table.query().where("nope = 1").limit(4).toArray());
  await fails(badRequest, () => table.query().nearestTo([1, 2]).column("vector").limit(1).toArray());
});
if (has(table, "stats"))
  await say("stats", "of a table", async () => {
    const { numRows, totalBytes } = await table.stats();
    assert.deepEqual([Number(numRows), Number(totalBytes)], [docs.rows, docs.bytes]);
  });
if (has(table, "tags")) {
  const tags = await table.tags();
  await say("tags/create", "a name for a version; a name that cannot be, a version that is not there", async () => {
    await tags.create("v1", 1);
    await fails(badRequest, () => tags.create("../x", 1));
    await fails(notFound, () => tags.create("late", 99));
  });
  await say("tags/version", "one that is there, one that is not", async () => {
    assert.equal(await tags.getVersion("v1"), 1);
    await fails(notFound, () => tags.getVersion("nope"));
  });
  await say("tags/list", "names", async () => {
    assert.deepEqual(Object.keys(await tags.list()), ["v1"]);
  });
  await say("tags/update", "another version; a tag that is not there", async () => {
    await tags.update("v1", 2);
    assert.equal(await tags.getVersion("v1"), 2);
    await fails(notFound, () => tags.update("nope", 1));
  });
  await say("tags/delete", "a tag, and once more", async () => {
    await tags.delete("v1");
    await fails(notFound, () => tags.delete("v1"));
  });
}
await say("version/list", "every version", async () => {
  assert.equal((await other.listVersions()).length, plain.versions);
});
await say("index/list", "names; none", async () => {
  const listed = await table.listIndices();
  assert.deepEqual(listed.map(({ name }) => name).sort(), docs.indices.map(({ name }) => name).sort());
  assert.deepEqual(await other.listIndices(), []);
});
await say("index/{index_name}/stats", "of a vector index", async () => {
  assert.equal((await table.indexStats("vector_idx"))?.numIndexedRows, docs.vectorIndex?.numIndexedRows);
});
await say("/table", "names of the root's tables, also the first alone", async () => {
  assert.deepEqual(await connection.tableNames(), ["docs", "plain"]);
  assert.deepEqual(await connection.tableNames({ limit: 1 }), ["docs"]);
});

const rows = (ids: readonly number[], text = "first") =>
  ids.map((id) => ({ id, text: `${text} ${id}`, vector: [id, 1] }));
await say("create", "with rows; a name that is taken, overwrite", async () => {
  assert.equal(await (await connection.createTable("made", rows([1, 2]))).countRows(), 2);
  await fails(/already exists/, () => connection.createTable("made", rows([3])));
  await connection.createTable("made", rows([1, 2, 3]), { mode: "overwrite" });
});
const made = await connection.openTable("made");
await say("insert", "rows", async () => {
  await made.add(rows([4, 5]));
  assert.equal(await made.countRows(), 5);
});
await say("update", "some rows; no SQL", async () => {
  await made.update({ where: "id <= 2", values: { text: "changed" } });
  assert.equal(await made.countRows("text = 'changed'"), 2);
  await fails(badRequest, () => made.update({ where: "id >", values: { text: "x" } }));
});
await say("merge_insert", "rows that are there and one that is not", async () => {
  await made
    .mergeInsert("id")
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute(rows([5, 6], "merged"));
  assert.deepEqual([await made.countRows(), await made.countRows("text LIKE 'merged%'")], [6, 2]);
});
await say("delete", "some rows; no SQL", async () => {
  await made.delete("id = 6");
  assert.equal(await made.countRows(), 5);
  await fails(badRequest, () => made.delete("id >"));
});
await say("create_index", "of numbers", async () => {
  await made.createIndex("id", { config: Index.btree() });
  assert.deepEqual(
    (await made.listIndices()).map(({ name }) => name),
    ["id_idx"],
  );
});
if (has(made, "dropIndex"))
  await say("index/{index_name}/drop", "one", async () => {
    await made.dropIndex("id_idx");
    assert.deepEqual(await made.listIndices(), []);
  });
await say("add_columns", "by an expression", async () => {
  await made.addColumns([{ name: "twice", valueSql: "id * 2" }]);
  assert.equal(await made.countRows("twice = 6"), 1);
});
await say("alter_columns", "another name", async () => {
  await made.alterColumns([{ path: "twice", rename: "double" }]);
  assert.equal(await made.countRows("double = 6"), 1);
});
await say("drop_columns", "one", async () => {
  await made.dropColumns(["double"]);
  await fails(notFound, () => made.countRows("double = 6"));
});
// Release 0.15 refuses it by itself.
if (!version.startsWith("0.15."))
  await say("restore", "an old version", async () => {
    await made.checkout(1);
    await made.restore();
    assert.equal(await made.countRows(), 2);
  });
await say("drop", "a table; once more", async () => {
  await connection.dropTable("made");
  assert.deepEqual(await connection.tableNames(), ["docs", "plain"]);
  await fails(/404/, () => connection.dropTable("made"));
});
finish();
