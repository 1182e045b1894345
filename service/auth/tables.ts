import { separator, tablePatternProblem, unrestricted } from "../config/auth-problems.ts";

/** Compiled table patterns of one principal. */
export interface TablePatterns {
  /** The patterns as they were written. */
  readonly source: readonly string[];
  /** Whether one of the patterns matches the table's (or namespace's) canonical id parts. */
  permits(parts: readonly string[]): boolean;
  /** Whether one of the patterns matches something beneath the namespace, so that its holder may know that it is there. */
  reaches(parts: readonly string[]): boolean;
}

/**
 * Patterns are segments joined by `$`, compared with the parts of the id and never with its written form, so that no
 * choice of delimiter changes what they match. In a segment `*` stands for any characters (none included); all else is
 * exact, letter case included. `**` as the last segment stands for one or more segments: `prod$**` is everything beneath
 * `prod`, not `prod` itself. The pattern `**` alone matches every id, the root included.
 *
 * A part that is empty or holds `$` (which another delimiter lets through) is matched by `**` alone only: a store that
 * joins the parts with `$` again would reach another table with it.
 *
 * @throws Error when a pattern is malformed (see {@link tablePatternProblem}).
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
  /** As far as both go. */
  const agrees: Test = (parts) =>
    fixed.slice(0, parts.length).every((segment, index) => segmentMatches(segment, parts[index] ?? ""));
  return {
    matches: (parts) =>
      (deep ? parts.length > fixed.length : parts.length === fixed.length) && plain(parts) && agrees(parts),
    reaches: (parts) => (deep || parts.length < fixed.length) && plain(parts) && agrees(parts),
  };
}

/** Greedy and linear: a regular expression made of a caller's pattern could be made to backtrack. */
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
