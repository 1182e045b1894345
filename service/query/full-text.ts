import { z } from "zod";
import { booleanOperator, columnName, float, ifSet, natural, optional } from "./fields.ts";
import { fullTextSchema } from "./full-text-schema.ts";
import { holdsMoreThan, jsonObject, listOf, maxSizes, passOn } from "./lists.ts";
import type { Clause, FullText, MatchClause } from "./model.ts";
import { closed } from "./unknown-field.ts";

const notEmpty = (list: readonly unknown[]): boolean => list.length > 0;

const match = closed({
  terms: z.string(),
  column: optional(columnName),
  boost: optional(float),
  fuzziness: optional(natural),
  max_expansions: optional(natural),
  operator: optional(booleanOperator),
  prefix_length: optional(natural),
}).transform(
  (wire): MatchClause => ({
    kind: "match",
    terms: wire.terms,
    ...(wire.column === undefined ? {} : { column: wire.column }),
    boost: wire.boost ?? 1,
    fuzziness: wire.fuzziness ?? 0,
    maxExpansions: wire.max_expansions ?? 50,
    operator: wire.operator ?? "OR",
    prefixLength: wire.prefix_length ?? 0,
  }),
);

const phrase = closed({ terms: z.string(), column: optional(columnName), slop: optional(natural) }).transform(
  (wire): Clause => ({
    kind: "phrase",
    terms: wire.terms,
    ...(wire.column === undefined ? {} : { column: wire.column }),
    slop: wire.slop ?? 0,
  }),
);

const boost = z.lazy(() =>
  closed({ positive: clause, negative: clause, negative_boost: optional(float) }).transform(
    (wire): Clause => ({
      kind: "boost",
      positive: wire.positive,
      negative: wire.negative,
      ...(wire.negative_boost === undefined ? {} : { negativeBoost: wire.negative_boost }),
    }),
  ),
);

/** The form of LanceDB's client: one text over several columns. */
const multiMatchOfColumns = closed({
  query: z.string(),
  columns: listOf(columnName, maxSizes.clauses).refine(notEmpty, { error: "must name at least one column" }),
  boost: optional(listOf(float, maxSizes.clauses)),
  operator: optional(booleanOperator),
}).transform((wire, context): Clause => {
  if (wire.boost !== undefined && wire.boost.length !== wire.columns.length) {
    context.addIssue({ code: "custom", message: "boost must have one number for each of columns" });
    return z.NEVER;
  }
  return {
    kind: "multi_match",
    terms: wire.query,
    columns: wire.columns,
    boosts: wire.boost ?? wire.columns.map(() => 1),
    operator: wire.operator ?? "OR",
  };
});

/**
 * The form of the specification: a list of match clauses. The SDK's multi-match has one text and one operator for all
 * columns, so clauses may differ in column and boost only.
 */
const multiMatchOfClauses = closed({
  match_queries: listOf(match, maxSizes.clauses).refine(notEmpty, { error: "must hold at least one match clause" }),
}).transform(({ match_queries: clauses }, context): Clause => {
  const [first] = clauses as [MatchClause, ...MatchClause[]];
  const columns = clauses.map((entry) => entry.column).filter((column) => column !== undefined);
  const uniform = clauses.every(
    (entry) =>
      entry.terms === first.terms &&
      entry.operator === first.operator &&
      entry.fuzziness === 0 &&
      entry.maxExpansions === 50 &&
      entry.prefixLength === 0,
  );
  if (columns.length !== clauses.length || !uniform) {
    context.addIssue({
      code: "custom",
      message:
        "every entry of match_queries must name its column and all must share terms and operator, without " +
        "fuzziness, max_expansions or prefix_length: use a boolean clause of match clauses instead",
    });
    return z.NEVER;
  }
  return {
    kind: "multi_match",
    terms: first.terms,
    columns,
    boosts: clauses.map((entry) => entry.boost),
    operator: first.operator,
  };
});

const multiMatch = jsonObject().transform((wire, context) =>
  pipe("match_queries" in wire ? multiMatchOfClauses : multiMatchOfColumns, wire, context),
);

const clauses = z.lazy(() => optional(listOf(clause, maxSizes.clauses)));

const boolean = z.lazy(() =>
  closed({ must: clauses, should: clauses, must_not: clauses }).transform(
    (wire): Clause => ({
      kind: "boolean",
      must: wire.must ?? [],
      should: wire.should ?? [],
      mustNot: wire.must_not ?? [],
    }),
  ),
);

const kinds = { match, phrase, boost, multi_match: multiMatch, boolean } as const;

const oneClause = `must be an object with exactly one key of ${Object.keys(kinds).join(", ")}`;

/** An object with one key, the kind of the clause: `{match: {…}}`, `{boolean: {…}}`, … */
const clause: z.ZodType<Clause> = jsonObject(oneClause).transform((wire, context): Clause => {
  const present = Object.keys(wire).filter((key) => wire[key] !== null && wire[key] !== undefined);
  const [kind] = present;
  if (present.length !== 1 || kind === undefined || !Object.hasOwn(kinds, kind)) {
    context.addIssue({ code: "custom", message: oneClause });
    return z.NEVER;
  }
  return pipe(kinds[kind as keyof typeof kinds], wire[kind], context, kind);
});

/** Runs a schema inside a transform and reports its issues under the key that selected it. */
function pipe<T>(schema: z.ZodType<T>, value: unknown, context: z.RefinementCtx, key?: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  passOn(parsed.error.issues, context, key === undefined ? [] : [key]);
  return z.NEVER as T;
}

const stringQuery = closed({ query: z.string(), columns: optional(listOf(columnName, maxSizes.columns)) });

const asString = (wire: z.output<typeof stringQuery>): FullText => ({
  kind: "string",
  query: wire.query,
  columns: wire.columns ?? [],
});

/** Maximum keys and list elements of a tree: about ten for each clause with all its options. */
const maxInTree = 12 * maxSizes.clauses;

/** Counted as a whole before parsing: nested clauses could each be within their bounds. */
const tree = z
  .unknown()
  .refine((wire) => !holdsMoreThan(maxInTree, wire), {
    abort: true,
    error: `holds more than ${maxInTree} keys and elements: send fewer clauses`,
  })
  .pipe(clause);

/**
 * The three envelopes of a full-text query, distinguished by their keys: `{string_query: {query, columns}}` and
 * `{structured_query: {query: CLAUSE}}` of the specification, `{query: CLAUSE}` and `{query: "…", columns}` of
 * LanceDB's client.
 */
export const fullText = jsonObject()
  .transform((wire, context): FullText | undefined => {
    if (Object.keys(wire).length === 0) return undefined;
    const string = ifSet(wire.string_query);
    const structured = ifSet(wire.structured_query);
    if (string !== undefined && structured !== undefined) {
      context.addIssue({ code: "custom", message: "must hold exactly one of string_query and structured_query" });
      return z.NEVER;
    }
    if (string !== undefined) return asString(pipe(stringQuery, string, context, "string_query"));
    if (structured !== undefined) {
      const { query } = pipe(closed({ query: z.unknown().optional() }), structured, context, "structured_query");
      return { kind: "structured", clause: pipe(tree, query, context, "structured_query.query") };
    }
    if (typeof wire.query === "string") return asString(pipe(stringQuery, wire, context));
    if (wire.query !== null && typeof wire.query === "object")
      return { kind: "structured", clause: pipe(tree, wire.query, context, "query") };
    context.addIssue({ code: "custom", message: "must hold string_query, structured_query or query" });
    return z.NEVER;
  })
  .meta(fullTextSchema);
