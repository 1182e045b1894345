import { z } from "zod";
import { count } from "../../query/answers.ts";
import { columnName, optional } from "../../query/fields.ts";
import { listOf, maxSizes } from "../../query/lists.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { authorizeSql, branchOf, committed, versionAnswer } from "../shared/write.ts";

export const update = defineOperation({
  name: "update",
  target: "table",
  path: "update",
  scope: "write",
  admission: "write",
  errors: [12, 14, 20, 22],
  summary: "Sets columns of the rows that match a predicate (which also requires the scope `read`)",
  body: z.object({
    predicate: optional(z.string()).describe("SQL predicate; absent for all rows"),
    updates: listOf(z.tuple([columnName, z.string()], { error: "must be [column, expression]" }), maxSizes.columns)
      .refine((updates) => updates.length > 0, { error: "is empty: name a column and its SQL expression" })
      .refine((updates) => new Set(updates.map(([column]) => column)).size === updates.length, {
        error: "names a column twice: send one expression for each column",
      })
      .meta({ items: { type: "array", items: { type: "string" }, minItems: 2, maxItems: 2 }, minItems: 1 })
      .describe("Pairs of column and SQL expression"),
    branch: branchField,
  }),
  example: { predicate: "id = 1", updates: [["text", "'new'"]] },
  answer: versionAnswer.extend({
    updated_rows: count,
    rows_updated: count.describe("The same number, for LanceDB's client"),
  }),
  handle: async (tools, table, { predicate, updates, branch }, call) => {
    authorizeSql(call, table);
    const commit = await tools.database.updateRows(
      { table, ...branchOf(tools, branch) },
      predicate === undefined ? undefined : tools.guard.predicate(predicate),
      updates.map(([column, value]) => [column, tools.guard.expression(value, `updates of ${column}`)] as const),
    );
    const { updated } = commit.rows;
    return committed({ version: commit.version, updated_rows: updated, rows_updated: updated }, commit);
  },
});

export const deleteRows = defineOperation({
  name: "delete",
  target: "table",
  path: "delete",
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
