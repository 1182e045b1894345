import { z } from "zod";
import { listOf, maxSizes } from "../../query/lists.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { branchOf, columnPath, committed, versionAnswer } from "../shared/write.ts";

export const dropColumns = defineOperation({
  name: "drop_columns",
  target: "table",
  path: "drop_columns",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [12, 14, 20, 22],
  summary: "Removes columns",
  body: z.object({
    columns: listOf(columnPath, maxSizes.columns)
      .refine((columns) => columns.length > 0, { error: "is empty: name the columns to remove" })
      .meta({ items: { type: "string", minLength: 1 }, minItems: 1 }),
    branch: branchField,
  }),
  example: { columns: ["text"] },
  answer: versionAnswer,
  handle: async (tools, table, { columns, branch }) => {
    const commit = await tools.database.dropColumns({ table, ...branchOf(tools, branch) }, columns);
    return committed({ version: commit.version }, commit);
  },
});
