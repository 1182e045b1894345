import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { branchField, versionNumber } from "../shared/common-fields.ts";
import { branchOf, committed } from "../shared/write.ts";

export const restore = defineOperation({
  name: "restore",
  target: "table",
  path: "restore",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [11, 14, 22],
  summary: "Makes the content of an old version the newest version",
  body: z.object({ version: versionNumber.describe("The version to restore"), branch: branchField }),
  example: { version: 1 },
  answer: z.object({ transaction_id: z.string().optional() }),
  handle: async (tools, table, { version, branch }) => {
    const commit = await tools.database.restoreVersion({ table, ...branchOf(tools, branch) }, version);
    return committed({}, commit);
  },
});
