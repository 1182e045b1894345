import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../../service/errors.ts";
import {
  defaultExpressionLimits,
  verifyExpression,
  verifyExpressions,
} from "../../../../service/guard/expression/index.ts";
import { harmfulExpressions, nested } from "./support/harmful-expressions.ts";

const refusal = (expression: string, limits = defaultExpressionLimits): ServiceError => {
  try {
    verifyExpression(expression, limits, "filter");
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error(`accepted: ${expression.slice(0, 200)}`);
};

const notAllowed: Readonly<Record<string, readonly string[]>> = {
  "functions that are not on the list": [
    ..."lpad rpad array_repeat generate_series array_resize levenshtein overlay to_char array_to_string uuid random version"
      .split(" ")
      .map((name) => `${name}(s, 5) = 'a'`),
    "count(*) > 1",
    "get.lower(s) = 'a'",
    "localtime > ts",
  ],
  "functions that are not on the list, in other spellings": [
    `"repeat"('a', 3) = 'aaa'`,
    "`repeat`('a', 3) = 'aaa'",
    "`lower`(s) = 'a'",
    "repeat/**/('a', 3) = 'aaa'",
    "repeat\n\t ('a', 3) = 'aaa'",
    "RePeAt('a', 3) = 'aaa'",
    "'repeat'('a', 3) = 'aaa'",
    "lower(repeat('a', 3)) = 'aaa'",
    "id in (1, length(repeat('a', 3)))",
    "tags[length(repeat('a', 3))] = 'a'",
    "s = \"a\" repeat('a', 3)",
    "s = 'a\\' or repeat('a', 3) = '",
    "r\u0435peat('a', 3) = 'aaa'",
    "repeat\u00a0('a', 3) = 'aaa'",
    "repeat\u200b('a', 3) = 'aaa'",
  ],
  "words that become keywords in the engine": ["b \u0131s true", "\u017felect", "b \u0131n (true)"],
  "statements, sub-queries and windows": [
    "id = 1; drop table t",
    "(select 1) = 1",
    "id in (select 1)",
    "exists (select 1)",
    "coalesce((select 1), 1) = 1",
    "row_number() over () = 1",
    "abs(id) over (order by id) = 1",
    "abs(id) filter (where b) = 1",
    "abs(distinct id) = 1",
    "abs(x => 1) = 1",
    "array_transform(tags, t -> t) is null",
  ],
  comments: ["id = 1 -- or not", "id = 1 /* or not */", "id = 1 --", "/*+ hint */ id = 1"],
  "operators that are not on the list": [
    ..."~ !~ ~* & | ^ # << >> <=> // -> ->> @> <@ ??".split(" ").map((operator) => `id ${operator} 1`),
    "!b",
    "~id = 1",
    "+id = 1",
    "id = any([1])",
    "s similar to 'a'",
    "s rlike 'a'",
    "ts at time zone 'UTC' = ts",
    "id is distinct from 1",
    "b is unknown",
    "s like 'a' escape '!'",
    "tags[1:2] is null",
    "(id, 1) = (1, 1)",
    "{'a': 1} is null",
    "array[1, 2] is null",
    "case when b then 1 else 2 end = 1",
    "ts > now() - interval '1 day'",
  ],
  "comparisons of comparisons": [
    "id = 1 = b",
    "id between 1 and 2 between b and b",
    "b is true = b",
    "id in (1) in (b)",
  ],
  "casts to other types": [
    "s::text = 'a'",
    "x::decimal = 1",
    "x::decimal(0, 0) = 1",
    "x::decimal(38, 39) = 1",
    "x::decimal(38, -1) = 1",
    "x::decimal(1e1, 1) = 1",
    "ts::timestamp(4) = ts",
    "ts::timestamp with time zone = ts",
    "s::fixedsizebinary(2000000000) is null",
    "arrow_cast(s, 'FixedSizeBinary(2000000000)') is null",
    "arrow_cast([1], 'FixedSizeList(1000000000, Int8)') is null",
    "arrow_cast(s, s) is null",
    "time '10:00' is null",
  ],
  "patterns and paths that are not literals": [
    "s like s",
    "s ilike lower(s)",
    "s like 'a' || 'b'",
    "s like 'a'::string",
    "s like ('a')",
    `s like '${"a".repeat(1001)}'`,
    "regexp_like(s, s)",
    "regexp_like(s, 'a' || 'b')",
    "regexp_like(s, ('a'))",
    `regexp_like(s, '${"a".repeat(1001)}')`,
    "json_extract(json, s) is null",
    "json_extract(json, '$?(@.a == 1)') is null",
    "json_extract(json, '$.**.**.**') is null",
    "json_extract(X'200000001fffffff', '$') is null",
    "json_extract(nullif(X'200000001fffffff', json), '$') is null",
    "json_extract(json || X'00', '$') is null",
    "json_extract(json.a || X'00', '$') is null",
    "json_extract(json_get_string(json, 'a'), '$') is null",
    "concat_ws(s, '-', s) = 'a'",
    `concat_ws('${"a".repeat(101)}', s, s) = 'a'`,
    `regexp_match(s, '${"(a)".repeat(5)}') is null`,
    `regexp_match(s, '${"(?<n>a)".repeat(5)}') is null`,
    "regexp_like(s, 'a', s)",
    "regexp_like(s, 'a', 'g')",
    "regexp_like(s, 'a', 'x')",
    "regexp_like(s, 'a', 'i)(.{1000}){999}(?i')",
    "regexp_count(s, 'a', 1, 'i)(.{1000}){999}(?i') = 1",
  ],
  "patterns on text that may be constant": [
    "regexp_like('aaa', 'a')",
    "regexp_like(null, 'a')",
    `regexp_like("s", 'a')`,
    "regexp_match('aaa', 'a') is null",
    "regexp_count('aaa', 'a') = 1",
    "regexp_like(coalesce('aaa', s), 'a')",
    "regexp_like(nvl('aaa', s), 'a')",
    "regexp_like(nvl2('a', 'b', s), 'a')",
    "regexp_like(nvl2(s, 'a', 'b'), 'a')",
    "regexp_like((b or true)::string, 'a')",
    "regexp_like((id * 0)::string, 'a')",
    "regexp_like(power(x, 0)::string, 'a')",
    "regexp_like(cast(now() as string), 'a')",
    "regexp_like(concat('a', 'b'), 'a')",
    "regexp_like(['a'][1], 'a')",
    "regexp_like([s, 'a'][2], 'a')",
    "regexp_like(make_array('a')[1], 'a')",
    "regexp_like(arrow_typeof(s), 'a')",
    "regexp_like(lower('a'), 'a')",
    "regexp_like((s = s)::string, 'a')",
    "regexp_like((not b)::string, 'a')",
    "'aaa' like '%a%'",
    "lower('AAA') not like '%a%'",
    "('a' || 'b') ilike '%a%'",
  ],
  "calls on constants whose time is more than linear": [
    "array_has([1, 2], 1)",
    "array_has_all([1, 2], [1])",
    "list_has_any(make_array('a'), ['a'])",
    "array_position([1, 2], 1 + 1) = 1",
    "contains_tokens('a b', 'b')",
    "array_distance([1, 2], [1, 2]) < 1",
  ],
  "malformed text": [
    "",
    "   ",
    "id =",
    "= 1",
    "(id = 1",
    "id = 1)",
    "id = 'a",
    "id = `a",
    'id = "a',
    "``= 1",
    "id in ()",
    "id in (1,)",
    "id between 1",
    "id 1",
    "s 'a'",
    "1a = 1",
    "0xff = 1",
    "1_000 = id",
    "1.2.3 = x",
    "x'f' is null",
    "x'zz' is null",
    "cast(id)",
    "cast(id as)",
    "lower(s",
    "lower() = 'a'",
    "lower(s, s) = 'a'",
    "lower(s,) = 'a'",
    "meta. = 1",
    "meta.1 = 1",
    "meta..lang = 1",
    "id\u0000 = 1",
    "id = '\ud800'",
    "\ufeffid = 1",
  ],
};

describe("an expression that must not reach the engine is refused", () => {
  test.each(Object.entries(harmfulExpressions))("%s", (_, expression) => {
    expect(refusal(expression)).toMatchObject({ code: 13, status: 400 });
  });

  describe.each(Object.entries(notAllowed))("%s", (_, expressions) => {
    test.each(expressions)("%j", (expression) => {
      expect(refusal(expression)).toMatchObject({ code: 13, status: 400, message: expect.stringMatching(/^filter/) });
    });
  });
});

describe("the error message", () => {
  test.each([
    [
      "s = repeat('a', 3)",
      "filter: the function repeat is not allowed at character 5: docs/query-safety.md lists the allowed functions",
    ],
    ["trim(s) = 'a'", "filter: the function trim is not allowed at character 1: use btrim, ltrim or rtrim"],
    ["id = 1; x", "filter: a semicolon at character 7: send one expression"],
    ["straße = 1", "filter: the letter U+00DF at character 5: write a name with letters outside ASCII in backquotes"],
    ["s::text = 'a'", /cast to TEXT at character 4: use boolean, /],
    ["id =", "filter: the end is not allowed at character 5: write a column, a literal or a call here"],
    ["s is 1", "filter: a number is not allowed at character 6: write NULL, TRUE or FALSE here"],
    [
      "regexp_like(s, 'a{,3}')",
      "filter: a repetition that is not read at character 2 of the pattern at character 16: write {n}, {n,} or {n,m}, or \\{ for the character",
    ],
    [
      "regexp_like(s, '\\w{50}')",
      /a pattern that compiles to about 175\d{3} states, at most 100000 .* at character 16: /,
    ],
    ["regexp_like('a', 'a')", /regexp_like on text that may be constant at character 1: pass a column/],
    ["'a' like 'b'", "filter: LIKE on a constant at character 1: compare a column, or write true or false"],
    ["array_has([1], 1)", "filter: array_has of constants at character 1: pass a column, or write the result"],
  ])("for %s names the position and what to write instead", (expression, message) => {
    expect(refusal(expression).message).toMatch(message);
  });

  test("does not contain the caller's literals", () => {
    expect(refusal("s = 'secret' 'other-secret'").message).not.toMatch(/secret/);
  });
});

describe("the bounds on an expression", () => {
  const ones = (count: number) => Array(count).fill(1).join(",");
  const list = (items: number) => `id IN (${Array.from({ length: items }, (_, index) => index).join(",")})`;
  const limits = defaultExpressionLimits;

  const deeper = /nested deeper than 8 levels/;

  test.each<readonly [what: string, within: string, beyond: string, message: RegExp]>([
    ["bytes", `s = '${"é".repeat(4093)}'`, `s = '${"é".repeat(4094)}'`, /more than 8192 bytes/],
    ["parentheses", `${"(".repeat(16)}b${")".repeat(16)}`, `${"(".repeat(17)}b${")".repeat(17)}`, /nesting/],
    ["calls", nested(8, (inner) => `lower(${inner})`, "s"), nested(9, (inner) => `lower(${inner})`, "s"), deeper],
    [
      "casts in calls",
      nested(4, (inner) => `abs(${inner}::int)`, "id"),
      nested(5, (inner) => `abs(${inner}::int)`, "id"),
      deeper,
    ],
    ["comparisons", nested(8, (inner) => `(${inner}) = b`, "b"), nested(9, (inner) => `(${inner}) = b`, "b"), deeper],
    ["IS", nested(8, (inner) => `(${inner}) is null`, "b"), nested(9, (inner) => `(${inner}) is null`, "b"), deeper],
    [
      "lists",
      nested(4, (inner) => `array_length([${inner}])`, "id"),
      nested(5, (inner) => `array_length([${inner}])`, "id"),
      /deeper|grow/,
    ],
    [
      "AND and OR",
      nested(8, (inner) => `(b and ${inner})`, "b"),
      nested(9, (inner) => `(b and ${inner})`, "b"),
      /nesting/,
    ],
    ["additions", `x = id${"+1".repeat(36)}`, `x = id${"+1".repeat(37)}`, /137 operators/],
    ["factors", `x = id${"*x".repeat(36)}`, `x = id${"*x".repeat(37)}`, /137 operators/],
    [
      "nested additions",
      nested(8, (inner) => `(${inner}+x)`, "id"),
      nested(9, (inner) => `(${inner}+x)`, "id"),
      deeper,
    ],
    ["casts", `id${"::int".repeat(128)}`, `id${"::int".repeat(129)}`, /129 operators/],
    ["IS TRUE", `b${" is true".repeat(128)}`, `b${" is true".repeat(129)}`, /129 operators/],
    ["NOT", `${"not ".repeat(16)}b`, `${"not ".repeat(17)}b`, /nesting/],
    ["minus", `id = ${"- ".repeat(15)}id`, `id = ${"- ".repeat(16)}id`, /nesting/],
    ["fields", `a${".a".repeat(128)}`, `a${".a".repeat(129)}`, /129 operators/],
    ["subscripts", `a${"[1]".repeat(128)}`, `a${"[1]".repeat(129)}`, /129 operators/],
    ["OR", `b${" or b".repeat(128)}`, `b${" or b".repeat(129)}`, /129 operators/],
    ["concatenations", `s${"||s".repeat(32)}`, `s${"||s".repeat(33)}`, /132 operators/],
    ["list items", list(1000), list(1001), /more than 1000 items/],
    [
      "growth of a text",
      nested(4, (inner) => `encode(${inner}, 'hex')`, "s"),
      nested(5, (inner) => `encode(${inner}, 'hex')`, "s"),
      /grow more than 16 times at character 36: nest fewer calls of encode, regexp_match and lists/,
    ],
    [
      "growth in different ways",
      "concat(make_array(regexp_match(encode(s, 'hex'), '(a)(?:b)')))",
      "[[encode(concat(regexp_match(s, '(a)')), 'base64')]]",
      /grow more than 16 times/,
    ],
    ["sibling lists", Array(14).fill("array_has([[[1]]], [[id]])").join(" or "), "[[[[[1]]]]]", /grow more/],
    [
      "items of lists together",
      `array_has([${ones(1000)}], id) or array_has([${ones(491)}], id)`,
      `array_has([${ones(1000)}], id) or array_has([${ones(492)}], id)`,
      /129 operators, .*12 items of a list/,
    ],
    [
      "lists of lists",
      `array_has([${Array(117).fill("[1]")}], nums)`,
      `array_has([${Array(118).fill("[1]")}], nums)`,
      /129 operators/,
    ],
    [
      "items of a list that are columns",
      `array_has([${Array(117).fill("id")}], 1)`,
      `array_has([${Array(118).fill("id")}], 1)`,
      /129 operators/,
    ],
    [
      "items of a list in coalesce",
      `coalesce(coalesce([id,${ones(70)}], nums), nums) is null`,
      `coalesce(coalesce([id,${ones(71)}], nums), nums) is null`,
      /134 operators/,
    ],
    [
      "values of IN in coalesce",
      `coalesce(id in (${ones(1000)}), b) or coalesce(id in (${ones(199)}), b)`,
      `coalesce(id in (${ones(1000)}), b) or coalesce(id in (${ones(200)}), b)`,
      /131 operators, .*40 values of IN/,
    ],
    [
      "coalesce",
      nested(4, (inner) => `coalesce(${inner}, b)`, "b"),
      nested(5, (inner) => `coalesce(${inner}, b)`, "b"),
      /341/,
    ],
    [
      "patterns",
      Array(3).fill("regexp_like(s, 'a')").join(" or "),
      Array(4).fill("regexp_like(s, 'a')").join(" or "),
      /131 operators/,
    ],
    ["states of a pattern", "regexp_like(s, '\\w{28}')", "regexp_like(s, '\\w{29}')", /compiles to about 101/],
    ["wildcards", `s like '${"%a".repeat(128)}'`, `s like '${"_%".repeat(64)}_'`, /129 operators/],
  ])("%s", (_, within, beyond, message) => {
    expect(verifyExpression(within, limits, "filter")).toBe(within);
    expect(refusal(beyond).message).toMatch(message);
  });

  test("are the limits of the configuration", () => {
    const strict = {
      maxBytes: 40,
      maxDepth: 1,
      maxOperatorDepth: 2,
      maxOperators: 2,
      maxTotalOperators: 2,
      maxTotalBytes: 40,
      maxPatternStates: 1,
      maxGrowth: 1,
      maxListItems: 2,
      functions: new Set(["lower"]),
    };
    expect(verifyExpression("lower(s) = 'a'", strict, "filter")).toBe("lower(s) = 'a'");
    for (const expression of [
      "upper(s) = 'a'",
      "((b))",
      "b and b and b and b",
      "id in (1,2,3)",
      "[id]",
      `s = '${"a".repeat(40)}'`,
    ])
      expect(refusal(expression, strict).code).toBe(13);
  });

  test("hold for the operators of all expressions together", () => {
    const aliases = (count: number) =>
      Array.from({ length: count }, (_, index) => [`columns[${index}]`, "id + 1"] as const);
    expect(() => verifyExpressions(aliases(128), limits)).not.toThrow();
    expect(() => verifyExpressions(aliases(129), limits)).toThrow(/more than 128 operators together/);
    expect(() => verifyExpressions([...aliases(1), ["columns[1]", "repeat('a', 9)"]], limits)).toThrow(
      /^columns\[1\]: /,
    );
  });

  test("hold for the bytes of all expressions together", () => {
    const literals = (count: number, bytes: number) =>
      Array.from({ length: count }, (_, index) => [`columns[${index}]`, `'${"a".repeat(bytes - 2)}'`] as const);
    expect(() => verifyExpressions(literals(16, 1024), limits)).not.toThrow();
    expect(() => verifyExpressions([...literals(16, 1024), ["columns[16]", "1"]], limits)).toThrow(
      /more than 16384 bytes together/,
    );
  });

  test("refuse a megabyte before it is split into tokens", () => {
    expect(refusal("(".repeat(1 << 20)).message).toBe("filter has more than 8192 bytes: shorten the expression");
  });
});
