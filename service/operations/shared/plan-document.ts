import { z } from "zod";
import { authorize, type Principal } from "../../auth/index.ts";
import { invalid, ServiceError } from "../../errors.ts";
import type { TableId } from "../../guard/table-id.ts";
import type { VerifiedQuery } from "../../guard/verify-query.ts";
import { diagnose } from "../../plan-doctor/diagnose.ts";
import example from "../../plan-doctor/example.json" with { type: "json" };
import type { Facts, PlanDocument, PlanNode } from "../../plan-doctor/types.ts";
import { type Alternative, type Call, OperationResponse, type Tools } from "../operation.ts";

export const planMediaType = "application/vnd.lakehead.plan+json";

const number = z.number().nullable();
const text = z.string();

const metric = z
  .object({
    name: text,
    text: text.describe("The value as the engine prints it"),
    value: number,
    unit: z.enum(["count", "bytes", "ns", "ratio", "text"]),
    rounded: z.boolean().describe("Whether the engine rounded the value"),
    of: z.tuple([z.number(), z.number()]).readonly().optional().describe("Kept and seen rows of a ratio"),
  })
  .meta({ id: "PlanMetric" });

const node: z.ZodType<PlanNode> = z
  .object({
    id: z.int().min(0).describe("Position in the text"),
    name: text,
    text: text.describe("The node's text without its indentation"),
    attributes: z.array(z.object({ key: text.nullable(), value: text })),
    metrics: z.array(metric),
    elapsed_ns: number.describe("Inclusive time in nanoseconds; null if the query did not run"),
    own_ns: number.describe("Inclusive time less that of the child with the largest: children overlap"),
    share: number.describe("Own time as a share of the whole query's, 0 to 1"),
    rows_in: number,
    rows_out: number,
    get children() {
      return z.array(node);
    },
  })
  .meta({ id: "PlanNode" });

const finding = z
  .object({
    code: text.describe("Also the heading of its section in docs/plan-doctor.md"),
    severity: z.enum(["warning", "info"]).describe("warning: always a loss; info: a loss for some uses of the query"),
    title: text,
    node: z.int().nullable().describe("The id of the node; null for a finding about the table"),
    evidence: z.array(z.object({ name: text, value: z.union([z.number(), text]) })),
    why: text,
    fix: z.object({
      summary: text,
      python: text.describe("For LanceDB's Python SDK: table is the open table, vector the query's"),
      typescript: text.describe(
        "For @lancedb/lancedb: table is the open table, lancedb the package, vector the query's",
      ),
      rest: text.describe("Method, path and body, or a comment where the service has no such operation"),
      write: z
        .object({
          operation: z.enum(["create_index", "create_scalar_index", "maintain"]),
          body: z.record(z.string(), text),
        })
        .optional()
        .describe("The one request of rest that changes the table, which needs writes and the scope manage"),
    }),
  })
  .meta({ id: "PlanFinding" });

const facts = z
  .object({
    version: number,
    statistics: z
      .object({
        rows: z.number(),
        deleted_rows: z.number(),
        bytes: z.number(),
        fragments: z.number(),
        small_fragments: z.number(),
      })
      .nullable()
      .describe("Requires the scope stats"),
    columns: z.array(z.object({ name: text, type: text, dimensions: number })).nullable(),
    indices: z
      .array(
        z.object({
          name: text,
          columns: z.array(text).readonly(),
          type: text,
          metric: text.nullable(),
          code_bits: number,
          indexed_rows: number,
          unindexed_rows: number,
          deltas: number,
          bytes: number,
        }),
      )
      .nullable(),
    missing: z.array(z.object({ fact: z.enum(["version", "statistics", "columns", "indices"]), reason: text })),
  })
  .meta({ id: "PlanFacts" });

const planDocument: z.ZodType<PlanDocument> = z.object({
  plan: text.describe("The plan, one node a line: the whole response to every other Accept"),
  tree: z.object({
    measured: z.boolean().describe("Whether the query ran"),
    elapsed_ns: number,
    roots: z.array(node),
  }),
  findings: z.array(finding),
  facts,
});

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
