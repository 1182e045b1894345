import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { phalanxVersion } from "../shared/headers.ts";
import { committed, createMode, rowsBody, versionAnswer } from "../shared/write.ts";

export const createTable = defineOperation({
  name: "create_table",
  target: "table",
  path: "create",
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
  answer: versionAnswer.extend({
    location: z.string().optional().describe("As describe returns it; for clients of the specification"),
  }),
  headers: phalanxVersion,
  handle: async ({ database }, table, rows, { parameters, dialect }) => {
    const commit = await database.createTable(table, rows, parameters.mode);
    // LanceDB's clients do not read it. The table is there, even if it cannot be opened now.
    const found =
      dialect === "lancedb" ? undefined : await database.describe(table, {}, "arrow").catch(() => undefined);
    const location = found?.location === undefined ? {} : { location: found.location.address };
    return committed({ version: commit.version, ...location }, commit);
  },
});
