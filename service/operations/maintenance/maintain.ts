import { defineOperation } from "../operation.ts";
import { maintenanceResult } from "../shared/maintenance.ts";
import { emptyBody } from "../shared/snapshot.ts";
import { committed } from "../shared/write.ts";

export const maintain = defineOperation({
  name: "maintain",
  target: "table",
  path: "maintain",
  extension: "service",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [14, 19],
  summary:
    "Merges fragments and extends indices where the table's rule says that it is due, and answers when it is done",
  body: emptyBody,
  answer: maintenanceResult,
  handle: async ({ database, maintenance }, table) => {
    // The record of runs gets no row for a table that does not exist.
    await database.requireTable(table, {});
    try {
      const result = await maintenance.maintain(table);
      return committed(result, { before: result.before.version, version: result.version });
    } finally {
      // Another process has changed it, perhaps also where it failed.
      database.forget(table.key);
    }
  },
});
