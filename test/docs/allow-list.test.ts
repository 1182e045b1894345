import { expect, test } from "vitest";
import { allowedFunctions } from "../../service/guard/expression/functions.ts";
import { defaultExpressionLimits, verifyExpression } from "../../service/guard/expression/index.ts";
import { allowList, constructs } from "../../tools/docs/functions.ts";

test.each(constructs)("the guard accepts the example of %s", (_, example) => {
  expect(verifyExpression(example, defaultExpressionLimits, "filter")).toBe(example);
});

test("the allow-list names every function that the guard accepts", () => {
  const page = allowList();
  expect(allowedFunctions.size).toBeGreaterThan(100);
  expect([...allowedFunctions.keys()].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
