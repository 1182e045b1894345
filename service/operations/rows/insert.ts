import { z } from "zod";
import { invalid } from "../../errors.ts";
import { mayShareCommit } from "../../lance/writes/write-calls.ts";
import { count } from "../../query/answers.ts";
import { defineOperation, OperationResponse } from "../operation.ts";
import { callerOf } from "../shared/current-call.ts";
import { branchOf, branchParameters, committed, insertMode, rowsBody, versionAnswer } from "../shared/write.ts";

interface PartParameters {
  readonly upload_id?: string | undefined;
  readonly upload_part_id?: string | undefined;
}

/** The part of an upload that the rows are; undefined for an insert of its own. @throws ServiceError code 13. */
const partOf = ({ upload_id: upload, upload_part_id: part }: PartParameters) => {
  if (upload === undefined && part === undefined) return undefined;
  if (upload === undefined || part === undefined)
    throw invalid("upload_id and upload_part_id belong together: send both, or neither for an insert of its own");
  return { upload, part };
};

export const insert = defineOperation({
  name: "insert",
  target: "table",
  path: "insert",
  scope: "write",
  // Small appends wait for a common commit, which one worker runs.
  admission: (rows, { mode, upload_id: upload }) =>
    upload === undefined && mayShareCommit(rows, mode) ? "append" : "write",
  endsSoon: true,
  errors: [14, 19, 20, 22],
  summary: "Inserts the rows of an Arrow IPC stream, or keeps them as a part of an upload",
  input: "arrow",
  body: rowsBody,
  parameters: branchParameters.extend({
    mode: insertMode.default("append").describe("append adds the rows, overwrite replaces all rows"),
    upload_id: z.string().optional().describe("The upload of which the rows are a part, from multipart_write/create"),
    upload_part_id: z.string().optional().describe("Name of the part; one that is sent again replaces the one before"),
  }),
  successes: [200, 202],
  room: async ({ uploads }, parameters) => {
    const staged = partOf(parameters);
    return staged && uploads.room(staged.upload, staged.part, callerOf());
  },
  answer: versionAnswer.extend({ num_inserted_rows: count }),
  handle: async (tools, table, rows, { parameters: { branch, mode, ...parameters } }) => {
    const target = { table, ...branchOf(tools, branch) };
    const staged = partOf(parameters);
    if (staged !== undefined) {
      await tools.uploads.add(target, staged.upload, staged.part, mode, rows, callerOf());
      return new OperationResponse(null, {}, { status: 202, pending: true });
    }
    const commit = await tools.database.insertRows(target, [rows], mode);
    return committed({ version: commit.version, num_inserted_rows: commit.rows.inserted }, commit);
  },
});
