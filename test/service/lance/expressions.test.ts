import { describe, expect, test } from "vitest";
import { useSharedService } from "../../support/service.ts";

/** Expressions that the guard accepts and the engine cannot evaluate; classify.test.ts has more of them. */
const service = useSharedService();

const expected = {
  status: 400,
  body: { code: 13, error: expect.stringMatching(/an SQL expression .* cannot be evaluated/) },
};

describe("an expression that cannot be evaluated is an invalid request", () => {
  test.each(["regexp_like(text, '\\p{Nonsense}')", "from_unixtime(id, 'nowhere') > now()"])(
    "when it fails during planning: %s",
    async (filter) => {
      const answers = await Promise.all([
        service.call("explain_plan", "docs", { query: { k: 3, filter } }),
        service.call("analyze_plan", "docs", { k: 3, filter }),
        service.call("query", "docs", { k: 3, filter }),
        service.call("count_rows", "docs", { predicate: filter }),
      ]);
      for (const answer of answers) expect(answer).toMatchObject(expected);
    },
  );

  test.each(["chr(id - 5000) = 'a'", "date_part('nothing', now()) = 1", "decode(text, 'hex') = 'a'"])(
    "when it fails on a filtered row: %s",
    async (filter) => {
      const answers = await Promise.all([
        service.call("analyze_plan", "docs", { k: 3, filter }),
        service.call("query", "docs", { k: 3, filter }),
        service.call("count_rows", "docs", { predicate: filter }),
      ]);
      for (const answer of answers) expect(answer).toMatchObject(expected);
    },
  );

  test.each(["regexp_like(text, '\\p{Nonsense}')", "factorial(id)"])("when it fails as a column: %s", async (it) => {
    const answers = await Promise.all([
      service.call("query", "docs", { k: 100, columns: { id: "id", it } }),
      service.call("analyze_plan", "docs", { k: 100, columns: { id: "id", it } }),
    ]);
    for (const answer of answers) expect(answer).toMatchObject(expected);
  });
});
