import { z } from "zod";
import { branchAnswer } from "../query/answers.ts";
import { branchName, optional } from "../query/fields.ts";
import { defineOperation } from "./operation.ts";
import { versionNumber } from "./shared/common-fields.ts";
import { pageOf, pageParameters, pageToken } from "./shared/page.ts";
import { emptyBody } from "./shared/snapshot.ts";
import { branchOf, transactionAnswer } from "./shared/write.ts";

const common = { target: "table", scope: "manage", admission: "write" } as const;

export const createBranch = defineOperation({
  ...common,
  name: "create_branch",
  path: "branches/create",
  errors: [11, 22, 23],
  summary: "Creates a branch",
  body: z.object({
    name: branchName.describe("Name of the branch"),
    from_branch: optional(branchName).describe("The branch that it starts from; absent for main"),
    from_version: optional(versionNumber).describe("The version that it starts from; absent for the newest"),
  }),
  example: { name: "experiment" },
  answer: transactionAnswer,
  handle: async (tools, table, { name, from_branch: from, from_version: version }) => {
    await tools.database.createBranch(table, tools.guard.newBranch(name), {
      ...branchOf(tools, from),
      ...(version === undefined ? {} : { version }),
    });
    return {};
  },
});

export const deleteBranch = defineOperation({
  ...common,
  name: "delete_branch",
  path: "branches/delete",
  errors: [19, 22],
  summary: "Deletes a branch with its versions",
  body: z.object({ name: branchName.describe("Name of the branch") }),
  example: { name: "experiment" },
  answer: transactionAnswer,
  handle: async (tools, table, { name }) => {
    await tools.database.deleteBranch(table, tools.guard.newBranch(name));
    return {};
  },
});

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
  answer: z.object({ branches: z.record(z.string(), branchAnswer), page_token: pageToken }),
  handle: async ({ database }, table, _, { parameters }) => {
    const all = await database.branches(table);
    const { entries, token } = pageOf(Object.entries(all), parameters, ([name]) => name);
    return { branches: Object.fromEntries(entries), ...token };
  },
});
