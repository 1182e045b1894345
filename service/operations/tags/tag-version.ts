import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { tagField } from "../shared/common-fields.ts";

export const tagVersion = defineOperation({
  name: "get_tag_version",
  target: "table",
  path: "tags/version",
  methods: ["POST"],
  scope: "tags:read",
  admission: "metadata",
  errors: [8, 19],
  summary: "Returns the version of a tag",
  body: z.object({ tag: tagField }),
  example: { tag: "v1" },
  answer: z.object({ version: z.int().min(0), branch: z.string().optional().describe("Absent for main") }),
  handle: ({ database, guard }, table, { tag }) => database.tagVersion(table, guard.tag(tag)),
});
