import { z } from "zod";
import { optional } from "../../query/fields.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { documentedNestedQuery, nestedQuery, planAnswer } from "../shared/plan-body.ts";
import { planAlternative, presentPlan } from "../shared/plan-document.ts";
import { verifiedQuery } from "../shared/snapshot.ts";

const verbose = z.object({ verbose: optional(z.boolean()) });

export const explainPlan = defineOperation({
  name: "explain_plan",
  target: "table",
  path: "explain_plan",
  methods: ["POST"],
  scope: "plan",
  admission: "plan",
  produces: "plan",
  errors: [11, 12, 22],
  summary: "Returns the plan of a query without running it",
  body: z
    .intersection(
      nestedQuery,
      verbose.transform((wire) => ({ verbose: wire.verbose ?? false })),
    )
    .transform(({ verbose, ...query }) => ({ verbose, query })),
  documentedBody: verbose.extend({ query: documentedNestedQuery, branch: branchField }),
  nestsQuery: true,
  example: { query: { k: 5 } },
  answer: planAnswer,
  alternative: planAlternative,
  handle: async (tools, table, { query, verbose }, call) => {
    const verified = await verifiedQuery(tools, table, query, call, false);
    return presentPlan(tools, table, verified, call, await tools.database.explain(table, verified, verbose));
  },
});
