import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { authorizeSql, branchOf, committed, count, versionAnswer } from "../shared/write.ts";

export const deleteRows = defineOperation({
  name: "delete",
  target: "table",
  path: "delete",
  methods: ["POST"],
  scope: "write",
  admission: "write",
  errors: [12, 14, 22],
  summary: "Deletes the rows that match a predicate (which also requires the scope `read`)",
  body: z.object({ predicate: z.string().describe("SQL predicate; `true` for all rows"), branch: branchField }),
  example: { predicate: "id = 1" },
  answer: versionAnswer.extend({ num_deleted_rows: count }),
  handle: async (tools, table, { predicate, branch }, call) => {
    authorizeSql(call, table);
    const target = { table, ...branchOf(tools, branch) };
    const commit = await tools.database.deleteRows(target, tools.guard.predicate(predicate));
    return committed({ version: commit.version, num_deleted_rows: commit.rows.deleted }, commit);
  },
});
