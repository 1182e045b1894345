import { z } from "zod";
import { defineOperation, OperationResponse } from "../operation.ts";
import { emptyBody } from "../shared/snapshot.ts";
import { branchOf } from "../shared/write.ts";
import { callerOf, uploadParameters } from "./uploads.ts";

export const abortUpload = defineOperation({
  name: "abort_multipart_write",
  target: "table",
  path: "multipart_write/abort",
  methods: ["POST"],
  extension: "lancedb",
  scope: "write",
  admission: "write",
  // Of a table that does not exist, there is no such upload.
  missing: [],
  errors: [19],
  summary: "Removes an upload that is not complete, with its parts",
  body: emptyBody,
  parameters: uploadParameters,
  answer: z.object({}),
  handle: async (tools, table, _, { parameters: { branch, upload_id: upload } }) => {
    await tools.uploads.abort({ table, ...branchOf(tools, branch) }, upload, callerOf());
    return new OperationResponse({}, {}, { pending: true });
  },
});
