import { describe, expect, test } from "vitest";
import { authorize, compileTablePatterns, type Principal, type Scope, scopes } from "../../../service/auth/index.ts";
import { challengeOf, refusal } from "./support.ts";

const principal = (held: readonly Scope[], ...tables: string[]): Principal => ({
  subject: "someone",
  scopes: new Set(held),
  tables: compileTablePatterns(tables),
  method: "jwt",
});

describe("authorization", () => {
  test.each(scopes)("permits %s only to principals with that scope", async (scope) => {
    authorize(principal([scope], "**"), scope, ["t"]);
    const others = scopes.filter((other) => other !== scope);
    const error = await refusal(() => authorize(principal(others, "**"), scope, ["t"]));
    expect(error).toMatchObject({ code: 15, status: 403, message: expect.stringContaining(scope) });
    expect(challengeOf(error)).toBe(`Bearer realm="lakehead", error="insufficient_scope", scope="${scope}"`);
  });

  test("without a required scope needs any scope", async () => {
    for (const scope of scopes) authorize(principal([scope], "**"), null, ["t"]);
    expect(await refusal(() => authorize(principal([], "**"), null, ["t"]))).toMatchObject({ code: 15 });
  });

  test("refuses a table that no pattern permits, without naming table or pattern", async () => {
    authorize(principal(["plan"], "dev$*", "prod$t"), "plan", ["prod", "t"]);
    const error = await refusal(() => authorize(principal(["plan"], "dev$*", "prod$t"), "plan", ["prod", "other"]));
    expect(error).toMatchObject({ code: 15, status: 403, message: "the credentials do not permit this table" });
  });

  test("permits the root to the pattern ** only", async () => {
    authorize(principal(["plan"], "**"), null, []);
    expect(await refusal(() => authorize(principal(["plan"], "*", "a$**"), null, []))).toMatchObject({ code: 15 });
  });
});
