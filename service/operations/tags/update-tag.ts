import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { branchField, tagField, versionNumber } from "../shared/common-fields.ts";

export const updateTag = defineOperation({
  name: "update_tag",
  target: "table",
  path: "tags/update",
  methods: ["POST"],
  scope: "tags:write",
  admission: "metadata",
  errors: [8, 11, 19, 22],
  summary: "Moves a tag to another version; of concurrent calls the last one wins",
  body: z.object({
    tag: tagField,
    version: versionNumber.describe("The new version of the tag"),
    branch: branchField,
  }),
  example: { tag: "v1", version: 1 },
  answer: z.object({ transaction_id: z.string().optional() }),
  handle: async ({ database, guard }, table, { tag, version, branch }) => {
    await database.updateTag(table, guard.tag(tag), version, guard.branch(branch));
    return {};
  },
});
