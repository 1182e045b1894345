import { defineOperation } from "../operation.ts";
import { emptyBody } from "../shared/snapshot.ts";
import { branchOf, committed, versionAnswer } from "../shared/write.ts";
import { callerOf, uploadParameters } from "./uploads.ts";

export const completeUpload = defineOperation({
  name: "complete_multipart_write",
  target: "table",
  path: "multipart_write/complete",
  methods: ["POST"],
  extension: "lancedb",
  scope: "write",
  admission: "write",
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
    );
    return committed({ version: commit.version }, { ...commit, rows: { inserted, updated: 0, deleted: 0 } });
  },
});
