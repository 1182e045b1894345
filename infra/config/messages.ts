import type { z } from "zod";

const nouns: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map of keys",
  record: "a map of keys",
};

/** `at least 2 items`: bounds of lists, texts and numbers. */
function bound(direction: "at least" | "at most", limit: unknown, origin: string): string {
  const unit = { array: "item", string: "character" }[origin];
  return `${direction} ${limit}${unit === undefined ? "" : ` ${unit}${limit === 1 ? "" : "s"}`}`;
}

/** What a field expects, where its schema has no message of its own. The library's messages never reach the user. */
export function expectation(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return nouns[issue.expected] ?? "another type of value";
    case "invalid_value":
      return issue.values.length === 1 ? JSON.stringify(issue.values[0]) : `one of ${issue.values.join(", ")}`;
    case "too_small":
      return bound("at least", issue.minimum, issue.origin);
    case "too_big":
      return bound("at most", issue.maximum, issue.origin);
    case "invalid_format":
      return issue.pattern === undefined ? "text of another format" : `text that matches ${issue.pattern}`;
    case "invalid_key":
      return `a key that is ${issue.issues[0]?.message ?? "valid"}`;
    default:
      return "another value";
  }
}
