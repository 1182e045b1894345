import { z } from "zod";
import { defineOperation } from "./operation.ts";
import { phalanxVersion } from "./shared/headers.ts";
import { committed, createMode, rowsBody, versionAnswer } from "./shared/write.ts";

export const createTable = defineOperation({
  name: "create_table",
  target: "table",
  path: "create",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  endsSoon: true,
  missing: [1],
  errors: [5, 14, 20],
  summary: "Creates a table from an Arrow IPC stream, with rows or with a schema alone",
  input: "arrow",
  body: rowsBody,
  parameters: z.object({
    mode: createMode
      .default("create")
      .describe("What to do if the table exists: create fails, exist_ok keeps it, overwrite replaces its content"),
  }),
  answer: versionAnswer,
  headers: phalanxVersion,
  handle: async ({ database }, table, rows, { parameters }) => {
    const commit = await database.createTable(table, rows, parameters.mode);
    return committed({ version: commit.version }, commit);
  },
});
