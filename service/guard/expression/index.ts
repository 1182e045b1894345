import { invalid } from "../../errors.ts";
import type { ExpressionLimits } from "./limits.ts";
import { Parser } from "./parser.ts";
import { type Refuse, tokenize } from "./tokens.ts";

export { defaultExpressionLimits, type ExpressionLimits } from "./limits.ts";

declare const verified: unique symbol;

/** An SQL expression whose constructs are all on the allow-list and that is within every bound. */
export type VerifiedExpression = string & { readonly [verified]: true };

interface Measured {
  /** Operators that the planner will see. */
  readonly operators: number;
  /** UTF-8 bytes. */
  readonly bytes: number;
}

const measure = (expression: string, limits: ExpressionLimits, field: string): Measured => {
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
        "expression 32 times, each wildcard of LIKE once, 12 items of a list or 40 values of IN once, arithmetic more the " +
        "longer it is): simplify it, or use an IN list for many values",
    );
  return { operators, bytes };
};

/**
 * Verifies a filter or the expression of a column alias. Unknown constructs are refused, so that a new construct of the
 * engine stays refused until it has been reviewed.
 * @param field the request field that holds the expression, for the message.
 * @returns the same text.
 * @throws ServiceError code 13 naming the field, what is wrong and where (character, from 1), and what to write instead.
 */
export function verifyExpression(expression: string, limits: ExpressionLimits, field: string): VerifiedExpression {
  measure(expression, limits, field);
  return expression as VerifiedExpression;
}

/**
 * Verifies all expressions of one request, each by itself and all together.
 * @param expressions pairs of request field and expression.
 * @throws ServiceError code 13 as `verifyExpression`.
 */
export function verifyExpressions(
  expressions: Iterable<readonly [field: string, expression: string]>,
  limits: ExpressionLimits,
): void {
  const maxTotalOperators = Math.max(limits.maxTotalOperators, limits.maxOperators);
  let totalOperators = 0;
  let totalBytes = 0;
  for (const [field, expression] of expressions) {
    const { operators, bytes } = measure(expression, limits, field);
    totalOperators += operators;
    totalBytes += bytes;
    if (totalOperators > maxTotalOperators)
      throw invalid(
        `the request's expressions come to more than ${maxTotalOperators} operators together: send fewer aliases`,
      );
    if (totalBytes > limits.maxTotalBytes)
      throw invalid(
        `the request's expressions have more than ${limits.maxTotalBytes} bytes together: send fewer aliases`,
      );
  }
}

/** Marks an expression as verified without reading it. Only for the hostile suite, which shows what the guard prevents. */
export function uncheckedExpression(expression: string): VerifiedExpression {
  return expression as VerifiedExpression;
}
