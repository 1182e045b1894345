import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { emptyBody } from "../shared/snapshot.ts";
import { branchOf, branchParameters, committed } from "../shared/write.ts";

export const dropIndex = defineOperation({
  name: "drop_index",
  target: "table",
  path: "index/:index_name/drop",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [6, 14, 22],
  summary: "Removes an index",
  body: emptyBody,
  parameters: branchParameters.extend({ index_name: z.string().min(1) }),
  answer: z.object({ transaction_id: z.string().optional() }),
  handle: async (tools, table, _body, { parameters: { branch, index_name: name } }) => {
    const commit = await tools.database.dropIndex({ table, ...branchOf(tools, branch) }, name);
    return committed({}, commit);
  },
});
