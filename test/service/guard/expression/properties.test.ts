import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../../service/errors.ts";
import { defaultExpressionLimits, verifyExpression } from "../../../../service/guard/expression/index.ts";
import { tokenize } from "../../../../service/guard/expression/tokens.ts";

const outcomeOf = (expression: string): "accepted" | ServiceError => {
  try {
    verifyExpression(expression, defaultExpressionLimits, "filter");
    return "accepted";
  } catch (error) {
    if (error instanceof ServiceError && error.code === 13) return error;
    throw new Error(`not a refusal: ${String(error)}`, { cause: error });
  }
};

const neverRefuse = (problem: string): never => {
  throw new Error(problem);
};

const pieces = fc.constantFrom(
  ..."( ) [ ] , . ; ' \" ` :: || = < > - -- /* */ + * % $ ? @ # ~ ! \\ { }".split(" "),
  ..."and or not in is null true like ilike between escape cast as int decimal date timestamp select case".split(" "),
  ..."id s b lower coalesce repeat regexp_like arrow_cast json_extract make_array x'ff' 'a' '' `a b` 1 1.5 1e9".split(
    " ",
  ),
  " ",
  "\n",
  "\u0000",
  "\ud800",
  "ı",
  "\u00a0",
);
const soup = fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join(""));
const anything = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  soup,
  soup.map((text) => text.repeat(20)),
);

const spacing = fc.stringMatching(/^[ \t\r\n]{0,5}$/);
const casing = (word: string) =>
  fc
    .array(fc.boolean(), { minLength: word.length, maxLength: word.length })
    .map((upper) => [...word].map((letter, index) => (upper[index] ? letter.toUpperCase() : letter)).join(""));
const notListed = fc
  .constantFrom("repeat", "range", "lpad", "array_repeat", "replace", "regexp_replace", "levenshtein", "sleep", "f")
  .chain(casing);
const quoting = fc.constantFrom(
  (name: string) => name,
  (name: string) => `"${name}"`,
  (name: string) => `\`${name}\``,
);
const between = fc.oneof(spacing, fc.constantFrom("/**/", "--\n", "\u00a0", "\u200b", "\u3000"));
const around = fc.constantFrom<(call: string) => string>(
  (call) => `${call} = 'a'`,
  (call) => `lower(${call}) = 'a'`,
  (call) => `b AND (NOT s LIKE ${call})`,
  (call) => `id IN (1, length(${call}))`,
  (call) => `tags[length(${call})] = 'a'`,
  (call) => `cast(${call} as int) = 1`,
  (call) => `s = 'it''s' or ${call}::int between 1 and 2`,
  (call) => `array_has([1, ${call}], 1)`,
);

describe("any text", () => {
  test("is accepted, or refused with code 13", () => {
    fc.assert(
      fc.property(anything, (expression) => {
        outcomeOf(expression);
      }),
      { numRuns: 2000 },
    );
  });

  test("is refused if it calls a function that is not on the list, in any spelling and position", () => {
    fc.assert(
      fc.property(notListed, quoting, between, around, (name, quote, space, place) => {
        expect(outcomeOf(place(`${quote(name)}${space}('a', 3)`))).toBeInstanceOf(ServiceError);
      }),
      { numRuns: 1000 },
    );
  });

  test("is one token in string quotes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 100 }), (text) => {
        const [token, end] = tokenize(`'${text.replaceAll("'", "''")}'`, neverRefuse);
        expect([token?.value, end?.kind]).toEqual([text, "end"]);
      }),
    );
  });

  test("is accepted with other spacing and case if it was accepted before", () => {
    const words = "not lower ( s ) like 'Row%' and id between 1 and 2 or b is not null and x :: double > 1.5".split(
      " ",
    );
    fc.assert(
      fc.property(
        fc.tuple(...words.map((word) => (word.startsWith("'") ? fc.constant(word) : casing(word)))),
        spacing,
        (cased, space) => {
          expect(outcomeOf(cased.join(` ${space}`))).toBe("accepted");
        },
      ),
    );
  });

  test.each([
    "(",
    "[",
    "'",
    "''",
    "`",
    '"',
    '""',
    "-",
    "- ",
    "not ",
    "1",
    "1.",
    "1e",
    "x'",
    "a.",
    "::int",
    "||",
    "lower(",
    "[1,",
    "/ *",
    "''a",
  ])("is split in linear time: 256 KiB of %j", { timeout: 10_000 }, (piece) => {
    const text = piece.repeat(Math.floor(2 ** 18 / piece.length));
    let positions: readonly number[] = [];
    try {
      positions = tokenize(text, neverRefuse).map(({ at }) => at);
    } catch {
      // Refused at the first character that starts no token.
    }
    expect(new Set(positions).size).toBe(positions.length);
    expect(positions.length).toBeLessThanOrEqual(text.length + 1);
  });
});
