import { z } from "zod";
import { invalid } from "../errors.ts";
import { optional } from "../query/fields.ts";
import { defineOperation } from "./operation.ts";
import { snapshotOf, snapshotShape } from "./shared/snapshot.ts";

const count = z.int().min(0);

export const indexStats = defineOperation({
  name: "index_stats",
  target: "table",
  path: "index/:index_name/stats",
  methods: ["POST", "GET"],
  scope: null,
  admission: "metadata",
  errors: [6, 11, 22],
  summary: "How much of a table an index covers",
  body: z.object({
    ...snapshotShape,
    index_name: optional(z.string()).describe("Must equal the path's"),
  }),
  parameters: z.object({ index_name: z.string().min(1).describe("The index's name") }),
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
      throw invalid("index_name in the body differs from the path's: send the same, or leave it out of the body");
    return tools.database.indexStatistics(table, snapshotOf(tools, snapshot, call), parameters.index_name);
  },
});
