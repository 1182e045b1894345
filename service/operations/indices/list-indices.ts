import { z } from "zod";
import { natural, optional } from "../../query/fields.ts";
import { defineOperation } from "../operation.ts";
import { pageOf, pageParameters, pageToken } from "../shared/page.ts";
import { snapshotOf, snapshotShape } from "../shared/snapshot.ts";

const count = z.int().min(0).optional();

const index = z
  .object({
    index_name: z.string(),
    index_uuid: z.string(),
    columns: z.array(z.string()),
    status: z.string().describe("SUCCEEDED: an index that is being built is not listed"),
    index_type: z.string().optional().describe("For instance IVF_PQ, BTREE, FTS"),
    type_url: z.string().optional(),
    num_indexed_rows: count,
    num_unindexed_rows: count,
    size_bytes: count,
    num_segments: count,
    created_at: z.iso.datetime().optional(),
    index_version: count,
    index_details: z.string().optional().describe("JSON, specific to the type"),
  })
  .meta({ id: "Index" });

export const listIndices = defineOperation({
  name: "list_indices",
  target: "table",
  path: "index/list",
  methods: ["POST"],
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
  answer: z.object({ indexes: z.array(index), page_token: pageToken }),
  handle: async (tools, table, { page_token, limit, ...snapshot }, call) => {
    const { parameters } = call;
    const all = await tools.database.indices(table, snapshotOf(tools, snapshot, call));
    // The specification has paging in the body for this operation only.
    const wanted = { page_token: page_token ?? parameters.page_token, limit: limit ?? parameters.limit };
    const { entries, token } = pageOf(all, wanted, ({ index_name }) => index_name);
    return { indexes: entries, ...token };
  },
});
