import { z } from "zod";
import { defineOperation, OperationResponse } from "./operation.ts";
import { callerOf, currentCall } from "./shared/current-call.ts";
import { emptyBody } from "./shared/snapshot.ts";
import { branchOf, branchParameters, committed, versionAnswer } from "./shared/write.ts";

const common = { target: "table", extension: "lancedb", scope: "write", admission: "write" } as const;

/** Parameters of every call on an upload that exists. */
const uploadParameters = branchParameters.extend({
  upload_id: z.string().describe("The upload, from multipart_write/create"),
});

export const createUpload = defineOperation({
  ...common,
  name: "create_multipart_write",
  path: "multipart_write/create",
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

export const completeUpload = defineOperation({
  ...common,
  name: "complete_multipart_write",
  path: "multipart_write/complete",
  // Of a table that does not exist, there is no such upload.
  missing: [],
  errors: [14, 20],
  summary: "Commits the parts of an upload as one version; repeated, it answers the same version",
  body: emptyBody,
  parameters: uploadParameters,
  answer: versionAnswer,
  handle: async (tools, table, _, { parameters: { branch, upload_id: upload } }) => {
    const { inserted = 0, ...commit } = await tools.uploads.complete(
      { table, ...branchOf(tools, branch) },
      upload,
      callerOf(),
      currentCall.getStore()?.stop,
    );
    return committed({ version: commit.version }, { ...commit, rows: { inserted, updated: 0, deleted: 0 } });
  },
});

export const abortUpload = defineOperation({
  ...common,
  name: "abort_multipart_write",
  path: "multipart_write/abort",
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
