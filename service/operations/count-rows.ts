import { z } from "zod";
import { authorize } from "../auth/index.ts";
import { optional } from "../query/fields.ts";
import { Answer, defineOperation } from "./operation.ts";
import { versionHeader } from "./shared/headers.ts";
import { snapshotOf, snapshotShape } from "./shared/snapshot.ts";

export const countRows = defineOperation({
  name: "count_rows",
  target: "table",
  path: "count_rows",
  // The Rust REST namespace asks by GET, and then for all rows of the latest version only.
  methods: ["POST", "GET"],
  scope: "stats",
  // Counting all rows reads metadata; a predicate is a query.
  admission: ({ predicate }) => (predicate === undefined ? "metadata" : "analyze"),
  errors: [11, 12, 22],
  summary: "The number of rows, or of those that a condition is true for (which needs the scope `read` as well)",
  body: z.object({ ...snapshotShape, predicate: optional(z.string()).describe("SQL condition; absent for all rows") }),
  answer: z.int().min(0).describe("Live rows"),
  handle: async (tools, table, { predicate, ...snapshot }, call) => {
    // Question by question a condition tells what stands in the rows.
    if (predicate !== undefined) authorize(call.principal, "read", table.parts);
    const verified = predicate === undefined ? undefined : tools.verifyPredicate(predicate);
    const { rows, version } = await tools.database.count(table, snapshotOf(tools, snapshot, call), verified);
    return new Answer(rows, versionHeader(version));
  },
});
