import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { branchField, newTagField, versionNumber } from "../shared/common-fields.ts";

export const createTag = defineOperation({
  name: "create_tag",
  target: "table",
  path: "tags/create",
  methods: ["POST"],
  scope: "tags:write",
  admission: "metadata",
  errors: [9, 11, 22],
  summary: "Creates a tag for a version of a table",
  body: z.object({
    tag: newTagField,
    version: versionNumber.describe("The version of the tag"),
    branch: branchField,
  }),
  example: { tag: "v1", version: 1 },
  answer: z.object({ transaction_id: z.string().optional() }),
  handle: async ({ database, guard }, table, { tag, version, branch }) => {
    await database.createTag(table, guard.newTag(tag), version, guard.branch(branch));
    return {};
  },
});
