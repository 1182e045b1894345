import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { tagField } from "../shared/common-fields.ts";

export const deleteTag = defineOperation({
  name: "delete_tag",
  target: "table",
  path: "tags/delete",
  methods: ["POST"],
  scope: "tags:write",
  admission: "metadata",
  errors: [8],
  summary: "Deletes a tag, not its version",
  body: z.object({ tag: tagField }),
  example: { tag: "v1" },
  answer: z.object({ transaction_id: z.string().optional() }),
  handle: async ({ database, guard }, table, { tag }) => {
    await database.deleteTag(table, guard.tag(tag));
    return {};
  },
});
