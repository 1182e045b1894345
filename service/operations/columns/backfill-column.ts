import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { readBinding } from "../../functions/index.ts";
import { missingColumn } from "../../lance/errors/classify.ts";
import { computedExpression } from "../../lance/writes/table-writes.ts";
import { columnName } from "../../query/fields.ts";
import { startRefresh } from "../functions/function-columns.ts";
import { defineOperation, OperationResponse } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { callerOf } from "../shared/current-call.ts";
import { consistencyOf } from "../shared/snapshot.ts";
import { authorizeSql, branchOf } from "../shared/write.ts";

export const backfillColumn = defineOperation({
  name: "backfill_column",
  target: "table",
  path: "backfill_column",
  scope: "write",
  admission: "metadata",
  errors: [0, 12, 20, 22],
  summary:
    "Starts a job that computes the rows of a computed column that have no value or whose inputs have changed; requires the scope `read`, too, and for a column of a Function `functions`",
  body: z.object({
    column: columnName.describe("A column that add_columns added with computed or a Function"),
    branch: branchField,
  }),
  example: { column: "double" },
  successes: [202],
  answer: z.object({ job_id: z.string() }),
  handle: async (tools, table, { column, branch }, call) => {
    authorizeSql(call, table);
    const target = branchOf(tools, branch);
    const { schema } = await tools.database.describe(table, { ...target, ...consistencyOf(call) }, "lance");
    const field = schema.fields.find(({ name }) => name === column);
    if (field === undefined) throw new ServiceError(12, { message: missingColumn(column) });
    const binding = readBinding(field.metadata);
    if (binding !== undefined) {
      const job = await startRefresh(tools, table, { binding, column, branch: target.branch, call });
      return new OperationResponse({ job_id: job }, {}, { status: 202, pending: true });
    }
    const sql = field.metadata?.[computedExpression];
    if (sql === undefined)
      throw new ServiceError(20, {
        message:
          "column: the column is not computed: only a column that add_columns added with computed or a Function is refreshed",
      });
    // A program that writes files, or a table's creator, may have put it there.
    const expression = tools.guard.expression(sql, "the column's expression");
    const job = await tools.jobs.start(
      { type: "refresh_column", table: table.key, spec: { id: table.parts, column, ...target, expression } },
      callerOf(),
    );
    return new OperationResponse({ job_id: job }, {}, { status: 202, pending: true });
  },
});
