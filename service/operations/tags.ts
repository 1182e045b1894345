import { z } from "zod";
import { tagAnswer } from "../query/answers.ts";
import { defineOperation } from "./operation.ts";
import { branchField, newTagField, tagField, versionNumber } from "./shared/common-fields.ts";
import { pageOf, pageParameters, pageToken } from "./shared/page.ts";
import { emptyBody } from "./shared/snapshot.ts";
import { transactionAnswer } from "./shared/write.ts";

const common = { target: "table", admission: "metadata" } as const;

export const createTag = defineOperation({
  ...common,
  name: "create_tag",
  path: "tags/create",
  scope: "tags:write",
  errors: [9, 11, 22],
  summary: "Creates a tag for a version of a table",
  body: z.object({
    tag: newTagField,
    version: versionNumber.describe("The version of the tag"),
    branch: branchField,
  }),
  example: { tag: "v1", version: 1 },
  answer: transactionAnswer,
  handle: async ({ database, guard }, table, { tag, version, branch }) => {
    await database.createTag(table, guard.newTag(tag), version, guard.branch(branch));
    return {};
  },
});

export const tagVersion = defineOperation({
  ...common,
  name: "get_tag_version",
  path: "tags/version",
  scope: "tags:read",
  errors: [8, 19],
  summary: "Returns the version of a tag",
  body: z.object({ tag: tagField }),
  example: { tag: "v1" },
  answer: tagAnswer.omit({ manifestSize: true }),
  handle: ({ database, guard }, table, { tag }) => database.tagVersion(table, guard.tag(tag)),
});

export const updateTag = defineOperation({
  ...common,
  name: "update_tag",
  path: "tags/update",
  scope: "tags:write",
  errors: [8, 11, 19, 22],
  summary: "Moves a tag to another version; of concurrent calls the last one wins",
  body: z.object({
    tag: tagField,
    version: versionNumber.describe("The new version of the tag"),
    branch: branchField,
  }),
  example: { tag: "v1", version: 1 },
  answer: transactionAnswer,
  handle: async ({ database, guard }, table, { tag, version, branch }) => {
    await database.updateTag(table, guard.tag(tag), version, guard.branch(branch));
    return {};
  },
});

export const deleteTag = defineOperation({
  ...common,
  name: "delete_tag",
  path: "tags/delete",
  scope: "tags:write",
  errors: [8],
  summary: "Deletes a tag, not its version",
  body: z.object({ tag: tagField }),
  example: { tag: "v1" },
  answer: transactionAnswer,
  handle: async ({ database, guard }, table, { tag }) => {
    await database.deleteTag(table, guard.tag(tag));
    return {};
  },
});

const tags = z.record(z.string(), tagAnswer);

export const listTags = defineOperation({
  ...common,
  name: "list_tags",
  path: "tags/list",
  methods: ["POST", "GET"],
  scope: "tags:read",
  errors: [0, 19],
  summary: "Lists the tags of a table; with a trailing slash, as LanceDB's client sends, returns only the map",
  body: emptyBody,
  parameters: pageParameters,
  answer: z.union([z.object({ tags, page_token: pageToken }), tags]),
  handle: async ({ database }, table, _, { parameters, dialect }) => {
    const all = await database.tags(table);
    const { entries, token } = pageOf(Object.entries(all), parameters, ([name]) => name);
    const page = Object.fromEntries(entries);
    // LanceDB's client does not support pages: it reads every key as a tag.
    return dialect === "lancedb" ? page : { tags: page, ...token };
  },
});
