import type { Branches, Connection, Table } from "@lancedb/lancedb";

type Refused = readonly (readonly [operation: string, name: string, call: () => Promise<unknown>])[];

/** Operations that the service does not implement: the client must fail at once, and not with "table not found". */
export const refused = ({
  connection,
  table,
  branches,
}: {
  connection: Connection;
  table: Table;
  branches: Branches;
}): Refused => [
  ["create", "createTable", () => connection.createTable("new", [{ id: 1 }])],
  ["create", "createEmptyTable", async () => connection.createEmptyTable("new", await table.schema())],
  ["clone", "cloneTable", () => Reflect.get(connection, "cloneTable").call(connection, "new", "file:///nowhere")],
  ["drop", "dropTable", () => connection.dropTable("docs")],
  ["drop", "dropTableAsync", () => connection.dropTableAsync("docs")],
  ["rename", "renameTable", () => connection.renameTable("docs", "other")],
  ["namespace/create", "createNamespace", () => connection.createNamespace(["new"])],
  ["namespace/drop", "dropNamespace", () => connection.dropNamespace(["prod"])],
  ["/jobs/list", "listJobs", () => connection.listJobs()],
  ["/jobs/describe", "openJob", () => connection.openJob("1")],
  ["/jobs/cancel", "cancelJob", () => connection.cancelJob("1")],
  ["insert", "add", () => table.add([{ id: 1 }])],
  ["update", "update", () => table.update({ values: { id: 1 } })],
  ["delete", "delete", () => table.delete("id = 1")],
  [
    "merge_insert",
    "mergeInsert",
    () =>
      table
        .mergeInsert("id")
        .whenMatchedUpdateAll()
        .execute([{ id: 1 }]),
  ],
  ["restore", "restore", () => table.restore()],
  ["create_index", "createIndex", () => table.createIndex("id")],
  ["create_index", "createIndexAsync", () => table.createIndexAsync("id")],
  ["index/{index_name}/drop", "dropIndex", () => table.dropIndex("id_idx")],
  ["index/{index_name}/prewarm", "prewarmIndex", () => table.prewarmIndex("id_idx")],
  ["page_cache/prewarm", "prewarmData", () => table.prewarmData(["id"])],
  ["add_columns", "addColumns", () => table.addColumns([{ name: "new", valueSql: "1" }])],
  ["alter_columns", "alterColumns", () => table.alterColumns([{ path: "id", rename: "new" }])],
  ["drop_columns", "dropColumns", () => table.dropColumns(["id"])],
  [
    "update_field_metadata",
    "updateFieldMetadata",
    () => table.updateFieldMetadata([{ path: "id", metadata: { a: "b" } }]),
  ],
  ["backfill_column", "refreshColumnAsync", () => table.refreshColumnAsync("id")],
  ["branches/create", "branches.create", () => branches.create("new")],
  ["branches/delete", "branches.delete", () => branches.delete("experiment")],
  ["branches/diff", "branches.diff", () => branches.diff("experiment")],
  ["branches/cherry_pick", "branches.cherryPick", () => branches.cherryPick("experiment")],
  [
    "set_lsm_write_spec",
    "setLsmWriteSpec",
    () => table.setLsmWriteSpec({ specType: "bucket", column: "id", numBuckets: 1 }),
  ],
  ["unset_lsm_write_spec", "unsetLsmWriteSpec", () => table.unsetLsmWriteSpec()],
  ["get_lsm_write_spec", "getLsmWriteSpec", () => table.getLsmWriteSpec()],
  ["get_lsm_stats", "getLsmStats", () => table.getLsmStats()],
  ["flush_lsm", "flushLsm", () => table.flushLsm()],
  ["flush_lsm", "checkpointLsm", () => table.checkpointLsm()],
  ["compact_lsm", "compactLsm", () => table.compactLsm()],
];
