import { describe, expect, test } from "vitest";
import { PatternRefusal, patternSize } from "../../../../service/guard/expression/pattern.ts";

const states = (pattern: string, flags = ""): number => patternSize(pattern, flags).states;

describe("the states of a regular expression", () => {
  test.each<readonly [what: string, smaller: string, larger: string, factor: number]>([
    ["repetition", "(?:ab)", "(?:ab){100}", 50],
    ["nested repetition", "(?:.{10}){10}", "(?:.{100}){100}", 90],
    ["repetition of a repetition", "a{100}", "a{100}{100}", 90],
    ["a range of repetitions", "a{5}", "a{0,500}", 50],
    ["an open repetition", "a", "a{500,}", 250],
    ["a lazy repetition", "a", "a{500}?", 250],
    ["a dot", "a{100}", ".{100}", 20],
    ["\\w", ".{100}", "\\w{100}", 50],
    ["\\W in a class", "[a]{10}", "[\\W]{10}", 100],
    ["a property", "a{10}", "\\pL{10}", 100],
    ["a named property", "a{10}", "\\P{script=Greek}{10}", 100],
    ["a digit class", "a{100}", "\\d{100}", 100],
    ["a class in a class", "[a[b]]{10}", "[a[\\w]]{10}", 100],
    ["the right side of a set difference", "[a-z--[aeiou]]{10}", "[a-z--[\\w]]{10}", 100],
    ["the right side of an intersection", "[a-z&&[aeiou]]{10}", "[a-z&&[\\w]]{10}", 100],
    ["a class after a leading bracket", "[]a]{10}", "[]\\w]{10}", 100],
    ["a class after a leading hyphen", "[-a]{10}", "[-[\\w]]{10}", 100],
    ["case forms of a wide range", "[a-\\x{10FFFF}]", "(?i)[a-\\x{10FFFF}]", 500],
    ["case forms of a negated class in brackets", "(?i)\\D", "(?i)[\\D]", 100],
    ["case forms of a property", "\\pL", "(?i)\\pL", 10],
    ["case forms of \\w in brackets", "(?i)\\w", "(?i)[^\\w]", 6],
    ["case forms of another property", "(?i)\\pL", "(?i)\\p{Any}", 20],
    ["alternatives", "(?:a|b){10}", `(?:${"a|".repeat(50)}b){10}`, 10],
  ])("grow with %s", (_, smaller, larger, factor) => {
    expect(states(larger)).toBeGreaterThan(factor * states(smaller));
  });

  test("count the flags of the call as those of the pattern", () => {
    expect(states("[à-\\x{10FFFF}]", "i")).toBe(states("[à-\\x{10FFFF}](?i)") - states("(?i)") + 1);
  });

  test.each([
    "^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,6}$",
    "^\\w+@\\w+\\.com$",
    "(?i)^[\\w.+-]+@[\\w-]+\\.[\\w.]+$",
    "(?i)[à-ÿ]{1,30}[一-龥]",
    "(?i)^row \\d{1,9}$",
    "\\bfoo\\b|\\Bbar\\z",
    "^(?P<year>\\d{4})-(?<month>\\d{2})-(\\d{2})T[\\d:]+(?:Z|[+-]\\d\\d:\\d\\d)$",
    "[[:alpha:]_][[:^alnum:]]*?",
    "\\$\\{[^}]{0,80}\\}",
    "[^\\x00-\\x7F]{1,200}",
    "(?s:.*)(?-i:a)(?i)b",
    "\\p{Han}{1,20}",
    "https?://[^/\\s]{1,253}(?:/\\S*)?",
    "",
  ])("stay within the default bound for %j", (pattern) => {
    expect(states(pattern)).toBeLessThan(100_000);
  });

  test.each([
    ["(.{1000}){999}", 39_960_000],
    ["(?:\\pL{50}){10}", 1_749_999],
    ["((a{100}){100}){100}", 999_999],
    ["\\w{100}", 349_999],
  ])("are at least as many as the repetitions of %s say", (pattern, minimum) => {
    expect(states(pattern)).toBeGreaterThan(minimum);
  });
});

describe("the groups of a regular expression", () => {
  test.each([
    ["(a)(b(c))", 3],
    ["(?:a)(?i)(?i:b)", 0],
    ["(?P<a>x)(?<b>y)", 2],
    ["\\(a\\)[(](b)", 1],
  ])("are those of %s that capture", (pattern, groups) => {
    expect(patternSize(pattern, "").groups).toBe(groups);
  });
});

describe("a pattern whose size is not known", () => {
  test.each([
    ["a{,5}", 1],
    ["a{ 5 }", 1],
    ["a{99999}", 1],
    ["a{b}", 1],
    ["{5}", 0],
    ["*a", 0],
    ["a|+", 2],
    ["(?x)a b", 0],
    ["(?=a)", 0],
    ["(?<=a)b", 0],
    ["(?P=name)", 0],
    ["(a", 2],
    ["a)", 1],
    ["[a", 2],
    ["[a[b]", 5],
    ["\\", 0],
    ["\\1", 0],
    ["\\q", 0],
    ["\\p{", 0],
    ["[\\b]", 1],
    [`${"(".repeat(60)}a${")".repeat(60)}`, 51],
    [`${"[".repeat(60)}a${"]".repeat(60)}`, 51],
  ])("is refused with its position: %j", (pattern, at) => {
    expect(() => patternSize(pattern, "")).toThrow(PatternRefusal);
    expect(() => patternSize(pattern, "")).toThrow(expect.objectContaining({ at }));
  });
});
