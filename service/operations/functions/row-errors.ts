import { z } from "zod";
import { count } from "../../query/answers.ts";
import { columnName, optional } from "../../query/fields.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { snapshotOf } from "../shared/snapshot.ts";

const limits = { usual: 1000, most: 10_000 } as const;

const record = z.object({
  job_id: z.string(),
  fragment_id: count,
  row_offset: count.describe("In the fragment, deleted rows counted"),
  column: z.string(),
  function: z.string(),
  function_version: z.string(),
  table_version: count,
  error_type: z.string(),
  error_message: z.string(),
  created_at_millis: count,
});

export const rowErrors = defineOperation({
  name: "function_errors",
  target: "table",
  path: "errors",
  extension: "lancedb",
  scope: "read",
  admission: "metadata",
  errors: [22],
  summary:
    "Lists why Functions gave rows no value, as refreshes of the last seven days recorded it; messages may hold data",
  body: z.object({
    job_id: optional(z.string()).describe("Of one refresh"),
    column: optional(columnName).describe("Of one column"),
    limit: optional(z.int().min(1).max(limits.most)).describe(`Maximum records; default: ${limits.usual}`),
    branch: branchField,
  }),
  answer: z.object({ records: z.array(record), truncated: z.boolean() }),
  handle: async (tools, table, { job_id: job, column, limit = limits.usual, branch }, call) => {
    const snapshot = snapshotOf(tools, { branch }, call);
    await tools.database.requireTable(table, snapshot);
    const place = snapshot.branch === undefined ? table.key : `${table.key}@${snapshot.branch}`;
    const found = await tools.rowErrors(place, { job, column, limit: limit + 1 });
    return { records: found.slice(0, limit), truncated: found.length > limit };
  },
});
