import { z } from "zod";
import { invalid } from "../../errors.ts";
import { branchName } from "../../query/fields.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { pageOf, pageParameters, pageToken } from "../shared/page.ts";
import { snapshotOf } from "../shared/snapshot.ts";
import { versionAnswer } from "../shared/version.ts";

export const listVersions = defineOperation({
  name: "list_versions",
  target: "table",
  path: "version/list",
  methods: ["POST"],
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
  answer: z.object({ versions: z.array(versionAnswer), page_token: pageToken }),
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
