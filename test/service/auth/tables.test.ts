import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileTablePatterns } from "../../../service/auth/index.ts";

const permits = (pattern: string, ...parts: string[]): boolean => compileTablePatterns([pattern]).permits(parts);

describe("namespaces that a pattern makes visible", () => {
  const cases: [pattern: string, parts: string[], reached: boolean][] = [
    ["prod$vectors$a", [], true],
    ["prod$vectors$a", ["prod"], true],
    ["prod$vectors$a", ["prod", "vectors"], true],
    ["prod$vectors$a", ["prod", "vectors", "a"], false],
    ["prod$vectors$a", ["prod", "texts"], false],
    ["prod$vectors$a", ["production"], false],
    ["prod$**", ["prod"], true],
    ["prod$**", ["prod", "a", "b"], true],
    ["prod$**", ["test"], false],
    ["p*$*", ["prod"], true],
    ["p*$*", ["prod", "a"], false],
    ["a", [], true],
    ["a", ["a"], false],
    ["**", ["any", "where"], true],
    ["*$*", ["a$b"], false],
    ["*$*", [""], false],
  ];
  test.each(cases)("%s inside %j: %s", (pattern, parts, reached) => {
    expect(compileTablePatterns([pattern]).reaches(parts)).toBe(reached);
  });

  test("is nothing without a pattern", () => {
    expect(compileTablePatterns([]).reaches([])).toBe(false);
  });

  test("covers every prefix of what a pattern permits", () => {
    const part = fc.constantFrom("a", "b", "ab");
    const pattern = fc
      .array(fc.constantFrom("a", "b", "a*", "*"), { minLength: 1, maxLength: 3 })
      .chain((segments) => fc.constantFrom(segments.join("$"), [...segments, "**"].join("$")));
    fc.assert(
      fc.property(pattern, fc.array(part, { minLength: 1, maxLength: 5 }), (written, parts) => {
        const patterns = compileTablePatterns([written]);
        if (!patterns.permits(parts)) return;
        for (let length = 0; length < parts.length; length++)
          expect(patterns.reaches(parts.slice(0, length))).toBe(true);
      }),
    );
  });
});

describe("a table pattern", () => {
  const cases: [pattern: string, parts: string[], permitted: boolean][] = [
    ["prod$vectors$a", ["prod", "vectors", "a"], true],
    ["prod$vectors$a", ["prod", "vectors", "b"], false],
    ["prod$vectors$a", ["prod", "vectors"], false],
    ["prod$vectors$a", ["prod", "vectors", "a", "b"], false],
    ["prod$vectors$a", ["Prod", "vectors", "a"], false],
    ["prod$*", ["prod", "a"], true],
    ["prod$*", ["prod", "a", "b"], false],
    ["prod$*", ["production", "a"], false],
    ["*$t", ["any", "t"], true],
    ["v*", ["v"], true],
    ["v*x*", ["v1x2"], true],
    ["a*a", ["a"], false],
    ["a*a", ["aa"], true],
    ["*ab*ab", ["ab"], false],
    ["*ab*ab", ["abab"], true],
    ["prod$**", ["prod", "a"], true],
    ["prod$**", ["prod", "a", "b", "c"], true],
    ["prod$**", ["prod"], false],
    ["prod$**", ["production", "a"], false],
    ["p*$**", ["prod", "a"], true],
    ["**", ["a"], true],
    ["**", ["a", "b"], true],
    ["**", [], true],
    ["*", [], false],
    [".*", ["anything"], false],
    ["a.c", ["abc"], false],
    ["[ab]", ["a"], false],
    ["ü", ["ü"], true],
  ];
  test.each(cases)("%s and %j: %s", (pattern, parts, permitted) => {
    expect(permits(pattern, ...parts)).toBe(permitted);
  });

  test.each([["secret$t"], ["prod", "a$b"], ["prod", ""], ["", "prod"], ["prod", "$"], ["prod$", "t"]])(
    "does not match an id with a part that a store could split: %j, %j",
    (...parts) => {
      for (const pattern of ["*", "*$*", "prod$*", "prod$**", "*$**"]) expect(permits(pattern, ...parts)).toBe(false);
      expect(permits("**", ...parts)).toBe(true);
    },
  );

  test.each(["", "$", "a$", "$a", "a$$b", "**$a", "a$**$b", "a**", "**a", "***", "a$b**"])(
    "%j is refused as malformed",
    (pattern) => {
      expect(() => compileTablePatterns([pattern])).toThrow(JSON.stringify(pattern));
    },
  );

  test("takes linear time for any number of stars", () => {
    expect(permits("*a".repeat(2000), `${"a".repeat(100_000)}b`)).toBe(false);
  });

  test("of an empty list permit nothing, not even the root", () => {
    expect(compileTablePatterns([]).permits([])).toBe(false);
    expect(compileTablePatterns([]).permits(["a"])).toBe(false);
  });
});

