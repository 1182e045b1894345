import { mayShareCommit } from "../../lance/writes/write-calls.ts";
import { defineOperation } from "../operation.ts";
import { branchOf, branchParameters, committed, count, insertMode, rowsBody, versionAnswer } from "../shared/write.ts";

export const insert = defineOperation({
  name: "insert",
  target: "table",
  path: "insert",
  methods: ["POST"],
  scope: "write",
  // Small appends wait for a common commit, which one worker runs.
  admission: (rows, { mode }) => (mayShareCommit(rows, mode) ? "append" : "write"),
  endsSoon: true,
  errors: [14, 20, 22],
  summary: "Inserts the rows of an Arrow IPC stream",
  input: "arrow",
  body: rowsBody,
  parameters: branchParameters.extend({
    mode: insertMode.default("append").describe("append adds the rows, overwrite replaces all rows"),
  }),
  answer: versionAnswer.extend({ num_inserted_rows: count }),
  handle: async (tools, table, rows, { parameters: { branch, mode } }) => {
    const commit = await tools.database.insertRows({ table, ...branchOf(tools, branch) }, [rows], mode);
    return committed({ version: commit.version, num_inserted_rows: commit.rows.inserted }, commit);
  },
});
