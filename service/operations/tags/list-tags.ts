import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { pageOf, pageParameters, pageToken } from "../shared/page.ts";
import { emptyBody } from "../shared/snapshot.ts";

const tag = z
  .object({
    version: z.int().min(0),
    manifestSize: z.int().min(0).describe("Bytes of the manifest"),
    branch: z.string().optional().describe("Absent for main"),
  })
  .meta({ id: "Tag" });
const tags = z.record(z.string(), tag);

export const listTags = defineOperation({
  name: "list_tags",
  target: "table",
  path: "tags/list",
  methods: ["POST", "GET"],
  scope: "tags:read",
  admission: "metadata",
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
