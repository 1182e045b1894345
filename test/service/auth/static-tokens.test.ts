import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCredentials, type StaticToken } from "../../../service/auth/index.ts";
import {
  authDefaults,
  bench,
  canary,
  challengeOf,
  configFor,
  expectNoTrace,
  refusal,
  startIssuer,
  type TestIssuer,
} from "./support.ts";

const hash = (token: string): string => createHash("sha256").update(token).digest("hex");
const first = "first-token-0123456789abcdef";
const second = "second-token-0123456789abcdef";
const staticTokens: StaticToken[] = [
  { name: "ci", sha256: hash(first), scopes: ["stats"], tables: ["prod$*"] },
  { name: "admin", sha256: hash(second).toUpperCase(), scopes: ["plan", "tags:write"], tables: ["**"] },
];

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.stop());

describe("a static token", () => {
  test("authenticates as the principal of its entry", async () => {
    const { authenticator } = bench({ ...authDefaults, staticTokens });
    const ci = await authenticator.authenticate({ bearer: first });
    expect(ci).toMatchObject({ subject: "ci", method: "static-token" });
    expect([...ci.scopes]).toEqual(["stats"]);
    expect([ci.tables.permits(["prod", "t"]), ci.tables.permits(["dev", "t"])]).toEqual([true, false]);
    expect((await authenticator.authenticate({ bearer: second })).subject).toBe("admin");
    expect(authenticator.ready()).toBe(true);
    authenticator.close();
  });

  test("is accepted beside an issuer without a request to it, also in the form of a JWT", async () => {
    const dotted = "a.static.token";
    const entry: StaticToken = { name: "dotted", sha256: hash(dotted), scopes: ["plan"], tables: ["**"] };
    const { authenticator } = bench(configFor(issuer, { staticTokens: [...staticTokens, entry] }));
    const before = [...issuer.requests];
    expect((await authenticator.authenticate({ bearer: first })).subject).toBe("ci");
    expect((await authenticator.authenticate({ bearer: dotted })).subject).toBe("dotted");
    expect(issuer.requests).toEqual(before);
    expect((await authenticator.authenticate({ bearer: await issuer.token() })).method).toBe("jwt");
  });

  test.each([hash(first), first.toUpperCase(), first.slice(0, -1), `${first}=`, "x", canary])(
    "is not %s",
    async (bearer) => {
      const { authenticator, logged } = bench(configFor(issuer, { staticTokens }));
      const error = await refusal(authenticator.authenticate({ bearer }));
      expect(error).toMatchObject({ code: 16, status: 401 });
      expect(challengeOf(error)).toContain(`error="invalid_token"`);
      if (bearer.length > 1) expectNoTrace(bearer, error, logged);
    },
  );

  test("does not accept a JWT without a configured issuer", async () => {
    const { authenticator } = bench({ ...authDefaults, staticTokens });
    expect(await refusal(authenticator.authenticate({ bearer: await issuer.token() }))).toMatchObject({ code: 16 });
  });
});

describe("x-api-key", () => {
  const allowed = () => bench(configFor(issuer, { staticTokens, allowApiKeyHeader: true })).authenticator;

  test("is accepted as a static token or a JWT where it is allowed", async () => {
    expect((await allowed().authenticate({ apiKey: first })).subject).toBe("ci");
    expect((await allowed().authenticate({ apiKey: await issuer.token() })).subject).toBe(canary);
    expect(await refusal(allowed().authenticate({ apiKey: "other" }))).toMatchObject({ code: 16 });
  });

  test("is refused with a remedy where it is not allowed", async () => {
    const { authenticator } = bench(configFor(issuer, { staticTokens }));
    const error = await refusal(authenticator.authenticate({ apiKey: first }));
    expect(error.message).toBe("x-api-key is not accepted; send Authorization: Bearer <token>");
    expect(challengeOf(error)).toBe(`Bearer realm="lakehead"`);
  });

  test("does not replace an invalid bearer token", async () => {
    expect(await refusal(allowed().authenticate({ bearer: "wrong", apiKey: first }))).toMatchObject({ code: 16 });
  });
});

describe("the headers of a request", () => {
  const read = (headers: [string, string][]) => readCredentials(new Headers(headers));

  test.each(["Bearer", "bearer", "BEARER", "bEaReR"])("give the token of the scheme %s", (scheme) => {
    expect(read([["Authorization", `${scheme} ${first}`]])).toEqual({ bearer: first });
    expect(read([["authorization", `${scheme}   ${first}`]])).toEqual({ bearer: first });
  });

  test("yield x-api-key only without any Authorization header", async () => {
    expect(read([["x-api-key", first]])).toEqual({ apiKey: first });
    expect(
      read([
        ["x-api-key", first],
        ["authorization", `Bearer ${second}`],
      ]),
    ).toEqual({ bearer: second });
    const headers: [string, string][] = [
      ["x-api-key", first],
      ["authorization", "Basic YTpi"],
    ];
    expect(await refusal(() => read(headers))).toMatchObject({ code: 16 });
  });

  test("without credentials yield none", () => {
    expect(read([])).toEqual({});
    expect(read([["x-api-key", ""]])).toEqual({});
    expect(read([["cookie", `authorization=Bearer ${first}`]])).toEqual({});
  });

  test.each([
    "Bearer",
    "Bearer ",
    "Bearer a b",
    `Bearer ${canary},`,
    `Bearer "${canary}"`,
    "Bearer ä",
    "Bearer =",
    "bearer\ta",
  ])("of the form %j are refused", async (authorization) => {
    const error = await refusal(() => read([["authorization", authorization]]));
    expect(error).toMatchObject({ code: 16, status: 401 });
    expect(challengeOf(error)).toMatch(/^Bearer realm="lakehead"/);
    expectNoTrace(authorization, error);
  });

  test("with two Authorization headers are refused", async () => {
    const twice: [string, string][] = [
      ["authorization", `Bearer ${first}`],
      ["authorization", `Bearer ${second}`],
    ];
    expect(challengeOf(await refusal(() => read(twice)))).toContain("one well-formed bearer token");
  });

  test.each(["Basic YTpi", "Token x", "", "DPoP x"])(
    "of another scheme (%j) are refused with a plain challenge",
    async (authorization) => {
      expect(challengeOf(await refusal(() => read([["authorization", authorization]])))).toBe(
        `Bearer realm="lakehead"`,
      );
    },
  );

  test("without credentials are refused with the header to send", async () => {
    const { authenticator } = bench(configFor(issuer, { allowApiKeyHeader: true }));
    const error = await refusal(authenticator.authenticate(read([])));
    expect(error).toMatchObject({
      code: 16,
      message: expect.stringContaining("Authorization: Bearer <token> or x-api-key"),
    });
    expect(challengeOf(error)).toBe(`Bearer realm="lakehead"`);
  });
});
