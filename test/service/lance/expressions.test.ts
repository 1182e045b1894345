import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../support/service.ts";

/** Expressions that the guard lets through and the engine fails on: what the caller is told of them. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const said = {
  status: 400,
  body: { code: 13, error: expect.stringMatching(/an SQL expression .* cannot be evaluated/) },
};

describe("an expression that cannot be evaluated is the caller's mistake", () => {
  test.each([
    "text.foo = 1",
    "get_field(text, 'a') = 1",
    "round(1.5, 99999999999) = 1",
    "regexp_like(text, '\\p{Nonsense}')",
    "from_unixtime(id, 'nowhere') > now()",
  ])("where it fails while it is planned: %s", async (filter) => {
    const answers = await Promise.all([
      service.call("explain_plan", "docs", { query: { k: 3, filter } }),
      service.call("analyze_plan", "docs", { k: 3, filter }),
      service.call("query", "docs", { k: 3, filter }),
      service.call("count_rows", "docs", { predicate: filter }),
    ]);
    for (const answer of answers) expect(answer).toMatchObject(said);
  });

  test.each([
    "split_part(text, 'x', 0) = ''",
    "make_date(2024, 99999, 1) = today()",
    "chr(id - 5000) = 'a'",
    "factorial(101) = 1",
    "array_distance(vector, [1.0, 2.0]) < 1",
    "cosine_distance(vector, [1.0, 2.0]) < 1",
    "date_part('nothing', now()) = 1",
    "decode(text, 'hex') = 'a'",
  ])("where it fails on the rows that it filters: %s", async (filter) => {
    const answers = await Promise.all([
      service.call("analyze_plan", "docs", { k: 3, filter }),
      service.call("query", "docs", { k: 3, filter }),
      service.call("count_rows", "docs", { predicate: filter }),
    ]);
    for (const answer of answers) expect(answer).toMatchObject(said);
  });

  test.each([
    "to_timestamp(text)",
    "to_date(text)",
    "date_trunc('day', text)",
    "regexp_count(text, 'a', 0)",
    "regexp_like(text, '\\p{Nonsense}')",
    "factorial(id)",
  ])("where it fails on the rows that it is a column of: %s", async (it) => {
    const answers = await Promise.all([
      service.call("query", "docs", { k: 100, columns: { id: "id", it } }),
      service.call("analyze_plan", "docs", { k: 100, columns: { id: "id", it } }),
    ]);
    for (const answer of answers) expect(answer).toMatchObject(said);
  });
});
