import { z } from "zod";
import { defineOperation, OperationResponse } from "../operation.ts";
import { versionHeader } from "../shared/headers.ts";
import { documentedQuery, flatQuery } from "../shared/plan-body.ts";
import { consistencyOf } from "../shared/snapshot.ts";

export const query = defineOperation({
  name: "query",
  target: "table",
  path: "query",
  methods: ["POST"],
  scope: "read",
  admission: "analyze",
  errors: [0, 11, 12, 22],
  summary: "Returns the rows of a query as an Arrow IPC file",
  body: flatQuery,
  documentedBody: documentedQuery,
  nestsQuery: true,
  example: { k: 5 },
  media: "arrow",
  produces: "rows",
  answer: z.unknown(),
  handle: async ({ database, verifyQuery }, table, wanted, call) => {
    const verified = await verifyQuery(table, { ...wanted, ...consistencyOf(call) }, true);
    const { file, version } = await database.query(table, verified);
    return new OperationResponse(file, versionHeader(version));
  },
});
