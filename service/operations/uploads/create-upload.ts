import { z } from "zod";
import { defineOperation, OperationResponse } from "../operation.ts";
import { emptyBody } from "../shared/snapshot.ts";
import { branchOf, branchParameters } from "../shared/write.ts";
import { callerOf } from "./uploads.ts";

export const createUpload = defineOperation({
  name: "create_multipart_write",
  target: "table",
  path: "multipart_write/create",
  methods: ["POST"],
  extension: "lancedb",
  scope: "write",
  admission: "write",
  errors: [22],
  summary: "Begins an upload in parts, each an insert with upload_id and upload_part_id",
  body: emptyBody,
  parameters: branchParameters,
  answer: z.object({ upload_id: z.string() }),
  handle: async (tools, table, _, { parameters: { branch } }) => {
    const upload = await tools.uploads.create({ table, ...branchOf(tools, branch) }, callerOf());
    return new OperationResponse({ upload_id: upload }, {}, { pending: true });
  },
});
