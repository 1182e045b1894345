import { z } from "zod";
import { count } from "../../query/answers.ts";
import { columnName } from "../../query/fields.ts";
import { defineOperation } from "../operation.ts";
import { authorizeSql, branchOf, branchParameters, committed, rowsBody, versionAnswer } from "../shared/write.ts";

const flag = z.stringbool({ error: "must be true or false" }).default(false);
const condition = z.string().optional();

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** In milliseconds. */
const duration = z.string().transform((text, context) => {
  const [, digits, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  if (digits !== undefined) return Math.min(Number(digits) * units[unit as keyof typeof units], maxTimeoutMs);
  context.addIssue({ code: "custom", message: "must be a number with a unit, such as 500ms, 30s or 5m" });
  return z.NEVER;
});

/** The SDK converts it to 32 bits without an error. */
const maxTimeoutMs = 2 ** 31;

export const mergeInsert = defineOperation({
  name: "merge_insert",
  target: "table",
  path: "merge_insert",
  scope: "write",
  admission: "write",
  errors: [12, 14, 20, 22],
  summary:
    "Merges the rows of an Arrow IPC stream into a table by key columns (conditions also require the scope `read`)",
  input: "arrow",
  body: rowsBody,
  repeatable: ["on"],
  parameters: branchParameters.extend({
    on: z
      .array(columnName)
      .min(1, { error: "is missing: name the column that identifies a row" })
      .max(32, { error: "names more than 32 columns" })
      .describe("Column that identifies a row; repeat it for a key of several columns"),
    when_matched_update_all: flag.describe("Update all columns of rows that match"),
    when_matched_update_all_filt: condition.describe("Update only rows for which it is true"),
    when_not_matched_insert_all: flag.describe("Insert rows that match none"),
    when_not_matched_by_source_delete: flag.describe("Delete rows of the table that match no new row"),
    when_not_matched_by_source_delete_filt: condition.describe("Delete only rows for which it is true"),
    use_index: z
      .stringbool({ error: "must be true or false" })
      .default(true)
      .describe("Use an index on the key column"),
    use_lsm: z
      .stringbool({ error: "must be true or false" })
      .refine((use) => !use, {
        error: "is true, but merges through the write-ahead log are not supported yet: remove it",
      })
      .optional()
      .describe("Write to the write-ahead log; only false is supported yet"),
    timeout: duration.optional().describe("Time after which the merge is given up, such as 500ms, 30s or 5m"),
  }),
  answer: versionAnswer.extend({
    num_inserted_rows: count,
    num_updated_rows: count,
    num_deleted_rows: count,
    num_attempts: count.describe("Attempts to commit, more than one after conflicts with other writers"),
  }),
  handle: async (tools, table, rows, { parameters, principal, timeoutMs }) => {
    const verified = (key: "when_matched_update_all_filt" | "when_not_matched_by_source_delete_filt") => {
      const expression = parameters[key];
      if (expression === undefined || expression === "") return undefined;
      authorizeSql({ principal }, table);
      return tools.guard.expression(expression, key);
    };
    const commit = await tools.database.mergeRows({ table, ...branchOf(tools, parameters.branch) }, rows, {
      on: parameters.on,
      updateMatched: parameters.when_matched_update_all,
      updateMatchedIf: verified("when_matched_update_all_filt"),
      insertNotMatched: parameters.when_not_matched_insert_all,
      deleteNotMatchedBySource: parameters.when_not_matched_by_source_delete,
      deleteNotMatchedBySourceIf: verified("when_not_matched_by_source_delete_filt"),
      useIndex: parameters.use_index,
      timeoutMs: parameters.timeout ?? timeoutMs,
    });
    const { inserted, updated, deleted } = commit.rows;
    const answer = {
      version: commit.version,
      num_inserted_rows: inserted,
      num_updated_rows: updated,
      num_deleted_rows: deleted,
      num_attempts: commit.attempts,
    };
    return committed(answer, commit);
  },
});