/** A reference implementation: a search over all splits. */
const segmentOracle = (pattern: string, part: string): boolean => {
  if (pattern === "") return part === "";
  if (pattern[0] !== "*") return part[0] === pattern[0] && segmentOracle(pattern.slice(1), part.slice(1));
  return Array.from({ length: part.length + 1 }, (_, cut) => part.slice(cut)).some((rest) =>
    segmentOracle(pattern.slice(1), rest),
  );
};
const oracle = (pattern: readonly string[], parts: readonly string[]): boolean => {
  const [segment, ...others] = pattern;
  const [part, ...rest] = parts;
  if (segment === undefined || part === undefined) return segment === part;
  return segment === "**" ? others.length === 0 : segmentOracle(segment, part) && oracle(others, rest);
};

const word = (alphabet: string) => fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 6 });
const patternSegments = fc
  .tuple(
    fc.array(
      word("ab*").filter((segment) => !segment.includes("**")),
      { maxLength: 3 },
    ),
    fc.boolean(),
  )
  .map(([segments, deep]) => (deep ? [...segments, "**"] : segments))
  .filter((segments) => segments.length > 0);
const plainParts = fc.array(word("ab"), { minLength: 1, maxLength: 4 });
const hostileParts = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "$", ".", "/", "*"), maxLength: 4 }), {
  maxLength: 4,
});

describe("for all patterns and ids", () => {
  test("the matcher agrees with a search over all splits", () => {
    fc.assert(
      fc.property(patternSegments, plainParts, (segments, parts) => {
        expect(permits(segments.join("$"), ...parts)).toBe(oracle(segments, parts));
      }),
      { numRuns: 2000 },
    );
  });

  test("an id used as a pattern matches that id only", () => {
    fc.assert(
      fc.property(plainParts, plainParts, (one, other) => {
        expect(permits(one.join("$"), ...one)).toBe(true);
        expect(permits(one.join("$"), ...other)).toBe(one.join("$") === other.join("$"));
      }),
    );
  });

  test("no parts, joined and split again, match a table that the pattern does not permit", () => {
    fc.assert(
      fc.property(patternSegments, hostileParts, (segments, parts) => {
        const pattern = segments.join("$");
        if (!permits(pattern, ...parts)) return;
        expect(permits(pattern, ...parts.join("$").split("$"))).toBe(true);
        expect(
          permits(
            pattern,
            ...parts
              .join("$")
              .split("$")
              .filter((part) => part !== ""),
          ),
        ).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test("more patterns never permit less", () => {
    fc.assert(
      fc.property(fc.array(patternSegments, { maxLength: 3 }), patternSegments, plainParts, (some, more, parts) => {
        const source = some.map((segments) => segments.join("$"));
        if (compileTablePatterns(source).permits(parts))
          expect(compileTablePatterns([more.join("$"), ...source]).permits(parts)).toBe(true);
      }),
    );
  });
});
