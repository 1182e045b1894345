import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { pageOf, pageParameters, pageToken } from "../shared/page.ts";
import { emptyBody } from "../shared/snapshot.ts";

const branch = z
  .object({
    parentBranch: z.string().optional().describe("Absent for main"),
    parentVersion: z.int().min(0),
    createAt: z.int().min(0).describe("Creation time, in seconds since 1970"),
    manifestSize: z.int().min(0),
  })
  .meta({ id: "Branch" });

export const listBranches = defineOperation({
  name: "list_branches",
  target: "table",
  path: "branches/list",
  methods: ["POST", "GET"],
  scope: null,
  // It reads all versions of each branch.
  admission: "analyze",
  errors: [],
  summary: "Lists the branches of a table except main",
  body: emptyBody,
  parameters: pageParameters,
  answer: z.object({ branches: z.record(z.string(), branch), page_token: pageToken }),
  handle: async ({ database }, table, _, { parameters }) => {
    const all = await database.branches(table);
    const { entries, token } = pageOf(Object.entries(all), parameters, ([name]) => name);
    return { branches: Object.fromEntries(entries), ...token };
  },
});
