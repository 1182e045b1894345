import { z } from "zod";
import { invalid, ServiceError } from "../errors.ts";
import { tableVersionAnswer } from "../query/answers.ts";
import { branchName } from "../query/fields.ts";
import { defineOperation } from "./operation.ts";
import { branchField, versionNumber } from "./shared/common-fields.ts";
import { pageOf, pageParameters, pageToken } from "./shared/page.ts";
import { snapshotOf, snapshotShape } from "./shared/snapshot.ts";
import { branchOf, committed, transactionAnswer } from "./shared/write.ts";

export const listVersions = defineOperation({
  name: "list_versions",
  target: "table",
  path: "version/list",
  scope: null,
  // It reads the manifest of every version, unless it remembers them.
  admission: (body, parameters, database, table) =>
    database.remembersVersions(table, parameters.branch ?? body.branch) ? "metadata" : "analyze",
  errors: [22],
  summary: "Lists the versions of a table",
  body: z.object({ branch: branchField }),
  parameters: pageParameters.extend({
    branch: branchName.optional().describe("A branch; absent for main"),
    descending: z.stringbool({ error: "must be true or false" }).optional().describe("Newest first"),
  }),
  answer: z.object({ versions: z.array(tableVersionAnswer), page_token: pageToken }),
  handle: async (tools, table, body, call) => {
    const { parameters } = call;
    if (parameters.branch !== undefined && body.branch !== undefined && parameters.branch !== body.branch)
      throw invalid("branch in the body differs from that in the query string: send one of them");
    const { branch } = snapshotOf(tools, { branch: parameters.branch ?? body.branch }, call);
    const all = await tools.database.versions(table, branch);
    const descending = parameters.descending === true;
    const { entries, token } = pageOf(
      descending ? all.toReversed() : all,
      parameters,
      ({ version }) => String(version),
      (version, last) => (descending ? Number(version) < Number(last) : Number(version) > Number(last)),
    );
    return { versions: entries, ...token };
  },
});

export const describeVersion = defineOperation({
  name: "describe_version",
  target: "table",
  path: "version/describe",
  scope: null,
  admission: "analyze",
  errors: [11, 22],
  summary: "Returns the creation time and the counts of a version of a table",
  body: z.object(snapshotShape),
  example: { version: 1 },
  answer: z.object({ version: tableVersionAnswer }),
  handle: async (tools, table, body, call) => {
    const { version, branch } = snapshotOf(tools, body, call);
    const all = await tools.database.versions(table, branch);
    const found = version === undefined ? all.at(-1) : all.find((entry) => entry.version === version);
    if (found === undefined) throw new ServiceError(11);
    return { version: found };
  },
});

export const restore = defineOperation({
  name: "restore",
  target: "table",
  path: "restore",
  scope: "manage",
  admission: "write",
  errors: [11, 14, 22],
  summary: "Makes the content of an old version the newest version",
  body: z.object({ version: versionNumber.describe("The version to restore"), branch: branchField }),
  example: { version: 1 },
  answer: transactionAnswer,
  handle: async (tools, table, { version, branch }) => {
    const commit = await tools.database.restoreVersion({ table, ...branchOf(tools, branch) }, version);
    return committed({}, commit);
  },
});
