import { z } from "zod";
import { defineOperation } from "./operation.ts";
import { snapshotOf, snapshotShape } from "./shared/snapshot.ts";

export const exists = defineOperation({
  name: "exists",
  target: "table",
  path: "exists",
  methods: ["POST"],
  scope: null,
  admission: "metadata",
  errors: [11, 22],
  summary: "Whether a table, and a version of it, is there",
  body: z.object(snapshotShape),
  media: "empty",
  answer: z.null(),
  handle: (tools, table, body, call) => tools.database.requireTable(table, snapshotOf(tools, body, call)),
});
