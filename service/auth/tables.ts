import { separator, tablePatternProblem, unrestricted } from "../config/auth-problems.ts";

/** Compiled table patterns of one principal. */
export interface TablePatterns {
  /** The patterns as written. */
  readonly source: readonly string[];
  /** Whether a pattern matches the canonical id parts of a table or namespace. */
  permits(parts: readonly string[]): boolean;
  /** Whether a pattern can match something inside the namespace, which the principal may then see. */
  reaches(parts: readonly string[]): boolean;
}

/**
 * Patterns are segments joined by `$`. They are compared with the parts of the id, not its text, so that the delimiter does
 * not change what they match. In a segment, `*` matches any characters, also none; other characters match exactly. `**` as
 * the last segment matches one or more segments: `prod$**` matches everything inside `prod`, not `prod` itself. The pattern
 * `**` matches every id, also the root.
 *
 * Only the pattern `**` matches a part that is empty or contains `$` (possible with another delimiter): a store that joins
 * parts with `$` could read another table.
 *
 * @throws Error when a pattern is malformed; see {@link tablePatternProblem}.
 */
export function compileTablePatterns(source: readonly string[]): TablePatterns {
  const matchers = source.map((pattern) => {
    const problem = tablePatternProblem(pattern);
    if (problem) throw new Error(`table ${problem}`);
    return matcher(pattern.split(separator));
  });
  return {
    source,
    permits: (parts) => matchers.some(({ matches }) => matches(parts)),
    reaches: (parts) => matchers.some(({ reaches }) => reaches(parts)),
  };
}

type Test = (parts: readonly string[]) => boolean;

function matcher(segments: readonly string[]): { readonly matches: Test; readonly reaches: Test } {
  const deep = segments.at(-1) === unrestricted;
  const fixed = deep ? segments.slice(0, -1) : segments;
  if (deep && fixed.length === 0) return { matches: () => true, reaches: () => true };
  const plain: Test = (parts) => parts.every((part) => part !== "" && !part.includes(separator));
  /** Compares the common length. */
  const agrees: Test = (parts) =>
    fixed.slice(0, parts.length).every((segment, index) => segmentMatches(segment, parts[index] ?? ""));
  return {
    matches: (parts) =>
      (deep ? parts.length > fixed.length : parts.length === fixed.length) && plain(parts) && agrees(parts),
    reaches: (parts) => (deep || parts.length < fixed.length) && plain(parts) && agrees(parts),
  };
}

/** Greedy and linear, unlike a regular expression built from the pattern, which could backtrack. */
function segmentMatches(pattern: string, part: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop();
  if (tail === undefined) return part === head;
  if (part.length < head.length + tail.length) return false;
  if (!part.startsWith(head) || !part.endsWith(tail)) return false;
  const end = part.length - tail.length;
  let from = head.length;
  for (const piece of rest) {
    const at = part.indexOf(piece, from);
    if (at === -1 || at + piece.length > end) return false;
    from = at + piece.length;
  }
  return true;
}
