import { z } from "zod";
import { jsonObject, passOn } from "../../query/lists.ts";
import { unknownField, unset } from "../../query/unknown-field.ts";
import { type Query, query, queryShape } from "../../query/wire.ts";
import { commonShape, nestingKeys } from "./common-fields.ts";

/** The branch is inside the query object (LanceDB's client) or beside it (the specification). */
const withBranch = (wire: Readonly<Record<string, unknown>>, branch: unknown): Record<string, unknown> => ({
  ...wire,
  branch: wire.branch ?? branch,
});

const differ = (inner: unknown, outer: unknown): boolean =>
  typeof inner === "string" && typeof outer === "string" && inner !== outer;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const queryKeys = Object.keys({ ...queryShape, ...commonShape });
const outerKeys = [...nestingKeys, ...Object.keys(commonShape)];

/**
 * Parses the query of a body. explain_plan nests it under `query`; analyze_plan has it flat and also accepts the nested
 * form of the specification before v0.2.1.
 */
const readQuery = (body: Record<string, unknown>, context: z.RefinementCtx, nested: boolean): Query => {
  const inner = body.query;
  if (nested && !isObject(inner)) {
    context.addIssue({ code: "custom", path: ["query"], message: "must be an object" });
    return z.NEVER;
  }
  if (isObject(inner) && differ(inner.branch, body.branch)) {
    context.addIssue({ code: "custom", path: ["branch"], message: "differs from query.branch: send one of them" });
    return z.NEVER;
  }
  const isNested = isObject(inner);
  const outside = isNested ? unknownField(body, outerKeys) : undefined;
  if (outside !== undefined) {
    context.addIssue({ code: "custom", path: [outside.sent], message: "stands beside query: move it into query" });
    return z.NEVER;
  }
  const unknown = isNested ? unknownField(inner, queryKeys) : undefined;
  if (unknown !== undefined) {
    context.addIssue({ code: "custom", path: ["query", unknown.sent], message: unknown.message });
    return z.NEVER;
  }
  const parsed = query.safeParse(isNested ? withBranch(inner, body.branch) : body);
  if (parsed.success) return parsed.data;
  passOn(parsed.error.issues, context, isNested ? ["query"] : []);
  return z.NEVER;
};

export const nestedQuery = jsonObject().transform((body, context) => readQuery(body, context, true));
export const flatQuery = jsonObject().transform((body, context) => readQuery(body, context, false));

/** The query object for OpenAPI. */
export const documentedQuery = z.object(queryShape);

/** The query object inside a body for OpenAPI: the specification gives it the common fields of a body too. */
export const documentedNestedQuery = z.object({ ...queryShape, ...commonShape }).meta({ additionalProperties: unset });

/** A plan as a JSON string, the only form that all client families read. */
export const planAnswer = z.string().describe("The plan, one node a line");
