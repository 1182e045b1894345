import { invalid, type ServiceError } from "../errors.ts";
import type { Clause, FullText } from "../query/model.ts";
import type { Query } from "../query/wire.ts";
import { uncheckedExpression, type VerifiedExpression, verifyExpressions } from "./expression/index.ts";
import type { RequestLimits } from "./limits.ts";
import { verifyBranchName } from "./ref-name.ts";

declare const verified: unique symbol;

/**
 * A query that may reach the database. Only this module creates one, so that code that bypasses the guard does not
 * compile.
 */
export type VerifiedQuery = Query & {
  readonly filter?: VerifiedExpression;
  readonly [verified]: true;
};

/** The SDK converts counts to 32 bits without an error: 2^32+1 would mean 1. */
const maxUint32 = 2 ** 32 - 1;

/** For more edits, the engine cannot search. */
const maxFuzziness = 3;

/** A fuzzy search fails on longer words. */
const maxFuzzyWord = 128;

const atMost = (value: number | undefined, max: number, field: string): void => {
  if (value !== undefined && value > max) throw tooLarge(field, value, max);
};

/** A bound of the SDK or the engine, which no configuration can raise. */
const atMostEver = (value: number | undefined, max: number, field: string): void => {
  if (value !== undefined && value > max) throw invalid(`${field} is ${value}, at most ${max} is possible`);
};

const tooLarge = (field: string, value: number, max: number): ServiceError =>
  invalid(`${field} is ${value}, at most ${max} is allowed: ask for less, or have the operator raise the limit`);

/** Counts of a full-text tree so far, over all its branches. */
interface TreeBudget {
  clauses: number;
  joints: number;
  bytes: number;
}

const verifyText = (terms: string, columns: readonly string[], budget: TreeBudget, limits: RequestLimits): void => {
  budget.clauses++;
  budget.bytes += Buffer.byteLength(terms);
  atMost(budget.clauses, limits.maxFullTextClauses, "the number of clauses in full_text_query");
  atMost(budget.bytes, limits.maxFullTextBytes, "the length of all terms in full_text_query, in bytes,");
  atMost(columns.length, limits.maxColumns, "the number of columns in full_text_query");
};

const longestWord = (terms: string): number => Math.max(...terms.split(/\s+/).map((word) => word.length));

const verifyClause = (clause: Clause, depth: number, budget: TreeBudget, limits: RequestLimits): void => {
  atMost(depth, limits.maxFullTextDepth, "the depth of full_text_query");
  const deeper = (child: Clause): void => verifyClause(child, depth + 1, budget, limits);
  if (clause.kind === "boost" || clause.kind === "boolean")
    atMost(++budget.joints, limits.maxFullTextClauses, "the number of boost and boolean clauses in full_text_query");
  switch (clause.kind) {
    case "match":
      verifyText(clause.terms, [], budget, limits);
      atMostEver(clause.fuzziness, maxFuzziness, "fuzziness");
      if (clause.fuzziness > 0)
        atMostEver(longestWord(clause.terms), maxFuzzyWord, "the longest word beside fuzziness");
      atMost(clause.maxExpansions, limits.maxFullTextExpansions, "max_expansions");
      atMost(clause.prefixLength, limits.maxFullTextExpansions, "prefix_length");
      return;
    case "phrase":
      verifyText(clause.terms, [], budget, limits);
      atMost(clause.slop, limits.maxFullTextExpansions, "slop");
      return;
    case "multi_match":
      for (const _ of clause.columns) verifyText(clause.terms, clause.columns, budget, limits);
      return;
    case "boost":
      deeper(clause.positive);
      deeper(clause.negative);
      return;
    case "boolean":
      for (const child of [...clause.must, ...clause.should, ...clause.mustNot]) deeper(child);
  }
};

const verifyFullText = (fullText: FullText, limits: RequestLimits): void => {
  const budget: TreeBudget = { clauses: 0, joints: 0, bytes: 0 };
  if (fullText.kind === "string") verifyText(fullText.query, fullText.columns, budget, limits);
  else verifyClause(fullText.clause, 1, budget, limits);
};

