import type { JwtTransform } from "oauth2-mock-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuthConfig } from "../../../service/auth/index.ts";
import { bench, configFor, startIssuer, type TestIssuer } from "./support.ts";

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.stop());

const claim =
  (name: string, value: unknown): JwtTransform =>
  (_, payload) =>
    Object.assign(payload, { [name]: value });

const principalOf = async (config: Partial<AuthConfig>, change?: JwtTransform) => {
  const { authenticator, logged } = bench(configFor(issuer, config));
  return { principal: await authenticator.authenticate({ bearer: await issuer.token(change) }), logged };
};

describe("scopes", () => {
  const map = { "lake-admin": ["plan", "analyze", "tags:write"], reader: ["stats"] } as const;
  const shapes: [what: string, config: Partial<AuthConfig>, change: JwtTransform, scopes: string[]][] = [
    ["words in a string", {}, claim("scope", "openid  plan email stats "), ["plan", "stats"]],
    ["an array", {}, claim("scope", ["plan", "tags:read", "admin"]), ["plan", "tags:read"]],
    ["another claim", { scopeClaim: "scp" }, claim("scp", "analyze"), ["analyze"]],
    ["a path", { scopeClaim: "realm_access.roles" }, claim("realm_access", { roles: ["plan"] }), ["plan"]],
    [
      "a name with dots",
      { scopeClaim: "https://example.com/scopes" },
      claim("https://example.com/scopes", ["plan"]),
      ["plan"],
    ],
    [
      "a prefix",
      { scopePrefix: "lake:" },
      claim("scope", "lake:plan stats lake: hike:analyze lake:tags:write"),
      ["plan", "tags:write"],
    ],
    ["a map", { scopeMap: map }, claim("scope", "lake-admin reader stats"), ["plan", "analyze", "tags:write", "stats"]],
    [
      "a map beside a prefix",
      { scopeMap: map, scopePrefix: "lake:" },
      claim("scope", "reader lake:plan tags:write"),
      ["stats", "plan"],
    ],
    ["no claim", {}, claim("scope", undefined), []],
    ["null", {}, claim("scope", null), []],
    ["a number", {}, claim("scope", 7), []],
    ["an object", {}, claim("scope", { plan: true }), []],
    ["an array that is not all strings", {}, claim("scope", ["plan", 7]), []],
    ["an array of strings with several words each", {}, claim("scope", ["plan stats"]), []],
    ["words in capitals", {}, claim("scope", "PLAN Stats"), []],
    ["a path through no object", { scopeClaim: "scope.length.plan" }, claim("scope", "plan"), []],
    [
      "inherited names",
      { scopeClaim: "constructor.name", scopeMap: {} },
      claim("scope", "toString __proto__ plan"),
      [],
    ],
    ["inherited names with a map", { scopeMap: {} }, claim("scope", "toString __proto__ constructor plan"), ["plan"]],
  ];
  test.each(shapes)("in %s", async (_, config, change, scopes) => {
    expect([...(await principalOf(config, change)).principal.scopes]).toEqual(scopes);
  });
});

describe("table patterns", () => {
  const config = { tablesClaim: "lake.tables", defaultTables: ["public$*"] };
  const shapes: [what: string, config: Partial<AuthConfig>, change: JwtTransform | undefined, patterns: string[]][] = [
    ["are the default without a claim", config, undefined, ["public$*"]],
    ["are the default when no claim is configured", { defaultTables: ["a"] }, claim("lake", { tables: ["b"] }), ["a"]],
    ["come from an array", config, claim("lake", { tables: ["prod$**", "dev$t"] }), ["prod$**", "dev$t"]],
    ["come from words in a string", config, claim("lake", { tables: "prod$** dev$t" }), ["prod$**", "dev$t"]],
    ["are none for an empty array", config, claim("lake", { tables: [] }), []],
    ["are none for an empty string", config, claim("lake", { tables: "" }), []],
  ];
  test.each(shapes)("%s", async (_, changes, change, patterns) => {
    const { principal, logged } = await principalOf(changes, change);
    expect(principal.tables.source).toEqual(patterns);
    expect(logged).toEqual([]);
  });

  test.each([null, 7, { a: "**" }, ["**", 7], ["a$$b"], ["**$a"], "prod$** a**"])(
    "in a malformed claim (%j) permit nothing, with a line in the log",
    async (tables) => {
      const { principal, logged } = await principalOf(config, claim("lake", { tables }));
      expect(principal.tables.permits(["public", "t"])).toBe(false);
      expect(principal.tables.permits(["prod", "t"])).toBe(false);
      expect(logged).toMatchObject([{ level: "warn", fields: { claim: "lake.tables", subject: principal.subject } }]);
    },
  );
});
