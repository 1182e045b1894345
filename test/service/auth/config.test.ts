import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type AuthConfig, authDefaults, supportedAlgorithms, validateAuthConfig } from "../../../service/auth/index.ts";

const sha256 = createHash("sha256").update("token").digest("hex");
const issuer = "https://issuer.example";
const valid: AuthConfig = { ...authDefaults, issuer, audience: ["lakehead"] };
const token = { name: "ci", sha256, scopes: ["plan"], tables: ["**"] } as const;

describe("a configuration", () => {
  const good: Record<string, AuthConfig> = {
    "of issuer and audience": valid,
    "with a path in the issuer's address": { ...valid, issuer: "https://id.example/realms/lake/" },
    "with a loopback issuer": { ...valid, issuer: "http://localhost:9999" },
    "with a loopback issuer by IPv6": { ...valid, issuer: "http://[::1]:9999" },
    "with a key set and an issuer that is no address": { ...valid, issuer: "lake-issuer", jwksUrl: `${issuer}/keys` },
    "of static tokens only": { ...authDefaults, staticTokens: [token] },
    "with all algorithms": { ...valid, algorithms: [...supportedAlgorithms] },
    "with a static token that may reach no table": { ...valid, staticTokens: [{ ...token, tables: [] }] },
  };
  it.each(Object.entries(good))("%s has nothing wrong", (_, config) => {
    expect(validateAuthConfig(config)).toEqual([]);
  });

  const bad: [what: string, changes: Record<string, unknown>, key: string, says: string[]][] = [
    ["nobody could use", { issuer: undefined, audience: [] }, "issuer", ["is missing", "set either"]],
    ["a key set without issuer", { issuer: undefined, jwksUrl: `${issuer}/keys` }, "issuer", ["is missing", "iss"]],
    ["an empty issuer", { issuer: "" }, "issuer", [`""`, "https://"]],
    ["an empty issuer with a key set", { issuer: "", jwksUrl: `${issuer}/keys` }, "issuer", [`""`, "iss"]],
    ["an issuer without scheme", { issuer: "issuer.example" }, "issuer", [`"issuer.example"`, "https://"]],
    ["an issuer over http", { issuer: "http://issuer.example" }, "issuer", [`"http://issuer.example"`, "use https"]],
    [
      "a host that begins like a loopback address",
      { issuer: "http://127.0.0.1.evil.example" },
      "issuer",
      ["use https"],
    ],
    ["a host that begins like localhost", { issuer: "http://localhost.evil.example" }, "issuer", ["use https"]],
    ["an issuer by file", { issuer: "file:///etc/keys" }, "issuer", ["use https"]],
    ["an issuer with a query", { issuer: `${issuer}?x=1` }, "issuer", ["query", "remove it"]],
    [
      "a key set over http",
      { jwksUrl: "http://keys.example/jwks" },
      "jwksUrl",
      [`"http://keys.example/jwks"`, "use https"],
    ],
    ["no audience", { audience: [] }, "audience", ["[]", "aud"]],
    ["an empty audience", { audience: ["a", ""] }, "audience", [`["a",""]`]],
    ["no algorithm", { algorithms: [] }, "algorithms", ["[]", "default"]],
    ["the algorithm none", { algorithms: ["none"] }, "algorithms", [`"none"`, "RS256"]],
    ["an HMAC algorithm", { algorithms: ["ES256", "HS256"] }, "algorithms", [`"HS256"`, "RS256"]],
    ["too wide a tolerance", { clockToleranceSeconds: 301 }, "clockToleranceSeconds", ["301", "0 to 300"]],
    ["a negative tolerance", { clockToleranceSeconds: -1 }, "clockToleranceSeconds", ["-1", "0 to 300"]],
    ["a cache of no time", { keyCacheSeconds: 0 }, "keyCacheSeconds", ["0", "1 to"]],
    ["a cooldown of no time", { cooldownSeconds: Number.NaN }, "cooldownSeconds", ["NaN", "1 to"]],
    ["keys for ever", { staleKeySeconds: Number.POSITIVE_INFINITY }, "staleKeySeconds", ["Infinity", "0 to 604800"]],
    ["an empty scope claim", { scopeClaim: "" }, "scopeClaim", [`""`]],
    ["a map to a scope that is none", { scopeMap: { a: ["plan", "all"] } }, `scopeMap["a"]`, [`"all"`, "tags:write"]],
    ["a malformed default pattern", { defaultTables: ["a$$b"] }, "defaultTables", [`"a$$b"`, "empty segment"]],
    ["a static token of no name", { staticTokens: [{ ...token, name: "" }] }, "staticTokens[0].name", [`""`]],
    [
      "a static token's foreign scope",
      { staticTokens: [{ ...token, scopes: ["all"] }] },
      "staticTokens[0].scopes",
      [`"all"`],
    ],
    [
      "a static token without scope",
      { staticTokens: [{ ...token, scopes: [] }] },
      "staticTokens[0].scopes",
      ["[]", "plan"],
    ],
    [
      "a static token's malformed pattern",
      { staticTokens: [{ ...token, tables: ["**$a"] }] },
      "staticTokens[0].tables",
      [`"**$a"`],
    ],
    [
      "two static tokens of one name",
      { staticTokens: [token, { ...token, sha256: "0".repeat(64) }] },
      "staticTokens[1].name",
      [`"ci"`],
    ],
    [
      "one static token twice",
      { staticTokens: [token, { ...token, name: "b", sha256: sha256.toUpperCase() }] },
      "staticTokens[1].sha256",
      ["earlier"],
    ],
  ];
  it.each(bad)("with %s is refused by key, value and way out", (_, changes, key, says) => {
    const problems = validateAuthConfig({ ...valid, ...changes } as AuthConfig);
    expect(problems.map((problem) => problem.key)).toEqual([key]);
    for (const text of [key, ...says]) expect(problems[0]?.message).toContain(text);
  });

  it("is reported whole, by the operator's own names for the keys", () => {
    const config: AuthConfig = { ...valid, audience: [], keyCacheSeconds: 0, staticTokens: [{ ...token, name: "" }] };
    const messages = validateAuthConfig(config, (key) => `<${key}>`).map(({ message }) => message.split(" ")[0]);
    expect(messages).toEqual(["<audience>", "<keyCacheSeconds>", "<staticTokens>[0].name"]);
  });

  it("never has a secret quoted: not a token put where its hash belongs, nor a password in an address", () => {
    const config: AuthConfig = {
      ...valid,
      issuer: "https://user:hunter2@issuer.example",
      staticTokens: [{ ...token, sha256: "hunter2-in-plain" }],
    };
    const text = JSON.stringify(validateAuthConfig(config));
    expect(text).toContain("sha256sum");
    expect(text).toContain("without them");
    expect(text).not.toContain("hunter2");
  });
});
