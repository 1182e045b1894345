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
  ["clone", "cloneTable", () => Reflect.get(connection, "cloneTable").call(connection, "new", "file:///nowhere")],
  ["rename", "renameTable", () => connection.renameTable("docs", "other")],
  ["index/{index_name}/prewarm", "prewarmIndex", () => table.prewarmIndex("id_idx")],
  ["page_cache/prewarm", "prewarmData", () => table.prewarmData(["id"])],
  ["branches/diff", "branches.diff", () => branches.diff("experiment")],
  ["branches/cherry_pick", "branches.cherryPick", () => branches.cherryPick("experiment")],
  [
    "set_lsm_write_spec",
    "setLsmWriteSpec",
    () => table.setLsmWriteSpec({ specType: "bucket", column: "id", numBuckets: 1 }),
  ],
  ["unset_lsm_write_spec", "unsetLsmWriteSpec", () => table.unsetLsmWriteSpec()],
  ["get_lsm_stats", "getLsmStats", () => table.getLsmStats()],
  ["flush_lsm", "flushLsm", () => table.flushLsm()],
  ["flush_lsm", "checkpointLsm", () => table.checkpointLsm()],
  ["compact_lsm", "compactLsm", () => table.compactLsm()],
];
