import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { emptyBody } from "../shared/snapshot.ts";

export const dropTable = defineOperation({
  name: "drop_table",
  target: "table",
  path: "drop",
  scope: "manage",
  admission: "write",
  errors: [],
  summary: "Deletes a table with all its versions",
  body: emptyBody,
  answer: z.object({ id: z.array(z.string()) }),
  handle: async ({ database }, table) => {
    await database.dropTable(table);
    return { id: table.parts };
  },
});
