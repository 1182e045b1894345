/**
 * Writes with LanceDB's client for Node.
 *
 *     npm install @lancedb/lancedb apache-arrow
 *     LAKEHEAD_URL=http://127.0.0.1:8080 LAKEHEAD_TOKEN=… npx node writes.ts
 */
import { strict as assert } from "node:assert";
import { env } from "node:process";
import { connect, Index } from "@lancedb/lancedb";

const { LAKEHEAD_URL: hostOverride = "", LAKEHEAD_TOKEN: apiKey = "" } = env;
const connection = await connect("db://lake", { apiKey, hostOverride });

const table = await connection.createTable("towns", [
  { id: 1, name: "Oslo", vector: [0.9, 0.1] },
  { id: 2, name: "Rome", vector: [0.1, 0.9] },
]);
await table.add([{ id: 3, name: "Paris", vector: [0.4, 0.6] }]);
await table.update({ where: "id = 2", values: { name: "Roma" } });
await table
  .mergeInsert("id")
  .whenMatchedUpdateAll()
  .whenNotMatchedInsertAll()
  .execute([{ id: 4, name: "Lima", vector: [0.2, 0.8] }]);
await table.createIndex("id", { config: Index.btree() });
await table.waitForIndex(["id_idx"], 60);
await table.delete("id = 1");

const rows = await table.query().where("id >= 2").select(["name"]).limit(10).toArray();
const names = rows.map(({ name }) => String(name)).sort();
console.log(names);
assert.deepEqual(names, ["Lima", "Paris", "Roma"]);

await connection.dropTable("towns");
connection.close();
