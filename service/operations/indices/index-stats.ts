import { z } from "zod";
import { invalid } from "../../errors.ts";
import { optional } from "../../query/fields.ts";
import { defineOperation } from "../operation.ts";
import { snapshotOf, snapshotShape } from "../shared/snapshot.ts";

const count = z.int().min(0);

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
  answer: z.object({
    num_indexed_rows: count,
    num_unindexed_rows: count,
    index_type: z.string(),
    distance_type: z.string().optional(),
    num_indices: count.optional(),
  }),
  handle: (tools, table, { index_name, ...snapshot }, call) => {
    const { parameters } = call;
    if (index_name !== undefined && index_name !== parameters.index_name)
      throw invalid("index_name in the body differs from that in the path: send the same, or remove it from the body");
    return tools.database.indexStatistics(table, snapshotOf(tools, snapshot, call), parameters.index_name);
  },
});
