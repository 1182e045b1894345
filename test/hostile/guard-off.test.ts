import { describe, expect, inject, test } from "vitest";
import { harmfulExpressions } from "../service/guard/expression/support/harmful-expressions.ts";
import { testToken } from "../support/request.ts";
import { startReadyServiceProcess } from "../support/service-process.ts";
import { bodyOf } from "./support/queries.ts";

/** Which operation and field each is sent through; the test tables have a column `id`. */
const deadly = [
  ["explain_plan", "filter", "overflows the stack: additions"],
  ["analyze_plan", "filter", "overflows the stack: a JSON literal"],
  ["explain_plan", "columns", "overflows the stack: casts"],
] as const;

describe("with the guard off", () => {
  test.each(deadly)("%s with one %s ends the process: %s", async (operation, field, name) => {
    const service = await startReadyServiceProcess({
      copyOf: inject("tables"),
      environment: { LAKEHEAD_UNSAFE_GUARD: "off", LAKEHEAD_ISOLATION: "off" },
    });
    try {
      const expression = harmfulExpressions[name];
      const query = { k: 5, vector: null, [field]: field === "columns" ? { value: expression } : expression };
      const answer = fetch(`${service.base}/v1/table/docs/${operation}`, {
        method: "POST",
        headers: { authorization: `Bearer ${testToken}`, "content-type": "application/json" },
        body: JSON.stringify(bodyOf(operation, query)),
      });
      await expect(answer).rejects.toThrow();
      expect(await service.exited()).toMatch(/^SIG(SEGV|ABRT|BUS)$/);
      expect(service.output()).toContain("LAKEHEAD_UNSAFE_GUARD is off");
    } finally {
      await service.kill();
    }
  });
});
