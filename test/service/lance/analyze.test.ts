import { expect, test } from "vitest";
import { useSharedService } from "../../support/service.ts";

/** The SDK's `analyzePlan` ignores errors of the execution and returns a plan with zeros; the service must not. */
const service = useSharedService();

const vector = Array.from({ length: 16 }, () => 0.5);

test.each([
  ["a division by zero", { k: 10, filter: "id % 0 = 1" }, /divides by zero/],
  ["a cast that fails", { k: 10, filter: "cast(text as int) > 1" }, /casts a value/],
  ["an ef below k", { k: 10, vector, vector_column: "other", ef: 3, fast_search: true }, /ef is smaller than k/],
])("%s is an error, not a plan without rows", async (_, query, says) => {
  const answer = await service.call("analyze_plan", "docs", query);
  expect(answer).toMatchObject({ status: 400, body: { code: 13, error: expect.stringMatching(says) } });
});

test("a query without results has a plan with output_rows=0", async () => {
  const answer = await service.call("analyze_plan", "docs", { k: 10, filter: "id < 0" });
  expect(answer).toMatchObject({ status: 200, body: expect.stringContaining("output_rows=0") });
});
