import { z } from "zod";
import { branchName, optional } from "../../query/fields.ts";
import { defineOperation } from "../operation.ts";
import { versionNumber } from "../shared/common-fields.ts";
import { branchOf } from "../shared/write.ts";

export const createBranch = defineOperation({
  name: "create_branch",
  target: "table",
  path: "branches/create",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [11, 22, 23],
  summary: "Creates a branch",
  body: z.object({
    name: branchName.describe("Name of the branch"),
    from_branch: optional(branchName).describe("The branch that it starts from; absent for main"),
    from_version: optional(versionNumber).describe("The version that it starts from; absent for the newest"),
  }),
  example: { name: "experiment" },
  answer: z.object({ transaction_id: z.string().optional() }),
  handle: async (tools, table, { name, from_branch: from, from_version: version }) => {
    await tools.database.createBranch(table, tools.guard.newBranch(name), {
      ...branchOf(tools, from),
      ...(version === undefined ? {} : { version }),
    });
    return {};
  },
});
