import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { documentedQuery, flatQuery, planAnswer } from "../shared/plan-body.ts";
import { planAlternative, presentPlan } from "../shared/plan-document.ts";
import { verifiedQuery } from "../shared/snapshot.ts";

export const analyzePlan = defineOperation({
  name: "analyze_plan",
  target: "table",
  path: "analyze_plan",
  methods: ["POST"],
  scope: "analyze",
  admission: "analyze",
  produces: "plan",
  errors: [11, 12, 22],
  summary: "Runs a query and returns its plan with the measured metrics of each node",
  body: flatQuery,
  documentedBody: documentedQuery,
  nestsQuery: true,
  parameters: z.object({
    distributed_metrics: z
      .enum(["aggregate", "per_worker", "full"], { error: "must be aggregate, per_worker or full" })
      .optional()
      .describe("Detail of distributed metrics; without effect, because one process runs the whole query"),
  }),
  example: { k: 5 },
  answer: planAnswer,
  alternative: planAlternative,
  handle: async (tools, table, query, call) => {
    const verified = await verifiedQuery(tools, table, query, call, true);
    return presentPlan(tools, table, verified, call, await tools.database.analyze(table, verified));
  },
});
