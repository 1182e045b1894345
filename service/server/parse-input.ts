import type { z } from "zod";
import { invalid } from "../errors.ts";
import { maxReportedFaults } from "../query/lists.ts";

const maxLength = 300;

const pathOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part).slice(0, 64)}`))
    .join("")
    .replace(/^\./, "");

/** Zod's message as the rest of a sentence that begins with the key. */
const rest = (message: string): string =>
  message
    .replace(/^Invalid input: expected (\w+), received undefined$/, "is missing: send a value of type $1")
    .replace(/^Invalid input: expected (\w+), received (\w+)$/, "must be of type $1, not $2");

const sentence = ({ path, message }: z.core.$ZodIssue): string =>
  `${pathOf(path) || "the body"} ${rest(message)}`.slice(0, maxLength);

/**
 * Parses a body, or the parameters of path and query string, with an operation's schema.
 * @throws ServiceError code 13: the first issue as its message, the first ten as its detail. Issues name keys and no
 * values, because a value may be a filter.
 */
export const parseInput = <T>(schema: z.ZodType<T>, input: unknown): T => {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const [first] = issues;
  // The total is unknown: lists stop after some faults.
  const more = issues.length > maxReportedFaults ? ["and more"] : [];
  throw invalid(
    first === undefined ? "the request is not valid" : sentence(first),
    issues.length > 1 ? [...issues.slice(0, maxReportedFaults).map(sentence), ...more].join("; ") : undefined,
  );
};
