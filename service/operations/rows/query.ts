import { z } from "zod";
import { defineOperation, OperationResponse } from "../operation.ts";
import { versionHeader } from "../shared/headers.ts";
import { documentedQuery, flatQuery } from "../shared/plan-body.ts";
import { verifiedQuery } from "../shared/snapshot.ts";

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
  handle: async (tools, table, wanted, call) => {
    const verified = await verifiedQuery(tools, table, wanted, call, true);
    const { file, version } = await tools.database.query(table, verified);
    return new OperationResponse(file, versionHeader(version));
  },
});
