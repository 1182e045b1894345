import { authorize, type Principal } from "../../auth/index.ts";
import { invalid, ServiceError } from "../../errors.ts";
import type { TableId } from "../../guard/table-id.ts";
import type { VerifiedQuery } from "../../guard/verify-query.ts";
import { diagnose } from "../../plan-doctor/diagnose.ts";
import { example } from "../../plan-doctor/example.ts";
import { type Facts, type PlanDocument, planDocument } from "../../plan-doctor/types.ts";
import { type Alternative, type Call, OperationResponse, type Tools } from "../operation.ts";

export const planMediaType = "application/vnd.lakehead.plan+json";

/** The form of a plan for programs, beside the string that all client families read. */
export const planAlternative: Alternative = { mediaType: planMediaType, answer: planDocument, example };

/** Maximum length of a plan that is parsed, in characters: the service's own process parses it. */
const maxParsedLength = 2 ** 19;

/** Time for all facts, the check of the table's version before them included; in milliseconds. */
const maxFactsMs = 5000;

const scopeReason = "requires the scope stats";

const permits = (principal: Principal, table: TableId): boolean => {
  try {
    authorize(principal, "stats", table.parts);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 15) return false;
    throw error;
  }
};

const noFacts = (reason: string): Facts => ({
  version: null,
  statistics: null,
  columns: null,
  indices: null,
  missing: (["version", "statistics", "columns", "indices"] as const).map((fact) => ({ fact, reason })),
});

/** The facts that the caller may see. A failure is named in them: the plan is worth more than its findings. */
const factsFor = async (
  { database }: Tools,
  table: TableId,
  query: VerifiedQuery,
  { principal }: Pick<Call, "principal">,
): Promise<Facts> => {
  const mayReadStatistics = permits(principal, table);
  const late = Promise.withResolvers<Facts>();
  const timer = setTimeout(() => late.resolve(noFacts(`took more than ${maxFactsMs / 1000} seconds`)), maxFactsMs);
  const read = database
    .planFacts(table, query, mayReadStatistics)
    .catch((error: unknown) => noFacts(error instanceof ServiceError ? error.message : "cannot be read"));
  const facts = await Promise.race([read, late.promise]).finally(() => clearTimeout(timer));
  if (mayReadStatistics) return facts;
  const others = facts.missing.filter(({ fact }) => fact !== "statistics");
  return { ...facts, missing: [...others, { fact: "statistics", reason: scopeReason }] };
};

/** The response to a plan's request: the string, or the plan with its tree, findings and facts. */
export const presentPlan = async (
  tools: Tools,
  table: TableId,
  query: VerifiedQuery,
  call: Pick<Call, "principal" | "alternative">,
  plan: string,
): Promise<unknown> => {
  if (!call.alternative) return plan;
  if (plan.length > maxParsedLength)
    throw invalid(
      `the plan has more than ${maxParsedLength} characters: shorten the query, or send Accept: application/json for its text`,
    );
  // After the plan, so that the reads do not add to the measured times.
  const facts = await factsFor(tools, table, query, call);
  const body: PlanDocument = { plan, ...diagnose(plan, query, facts, table.key), facts };
  return new OperationResponse(body, { "content-type": planMediaType });
};
