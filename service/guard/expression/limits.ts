import { allowedFunctions } from "./functions.ts";

/** Bounds on one SQL expression. */
export interface ExpressionLimits {
  /** UTF-8 bytes. */
  readonly maxBytes: number;
  /** The same, over the filter and all column aliases of one request. */
  readonly maxTotalBytes: number;
  /** Nested operands: parentheses, brackets, calls, NOT, minus, and each right-hand side. */
  readonly maxDepth: number;
  /**
   * Nested calls, casts, comparisons, arithmetic and lists. Parentheses, AND, OR and NOT do not count, and a chain counts
   * once.
   */
  readonly maxOperatorDepth: number;
  /**
   * Operators of the *planned* expression. Every operator, cast, field access and call counts 1, a concatenation 4, a
   * regular expression 32, each wildcard of LIKE 1. A list counts 1, each item that is not constant 1, and all items 1
   * for every 12; the values of IN count 1 for every 40. An arithmetic operator counts 1 more for every 12 operators of
   * its operands, because the planner derives their types again. What the planner writes out again counts again: the
   * tested operand of BETWEEN twice, the arguments of coalesce, ifnull, nvl and nvl2 except the last four times.
   */
  readonly maxOperators: number;
  /** The same, over the filter and all column aliases of one request; at least `maxOperators`. */
  readonly maxTotalOperators: number;
  /**
   * How many times as long as its parts a text may become: encode and lists count 2, regexp_match 4, nested ones
   * multiply. Joined text needs no bound of its own: it is no longer than the parts that the expression holds.
   */
  readonly maxGrowth: number;
  /** Items of one IN list, array literal or make_array. */
  readonly maxListItems: number;
  /** States that one regular expression compiles to, in units of an ASCII letter; see `pattern.ts`. */
  readonly maxPatternStates: number;
  /** Names of the functions that may be called, lower case. */
  readonly functions: ReadonlySet<string>;
}

/**
 * Measured on `@lancedb/lancedb` 0.39.0 (Lance 12, DataFusion 54), Linux x64, 2 cores, an expression in the filter of
 * `explainPlan`. The planner runs in the main process and cannot be cancelled, so the bounds keep the CPU time of
 * planning any accepted request to some tens of milliseconds (`npm run bench:planning`).
 *
 * - The engine overflows its stack, which ends the process, from 360 chained `IS TRUE`, 700 casts or 900 additions.
 * - Planning time doubles with some levels of nesting: `((…) < x)::int` in an alias takes 4 ms with 8 of them, 280 ms with
 *   12; coalesce counts its operands four times. Eight levels of any kind stay under 4 ms. The engine's parser stops at
 *   about 50 levels, after it has tried every NOT and CAST again as a name (24 casts, 360 bytes: over 10 s).
 * - The planner looks for common parts of aliases: 32 aliases of 8 calls take 50 ms, so that a request's expressions have
 *   bounds together.
 * - Planning time is quadratic in a chain of arithmetic: 127 additions of a column take 70 ms, 36 take 6 ms.
 * - The planner computes what is constant: 15 levels of encode over 4 kB take 1.8 s and 700 MB, so that the growth of a
 *   text is bounded. Within the bound, no expression makes more than 130 kB of a literal.
 * - The planner compiles a regular expression whose text is constant: `(.{1000}){999}` takes 0.5 s. The text must come
 *   from a column, and a pattern within the bound compiles in 11 ms. A pattern that is not compiled is still parsed, at
 *   up to 0.1 ms for each Unicode class and 3 ms for a range of all characters whose case
 *   forms are added, once for each level of nesting.
 * - A list takes 8 µs for each item and 15 µs for each list in it, once more for every few levels around it, and twice for
 *   each coalesce: three of them around 1,000 items take 80 ms, 1,000 items that are lists 40 ms. A value of IN takes 4 µs.
 * - Functions of constant texts take at most 8 ms for each expression, trimming the most.
 * - Run over 200,000 short rows, a regular expression takes up to 6 s of CPU time, LIKE with 5,000 wildcards 8 s and
 *   ILIKE with a column as its pattern 11 s: patterns are literals, and their cost is counted.
 */
export const defaultExpressionLimits: ExpressionLimits = {
  maxBytes: 8192,
  maxTotalBytes: 16_384,
  maxDepth: 16,
  maxOperatorDepth: 8,
  maxOperators: 128,
  maxTotalOperators: 128,
  maxGrowth: 16,
  maxListItems: 1000,
  maxPatternStates: 100_000,
  functions: new Set(allowedFunctions.keys()),
};
