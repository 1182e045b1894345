import { allowedFunctions } from "./functions.ts";

/** Bounds on one SQL expression. */
export interface ExpressionLimits {
  /** UTF-8 bytes. */
  readonly maxBytes: number;
  /** Operands inside one another: parentheses, brackets, calls, NOT, minus, and each right-hand side. */
  readonly maxDepth: number;
  /**
   * Operators of the *planned* expression: every operator, cast, field access and call is one, a concatenation four, a
   * regular expression 32, each wildcard of LIKE one, and what the planner writes out again is counted again (the tested operand of BETWEEN
   * twice, the arguments of coalesce, ifnull, nvl and nvl2 but the last four times).
   */
  readonly maxOperators: number;
  /** The same, over the filter and all column aliases of one request. */
  readonly maxTotalOperators: number;
  /**
   * How many times as long as what it is made of a text may become: encode and list count 2, regexp_match 4, and what is
   * nested multiplies. Joined text needs no bound of its own: it is no longer than the pieces that the expression holds.
   */
  readonly maxGrowth: number;
  /** Items of one IN list, array literal or make_array. */
  readonly maxListItems: number;
  /** Names of the functions that may be called, lower case. */
  readonly functions: ReadonlySet<string>;
}

/**
 * Measured on `@lancedb/lancedb` 0.39.0 (Lance 12, DataFusion 54), Linux x64, 2 cores, an expression in the filter of
 * `explainPlan`:
 *
 * - The engine overflows its stack, which ends the process, from 360 chained `IS TRUE`, 700 casts or 900 additions;
 *   128 operators in a chain plan in under 0.1 s.
 * - Planning takes time exponential in the depth: calls and arithmetic in turn, 32 deep, take 5 s (320 bytes); repeated
 *   operands take minutes and gigabytes at 16 (coalesce, 200 bytes), and the parser gives up at about 50 levels only to
 *   try every NOT and CAST again as a name (24 casts, 360 bytes: over 10 s). With 16 levels, and repetition counted,
 *   every pair of a hundred forms nested in turn up to the bounds planned and ran in under 0.3 s.
 * - What is constant is computed in the plan: 15 levels of encode over 4 kB take 1.8 s and 700 MB, so that the growth of
 *   a text is bounded. Within the bound, no expression makes more than 130 kB of a literal.
 * - Run over 200,000 short rows, a regular expression takes up to 6 s of processor time, LIKE with 5,000 wildcards 8 s
 *   and ILIKE with a column as its pattern 11 s: patterns are literals, and their cost is counted.
 * - Ten aliases of the slowest kind that passes (128 operators each) plan in 0.7 s, so that a request's expressions have
 *   a bound together; 500 aliases of one operator take 16 ms, a thousand list items 2 ms.
 */
export const defaultExpressionLimits: ExpressionLimits = {
  maxBytes: 8192,
  maxDepth: 16,
  maxOperators: 128,
  maxTotalOperators: 512,
  maxGrowth: 16,
  maxListItems: 1000,
  functions: new Set(allowedFunctions.keys()),
};
