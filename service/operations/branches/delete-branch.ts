import { z } from "zod";
import { branchName } from "../../query/fields.ts";
import { defineOperation } from "../operation.ts";

export const deleteBranch = defineOperation({
  name: "delete_branch",
  target: "table",
  path: "branches/delete",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [19, 22],
  summary: "Deletes a branch with its versions",
  body: z.object({ name: branchName.describe("Name of the branch") }),
  example: { name: "experiment" },
  answer: z.object({ transaction_id: z.string().optional() }),
  handle: async (tools, table, { name }) => {
    await tools.database.deleteBranch(table, tools.guard.newBranch(name));
    return {};
  },
});
