import { expect, test } from "vitest";
import { planAlternative } from "../../../service/operations/shared/plan-document.ts";
import { diagnose } from "../../../service/plan-doctor/diagnose.ts";
import example from "../../../service/plan-doctor/example.json" with { type: "json" };
import type { Facts } from "../../../service/plan-doctor/types.ts";
import { parseQuery } from "./support/examine.ts";

test("the example of the OpenAPI document fits its schema, and is what the doctor says of its plan", () => {
  expect(planAlternative.answer.safeParse(example).error).toBeUndefined();
  const query = parseQuery({ k: 100, columns: ["id", "body"], filter: "category = 'c5'" });
  expect(JSON.parse(JSON.stringify(diagnose(example.plan, query, example.facts as Facts, "documents")))).toEqual({
    tree: example.tree,
    findings: example.findings,
  });
});
