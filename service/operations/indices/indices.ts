import { z } from "zod";
import { invalid } from "../../errors.ts";
import { indexAnswer, indexStatisticsAnswer } from "../../query/answers.ts";
import { natural, optional } from "../../query/fields.ts";
import { defineOperation } from "../operation.ts";
import { pageOf, pageParameters, pageToken } from "../shared/page.ts";
import { emptyBody, snapshotOf, snapshotShape } from "../shared/snapshot.ts";
import { branchOf, branchParameters, committed, transactionAnswer } from "../shared/write.ts";

export const listIndices = defineOperation({
  name: "list_indices",
  target: "table",
  path: "index/list",
  scope: null,
  admission: "metadata",
  errors: [11, 22],
  summary: "Lists the indices of a table",
  body: z.object({
    ...snapshotShape,
    page_token: optional(z.string()).describe("The `page_token` of the previous page"),
    limit: optional(natural.min(1, { error: "must be 1 or greater" })).describe("Maximum entries of the page"),
  }),
  parameters: pageParameters,
  answer: z.object({ indexes: z.array(indexAnswer), page_token: pageToken }),
  handle: async (tools, table, { page_token, limit, ...snapshot }, call) => {
    const { parameters } = call;
    const all = await tools.database.indices(table, snapshotOf(tools, snapshot, call));
    // The specification has paging in the body for this operation only.
    const wanted = { page_token: page_token ?? parameters.page_token, limit: limit ?? parameters.limit };
    const { entries, token } = pageOf(all, wanted, ({ index_name }) => index_name);
    return { indexes: entries, ...token };
  },
});

export const indexStats = defineOperation({
  name: "index_stats",
  target: "table",
  path: "index/:index_name/stats",
  methods: ["POST", "GET"],
  scope: null,
  admission: "metadata",
  errors: [6, 11, 22],
  summary: "Returns how many rows an index covers",
  body: z.object({
    ...snapshotShape,
    index_name: optional(z.string()).describe("Must equal the index name in the path"),
  }),
  parameters: z.object({ index_name: z.string().min(1).describe("Index name") }),
  answer: indexStatisticsAnswer,
  handle: (tools, table, { index_name, ...snapshot }, call) => {
    const { parameters } = call;
    if (index_name !== undefined && index_name !== parameters.index_name)
      throw invalid("index_name in the body differs from that in the path: send the same, or remove it from the body");
    return tools.database.indexStatistics(table, snapshotOf(tools, snapshot, call), parameters.index_name);
  },
});

export const dropIndex = defineOperation({
  name: "drop_index",
  target: "table",
  path: "index/:index_name/drop",
  scope: "manage",
  admission: "write",
  errors: [6, 14, 22],
  summary: "Removes an index",
  body: emptyBody,
  parameters: branchParameters.extend({ index_name: z.string().min(1) }),
  answer: transactionAnswer,
  handle: async (tools, table, _body, { parameters: { branch, index_name: name } }) => {
    const commit = await tools.database.dropIndex({ table, ...branchOf(tools, branch) }, name);
    return committed({}, commit);
  },
});
