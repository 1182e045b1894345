/** What is known of a part of the expression. */
export interface Part {
  /** Operators that the planner will see. */
  readonly operators: number;
  /**
   * `constant`: the planner computes it. `column`: the planner cannot compute it, because its value comes from a column.
   * `unknown`: the planner may find that it is constant, as in `coalesce('a', s)` or `b OR true`.
   */
  readonly source: "constant" | "column" | "unknown";
  /** Nested calls, casts, comparisons, arithmetic and lists on the deepest path; a chain is one level. */
  readonly levels: number;
}

/** What constructs count, in operators. The unit is 0.39 ms of CPU time: 128 operators stay under 50 ms. */
export const weights = {
  /** Each concatenation can double the text of a row, so it weighs more than an addition. */
  concatenation: 4,
  /** An operator inside a repeated argument: written out twice, its type asked for twice. */
  repetition: 4,
  /** Operators of the operands for which an arithmetic operator counts one more. */
  operatorsPerArithmetic: 12,
  /** Items for which a list counts one more: 8 µs an item, and 2 µs for each level around it. */
  itemsPerList: 12,
  /** Values for which IN counts one more: 4 to 8 µs a value. */
  valuesPerIn: 40,
} as const;

export const literal: Part = { operators: 0, source: "constant", levels: 0 };
export const column: Part = { operators: 0, source: "column", levels: 0 };

export const deepest = (parts: readonly Part[]): number =>
  parts.reduce((levels, part) => Math.max(levels, part.levels), 0);

export const total = (parts: readonly Part[]): number => parts.reduce((sum, { operators }) => sum + operators, 0);

/** An operator's result: constant if every operand is, otherwise unknown. */
export const combined = (operators: number, operands: readonly Part[]): Part => ({
  operators,
  source: operands.every(({ source }) => source === "constant") ? "constant" : "unknown",
  levels: deepest(operands),
});

export const plus = (part: Part, operators: number): Part => ({ ...part, operators: part.operators + operators });

/** Operators that one arithmetic operator counts: the planner derives its operands' types again. */
export const arithmetic = (left: Part, right: Part): number =>
  1 + Math.floor((left.operators + right.operators) / weights.operatorsPerArithmetic);

/** A list of values, as an array or the right side of IN. */
export const listOf = (items: readonly Part[], itemsPerOperator: number): Part =>
  combined(total(items) + 1 + Math.floor(items.length / itemsPerOperator), items);
