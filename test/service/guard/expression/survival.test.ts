import { afterAll, describe, expect, test } from "vitest";
import { allowedFunctions } from "../../../../service/guard/expression/functions.ts";
import { defaultExpressionLimits, verifyExpression } from "../../../../service/guard/expression/index.ts";
import { Engine, type Outcome } from "./support/engine.ts";
import { allForms, mutated, randomTree, render, seeded, type Tree } from "./support/random-expression.ts";

const engine = new Engine();
afterAll(() => engine.close());

const passes = (expression: string): boolean => {
  try {
    verifyExpression(expression, defaultExpressionLimits, "filter");
    return true;
  } catch {
    return false;
  }
};

const repeated = (times: number, piece: string): string => piece.repeat(times);
const nested = (levels: number, open: string, seed: string, close: string): string =>
  open.repeat(levels) + seed + close.repeat(levels);

/** As much of each construct as the default limits allow. */
const extremes: readonly string[] = [
  `x = 1${repeated(35, "+1")}`,
  `x = id${repeated(35, "+id")}`,
  `(id${repeated(126, "::bigint")}) = 1`,
  `b${repeated(128, " is true")}`,
  `${repeated(16, "not ")}b`,
  `id = ${repeated(15, "- ")}id`,
  `b${repeated(128, " or b")}`,
  Array.from({ length: 32 }, (_, index) => `(id = ${index} and x = ${index})`).join(" or "),
  `s = s${repeated(31, "||s")}`,
  `${nested(7, "lower(", "s", ")")} = 'a'`,
  `length(${nested(4, "encode(", `'${"a".repeat(8000)}'`, ", 'hex')")}) > 1`,
  `length(concat_ws('${"a".repeat(100)}'${repeated(31, ",''")})) > 1`,
  `length(concat(make_array(make_array(regexp_match(s, '(((((?:.*)))))'))))) > 1`,
  `length(${nested(2, "concat(make_array(arrow_cast(", `'${"a".repeat(4000)}'`, ", 'Binary')))")}) > 1`,
  `${nested(4, "coalesce(", "id", ", id)")} = 1`,
  `${nested(4, "nvl(", "id", ", id)")} = 1`,
  `${nested(3, "((", "id", ") between 1 and 2)::int")} = 1`,
  `${nested(3, "sqrt(ifnull(", "id", ", 1))")} = 1`,
  `${nested(2, "length((", "id", " * 0)::string)")} = 1`,
  nested(8, "(", "b", ") in (true, false)"),
  `id in (${Array.from({ length: 1000 }, (_, index) => index * 7).join(",")})`,
  `array_has([${Array.from({ length: 1000 }, (_, index) => index * 7).join(",")}], id)`,
  `s like '${repeated(64, "%a_")}'`,
  Array(3).fill("regexp_like(s, '(?:\\pL{5}){5}')").join(" or "),
  `regexp_like(s, '${"(".repeat(50)}a${")".repeat(50)}')`,
  "regexp_like(s, '(?:a{1000}){98}')",
  "regexp_like(s, '.{2400}')",
  `regexp_like(s, '(?i)${repeated(4, "[^\\w]")}')`,
  `json_extract(json, '$${repeated(127, ".a")}') is null`,
  `json_extract(json, '${repeated(255, "[")}') is null`,
];

describe("the engine process survives what the guard accepts", () => {
  test.each(extremes.map((expression) => [expression.slice(0, 60), expression]))("%s…", async (_, expression) => {
    verifyExpression(expression, defaultExpressionLimits, "filter");
    expect(await engine.try({ expression, as: "filter" })).not.toMatchObject({ kind: "died" });
  });

  test("of random expressions up to the limits, and of their neighbours", async () => {
    const outcomes: Outcome["kind"][] = [];
    let last: Tree | undefined;
    for (let seed = 0; seed < 300; seed++) {
      const random = seeded(seed);
      const type = random() < 0.5 ? "boolean" : random() < 0.5 ? "number" : "text";
      const tree: Tree =
        last !== undefined && random() < 0.5
          ? mutated(random, last)
          : randomTree(random, type, 3 + Math.floor(random() * 60), 2 + Math.floor(random() * 6));
      const expression = render(tree);
      if (!passes(expression)) continue;
      last = tree;
      const outcome = await engine.try({ expression, as: tree.type === "boolean" ? "filter" : "alias" });
      expect(outcome, `seed ${seed}: ${expression}`).not.toMatchObject({ kind: "died" });
      outcomes.push(outcome.kind);
    }
    // If the engine refuses most of them, the test shows nothing.
    expect(outcomes.filter((kind) => kind === "accepted").length).toBeGreaterThan(100);
  });

  test("and the random expressions have a form for each allowed function", () => {
    const missing = [...allowedFunctions.keys()].filter((name) => !allForms.some((form) => form.includes(`${name}(`)));
    expect(missing).toEqual([]);
  });

  test("and ends at an expression that the guard refuses, so that the test can detect an end", async () => {
    const expression = `id = ${"1+".repeat(5000)}1`;
    expect(passes(expression)).toBe(false);
    expect(await engine.try({ expression, as: "filter" })).toMatchObject({ kind: "died" });
  });
});
