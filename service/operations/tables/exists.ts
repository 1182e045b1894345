import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { defineOperation } from "../operation.ts";
import { snapshotOf, snapshotShape } from "../shared/snapshot.ts";

export const exists = defineOperation({
  name: "exists",
  target: "table",
  path: "exists",
  scope: null,
  admission: "metadata",
  errors: [11, 22],
  summary: "Checks that a table, or a version of it, exists",
  body: z.object(snapshotShape),
  media: "empty",
  answer: z.null(),
  handle: async (tools, table, body, call) => {
    const snapshot = snapshotOf(tools, body, call);
    const isPinned = body.version !== undefined || body.branch !== undefined;
    try {
      await tools.database.requireTable(table, snapshot);
    } catch (error) {
      const isMissing = error instanceof ServiceError && error.code === 4;
      if (!isMissing || isPinned || call.dialect === "lancedb") throw error;
      await tools.database.declared(table, error);
    }
  },
});
