/**
 * @lancedb/lancedb for Node on a REST namespace (`connectNamespace("rest")`): the service is its catalog, and an opened
 * table is read from the store by the client itself.
 */
import { strict as assert } from "node:assert";
import { type Connection, connectNamespace } from "@lancedb/lancedb";
import packageFile from "../../../package.json" with { type: "json" };
import { fails } from "./checks.ts";
import { finish, startReport, unseen, watched, world } from "./report.ts";

const version = packageFile.dependencies["@lancedb/lancedb"];
const say = await startReport("Node REST namespace", `@lancedb/lancedb ${version}`);
const { endpoint, keys, docs, nested, awkward } = world;

const connectWith = (key: string): Promise<Connection> =>
  connectNamespace("rest", { uri: endpoint, headers: { authorization: `Bearer ${key}` } });

const called = new Set<string>();
const plainConnection = await connectWith(keys.all);
const connection = watched(plainConnection, called);
const namespace = [...nested.namespace];

await say("describe", "an opened table, read from where it lies", async () => {
  const table = await connection.openTable("docs");
  assert.equal(await table.version(), docs.version);
  assert.equal(await table.countRows(), docs.rows);
});
await say("describe", "a table in a namespace", async () => {
  assert.equal(await (await connection.openTable(nested.name, namespace)).countRows(), nested.rows);
});
await say("describe", "a table whose id has blanks and signs", async () => {
  assert.equal(await (await connection.openTable(awkward.name, [...awkward.namespace])).countRows(), awkward.rows);
});
await say("describe", "a table that is not there", () =>
  fails(/Table 'nope' was not found/, () => connection.openTable("nope")),
);
await say("describe", "an unknown key", async () => {
  const stranger = await connectWith("unknown");
  await fails(/Unauthenticated/, () => stranger.openTable("docs"));
});
await say("describe", "a table that the key does not permit", async () => {
  const limited = await connectWith(keys.docsStats);
  await fails(/Permission denied/, () => limited.openTable("plain"));
});

await say("namespace/table/list", "of the root, of a namespace, in pages", async () => {
  assert.deepEqual((await connection.listTables()).tables.toSorted(), ["docs", "plain"]);
  assert.deepEqual((await connection.listTables(namespace)).tables, [nested.name]);
  const first = await connection.listTables({ limit: 1 });
  const pageToken = first.pageToken ?? "";
  assert.deepEqual(
    [first.tables, (await connection.listTables({ limit: 1, pageToken })).tables],
    [["docs"], ["plain"]],
  );
});
await say("namespace/table/list", "names alone", async () => {
  assert.deepEqual((await connection.tableNames()).toSorted(), ["docs", "plain"]);
});
await say("namespace/table/list", "of a namespace that is not there", () =>
  fails(/Namespace not found/, () => connection.listTables(["nope"])),
);
await say("namespace/list", "of the root and of a namespace", async () => {
  assert.deepEqual((await connection.listNamespaces([])).namespaces, ["prod"]);
  assert.deepEqual((await connection.listNamespaces(["prod"])).namespaces, ["vectors"]);
});
await say("namespace/list", "of one that is not there", () =>
  fails(/Namespace not found/, () => connection.listNamespaces(["nope"])),
);
await say("namespace/describe", "a namespace", async () => {
  assert.deepEqual((await connection.describeNamespace(["prod"])).properties ?? {}, {});
});
await say("namespace/describe", "one that is not there", () =>
  fails(/Namespace not found/, () => connection.describeNamespace(["nope"])),
);

await say("declare", "a new table with rows, and one without; a name that is taken", async () => {
  const made = await connection.createTable("new", [{ id: 1 }]);
  await made.add([{ id: 2 }]);
  assert.equal(await (await connection.openTable("new")).countRows(), 2);
  await fails(/already exists/, () => connection.createTable("new", [{ id: 1 }]));
  await connection.dropTable("new");
  const schema = await (await connection.openTable("docs")).schema();
  assert.equal(await (await connection.createEmptyTable("new", schema, ["prod"])).countRows(), 0);
  await connection.dropTable("new", ["prod"]);
});

const refusedCalls: readonly (readonly [operation: string, name: string, call: () => Promise<unknown>])[] = [
  ["rename", "renameTable", () => connection.renameTable("docs", "other")],
];
for (const [operation, name, call] of refusedCalls) await say(operation, name, () => fails(/Unsupported/, call));

await say("namespace/create", "one, the same again", async () => {
  await connection.createNamespace(["fresh"]);
  await fails(/already exists/, () => connection.createNamespace(["fresh"]));
});
await say("namespace/drop", "one, one with a namespace in it, one that is not there", async () => {
  await connection.dropNamespace(["fresh"]);
  await fails(/not empty/, () => connection.dropNamespace(["prod"]));
  await fails(/Namespace not found/, () => connection.dropNamespace(["fresh"]));
});
await say("drop", "a table; once more", async () => {
  await connection.dropTable("plain");
  await fails(/not found/, () => connection.dropTable("plain"));
  assert.deepEqual((await connection.listTables()).tables, ["docs"]);
});

/** Calls that the client refuses or handles without a request. */
const localOnly = [
  ...["isOpen", "close", "display", "getStorageOptions", "createMaterializedView", "openMaterializedView"],
  ...["listMaterializedViews", "cloneTable", "dropTableAsync", "dropAllTables", "openJob", "listJobs", "cancelJob"],
];
await say("methods", "each was asked, or asks no service", async () => {
  assert.deepEqual(unseen(plainConnection, called, localOnly), []);
});

plainConnection.close();
finish();
