import { z } from "zod";
import { authorize } from "../../auth/index.ts";
import { optional } from "../../query/fields.ts";
import { defineOperation, OperationResponse } from "../operation.ts";
import { versionHeader } from "../shared/headers.ts";
import { snapshotOf, snapshotShape } from "../shared/snapshot.ts";

export const countRows = defineOperation({
  name: "count_rows",
  target: "table",
  path: "count_rows",
  // The Rust REST namespace uses GET, only for all rows of the latest version.
  methods: ["POST", "GET"],
  scope: "stats",
  // Counting all rows reads metadata; a predicate is a query.
  admission: ({ predicate }) => (predicate === undefined ? "metadata" : "analyze"),
  errors: [11, 12, 22],
  summary: "Counts the rows, or the rows that match a predicate (which also requires the scope `read`)",
  body: z.object({ ...snapshotShape, predicate: optional(z.string()).describe("SQL predicate; absent for all rows") }),
  answer: z.int().min(0).describe("Live rows"),
  handle: async (tools, table, { predicate, ...snapshot }, call) => {
    // Repeated predicates can reveal the content of rows.
    if (predicate !== undefined) authorize(call.principal, "read", table.parts);
    const verified = predicate === undefined ? undefined : tools.guard.predicate(predicate);
    const { rows, version } = await tools.database.count(table, snapshotOf(tools, snapshot, call), verified);
    return new OperationResponse(rows, versionHeader(version));
  },
});
