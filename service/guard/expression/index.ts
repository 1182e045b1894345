import { invalid } from "../../errors.ts";
import type { ExpressionLimits } from "./limits.ts";
import { Parser } from "./parser.ts";
import { type Refuse, tokenize } from "./tokens.ts";

export { defaultExpressionLimits, type ExpressionLimits } from "./limits.ts";

declare const verified: unique symbol;

/** An SQL expression of which every construct is on the allow-list and every bound holds. */
export type VerifiedExpression = string & { readonly [verified]: true };

/** @returns the operators that the planner will see. */
const operatorsOf = (expression: string, limits: ExpressionLimits, field: string): number => {
  const refuse: Refuse = (problem, at, wayOut) => {
    throw invalid(`${field}: ${problem} at character ${at + 1}: ${wayOut}`);
  };
  const bytes = expression.length > limits.maxBytes ? expression.length : Buffer.byteLength(expression);
  if (bytes > limits.maxBytes) throw invalid(`${field} has more than ${limits.maxBytes} bytes: shorten the expression`);
  if (!expression.isWellFormed()) throw invalid(`${field} is not well-formed Unicode: send valid UTF-8`);
  const operators = new Parser(tokenize(expression, refuse), limits, refuse).whole();
  if (operators > limits.maxOperators)
    throw invalid(
      `${field} comes to ${operators} operators, at most ${limits.maxOperators} are allowed ` +
        "(the operand of BETWEEN counts twice, the arguments of coalesce and a concatenation four times, a regular " +
        "expression 32 times, each wildcard of LIKE once): simplify it, or use an IN list for many values",
    );
  return operators;
};

/**
 * Verifies a filter or the expression of a column alias. What is not known is refused, so that a new construct of the
 * engine stays closed until it has been looked at.
 * @param field the request field that holds the expression, for the message.
 * @returns the same text.
 * @throws ServiceError code 13 naming the field, what is wrong and where (character, from 1), and the way out.
 */
export function verifyExpression(expression: string, limits: ExpressionLimits, field: string): VerifiedExpression {
  operatorsOf(expression, limits, field);
  return expression as VerifiedExpression;
}

/**
 * Verifies all expressions of one request, each by itself and their operators together.
 * @param expressions pairs of request field and expression.
 * @throws ServiceError code 13 as `verifyExpression`.
 */
export function verifyExpressions(
  expressions: Iterable<readonly [field: string, expression: string]>,
  limits: ExpressionLimits,
): void {
  let total = 0;
  for (const [field, expression] of expressions) {
    total += operatorsOf(expression, limits, field);
    if (total > limits.maxTotalOperators)
      throw invalid(
        `the request's expressions come to more than ${limits.maxTotalOperators} operators together: send fewer aliases`,
      );
  }
}

/** Marks an expression as verified without looking at it: for the hostile suite, which shows what the guard is for. */
export function uncheckedExpression(expression: string): VerifiedExpression {
  return expression as VerifiedExpression;
}
