import { z } from "zod";
import { columnName } from "../query/fields.ts";
import { listOf, maxSizes } from "../query/lists.ts";
import { defineOperation } from "./operation.ts";
import { branchField } from "./shared/common-fields.ts";
import { authorizeSql, branchOf, committed, versionAnswer } from "./shared/write.ts";

const column = z.object({
  name: columnName,
  expression: z.string({ error: "is missing: columns are added by an SQL expression" }),
});

export const addColumns = defineOperation({
  name: "add_columns",
  target: "table",
  path: "add_columns",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [12, 14, 20, 22],
  summary: "Adds columns that SQL expressions compute from the rows (which also requires the scope `read`)",
  body: z.object({
    new_columns: listOf(column, maxSizes.columns)
      .refine((columns) => columns.length > 0, { error: "is empty: name a column and its SQL expression" })
      .meta({
        items: {
          type: "object",
          properties: { name: { type: "string", minLength: 1 }, expression: { type: "string" } },
          required: ["name", "expression"],
        },
        minItems: 1,
      })
      .describe("Names and SQL expressions"),
    branch: branchField,
  }),
  example: { new_columns: [{ name: "double", expression: "id * 2" }] },
  answer: versionAnswer,
  handle: async (tools, table, { new_columns: columns, branch }, call) => {
    authorizeSql(call, table);
    const commit = await tools.database.addColumns(
      { table, ...branchOf(tools, branch) },
      columns.map(
        ({ name, expression }) => [name, tools.verifyExpression(expression, `expression of ${name}`)] as const,
      ),
    );
    return committed({ version: commit.version }, commit);
  },
});
