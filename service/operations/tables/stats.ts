import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { snapshotOf } from "../shared/snapshot.ts";

const count = z.int().min(0);

export const stats = defineOperation({
  name: "stats",
  target: "table",
  path: "stats",
  methods: ["POST", "GET"],
  scope: "stats",
  admission: "metadata",
  errors: [22],
  summary: "Returns the size of a table: bytes, live rows, indices, fragments",
  body: z.object({ branch: branchField }),
  answer: z.object({
    total_bytes: count.describe("Bytes of the data files and indices"),
    num_rows: count.describe("Live rows"),
    num_indices: count,
    fragment_stats: z.object({
      num_fragments: count,
      num_small_fragments: count.describe("Fragments of fewer than 100,000 rows"),
      lengths: z
        .object({ min: count, max: count, mean: count, p25: count, p50: count, p75: count, p99: count })
        .describe("Rows of a fragment"),
    }),
  }),
  handle: (tools, table, body, call) => tools.database.statistics(table, snapshotOf(tools, body, call)),
});