const verifyVector = ({ vector, ...query }: Query, limits: RequestLimits): void => {
  if (vector === undefined) return;
  atMost(vector.vectors.length, limits.maxVectors, "the number of query vectors");
  for (const { length } of vector.vectors)
    atMost(length, limits.maxDimensions, "the number of the vector's dimensions");
  for (const field of ["nprobes", "minimumNprobes", "maximumNprobes"] as const)
    atMost(vector[field], limits.maxNprobes, wireName(field));
  atMost(vector.ef, limits.maxEf, "ef");
  atMost(vector.refineFactor, limits.maxRefineFactor, "refine_factor");
  if (vector.refineFactor === 0) throw invalid("refine_factor is 0: send 1 or more, or leave it out");
  const rows = typeof query.k === "number" ? query.k + (query.offset ?? 0) : maxUint32;
  atMost(
    rows * (vector.refineFactor ?? 1) * vector.vectors.length,
    limits.maxCandidates,
    "(k + offset) times refine_factor times the number of vectors",
  );
};

const wireName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const ranks = ({ vector, fullText }: Query): boolean => vector !== undefined || fullText !== undefined;
const sorts = ({ orderBy }: Query): boolean => orderBy !== undefined && orderBy.length > 0;

/** Whether the query keeps its best k rows in memory. A plan without a limit allocates nothing. */
const keepsRows = (query: Query, executes: boolean): boolean =>
  ranks(query) || (sorts(query) && (executes || query.k !== "unlimited"));

/** Where the plan keeps the best k rows, k is the size of an allocation: too large ends the process, 0 panics the engine. */
const verifyK = (query: Query, executes: boolean, limits: RequestLimits): void => {
  const keeps = keepsRows(query, executes);
  if (query.k === "unlimited") {
    if (keeps)
      throw invalid(
        `k is unlimited: send at most ${limits.maxK} with a vector, full_text_query or order_by of a table with more rows`,
      );
    return;
  }
  if (keeps) atMost(query.k, limits.maxK, "k");
  else atMostEver(query.k, maxUint32, "k");
  if (query.k === 0 && keeps) throw invalid("k is 0: send 1 or more with a vector, full_text_query or order_by");
};

/** The filter and every alias with its field. Messages name an alias by its index, because its name is the caller's text. */
function* expressionsOf({ filter, columns }: Query): Generator<readonly [field: string, expression: string]> {
  if (filter !== undefined) yield ["filter", filter];
  if (columns?.kind === "expressions")
    for (const [index, [, expression]] of columns.expressions.entries()) yield [`columns[${index}]`, expression];
}

const verifyColumns = ({ columns }: Query, limits: RequestLimits): void => {
  const count = columns?.kind === "names" ? columns.names.length : columns?.expressions.length;
  atMost(count, limits.maxColumns, "the number of columns");
};

/**
 * Verifies a query against every bound, after defaults are applied.
 * @param executes whether the operation runs the query or only plans it.
 * @throws ServiceError code 13 naming the field, its value and the bound.
 */
export const verifyQuery = (query: Query, executes: boolean, limits: RequestLimits): VerifiedQuery => {
  verifyBranchName(query.branch, limits.maxTagLength);
  verifyColumns(query, limits);
  verifyExpressions(expressionsOf(query), limits.expression);
  verifyK(query, executes, limits);
  atMost(query.offset, limits.maxOffset, "offset");
  atMost(query.orderBy?.length, limits.maxColumns, "the number of columns in order_by");
  if (query.fullText !== undefined) verifyFullText(query.fullText, limits);
  verifyVector(query, limits);
  return query as VerifiedQuery;
};

/**
 * The same, where the table decides whether a k above the limit is one: more rows than it has are never kept. LanceDB's
 * clients sort without a limit, and ask for more neighbours than there are rows.
 */
export const verifyQueryOfTable = async (
  query: Query,
  executes: boolean,
  limits: RequestLimits,
  countRows: () => Promise<number>,
): Promise<VerifiedQuery> => {
  if (!keepsRows(query, executes) || (query.k !== "unlimited" && query.k <= limits.maxK))
    return verifyQuery(query, executes, limits);
  const reduced = verifyQuery({ ...query, k: limits.maxK }, executes, limits);
  return (await countRows()) <= limits.maxK ? reduced : verifyQuery(query, executes, limits);
};

/** Only for the hostile suite, which shows what the guard prevents. */
export const uncheckedQuery = (query: Query): VerifiedQuery =>
  ({
    ...query,
    ...(query.filter === undefined ? {} : { filter: uncheckedExpression(query.filter) }),
  }) as VerifiedQuery;
