import type { z } from "zod";
import { invalid } from "../errors.ts";
import { mostTold } from "../query/lists.ts";

const maxLength = 300;

const pathOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part).slice(0, 64)}`))
    .join("")
    .replace(/^\./, "");

/** Zod's own words, turned into the rest of a sentence that begins with the key. */
const rest = (message: string): string =>
  message
    .replace(/^Invalid input: expected (\w+), received undefined$/, "is missing: send a value of type $1")
    .replace(/^Invalid input: expected (\w+), received (\w+)$/, "must be of type $1, not $2");

const sentence = ({ path, message }: z.core.$ZodIssue): string =>
  `${pathOf(path) || "the body"} ${rest(message)}`.slice(0, maxLength);

/**
 * Reads a body, or the parameters of path and query string, by an operation's schema.
 * @throws ServiceError code 13: the first issue as its message, the first ten as its detail. Keys are named, values are
 * not, because a value may be a filter.
 */
export const parseInput = <T>(schema: z.ZodType<T>, input: unknown): T => {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const [first] = issues;
  // How many is not known: lists stop at some.
  const more = issues.length > mostTold ? ["and more"] : [];
  throw invalid(
    first === undefined ? "the request is not valid" : sentence(first),
    issues.length > 1 ? [...issues.slice(0, mostTold).map(sentence), ...more].join("; ") : undefined,
  );
};
