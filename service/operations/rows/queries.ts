import { z } from "zod";
import { optional } from "../../query/fields.ts";
import { defineOperation, OperationResponse } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { versionHeader } from "../shared/headers.ts";
import { documentedNestedQuery, documentedQuery, flatQuery, nestedQuery, planAnswer } from "../shared/plan-body.ts";
import { planAlternative, presentPlan } from "../shared/plan-document.ts";
import { verifiedQuery } from "../shared/snapshot.ts";

const plan = {
  target: "table",
  produces: "plan",
  errors: [11, 12, 22],
  nestsQuery: true,
  answer: planAnswer,
  alternative: planAlternative,
} as const;

const verbose = z.object({ verbose: optional(z.boolean()) });

export const explainPlan = defineOperation({
  ...plan,
  name: "explain_plan",
  path: "explain_plan",
  scope: "plan",
  admission: "plan",
  summary: "Returns the plan of a query without running it",
  body: z
    .intersection(
      nestedQuery,
      verbose.transform((wire) => ({ verbose: wire.verbose ?? false })),
    )
    .transform(({ verbose, ...query }) => ({ verbose, query })),
  documentedBody: verbose.extend({ query: documentedNestedQuery, branch: branchField }),
  example: { query: { k: 5 } },
  handle: async (tools, table, { query, verbose }, call) => {
    const verified = await verifiedQuery(tools, table, query, call, false);
    return presentPlan(tools, table, verified, call, await tools.database.explain(table, verified, verbose));
  },
});

export const analyzePlan = defineOperation({
  ...plan,
  name: "analyze_plan",
  path: "analyze_plan",
  scope: "analyze",
  admission: "analyze",
  summary: "Runs a query and returns its plan with the measured metrics of each node",
  body: flatQuery,
  documentedBody: documentedQuery,
  parameters: z.object({
    distributed_metrics: z
      .enum(["aggregate", "per_worker", "full"], { error: "must be aggregate, per_worker or full" })
      .optional()
      .describe("Detail of distributed metrics; without effect, because one process runs the whole query"),
  }),
  example: { k: 5 },
  handle: async (tools, table, query, call) => {
    const verified = await verifiedQuery(tools, table, query, call, true);
    return presentPlan(tools, table, verified, call, await tools.database.analyze(table, verified));
  },
});

export const query = defineOperation({
  name: "query",
  target: "table",
  path: "query",
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
