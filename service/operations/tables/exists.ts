import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { snapshotOf, snapshotShape } from "../shared/snapshot.ts";

export const exists = defineOperation({
  name: "exists",
  target: "table",
  path: "exists",
  methods: ["POST"],
  scope: null,
  admission: "metadata",
  errors: [11, 22],
  summary: "Checks that a table, or a version of it, exists",
  body: z.object(snapshotShape),
  media: "empty",
  answer: z.null(),
  handle: (tools, table, body, call) => tools.database.requireTable(table, snapshotOf(tools, body, call)),
});
