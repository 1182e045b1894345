import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../../service/config/config.ts";
import { type Environment, faultsOf } from "./support.ts";

const sha256 = createHash("sha256").update("token").digest("hex");
const token = { name: "ci", sha256, scopes: ["plan"], tables: ["**"] };
const database = { LAKEHEAD_DATABASE: "/data" };
const valid = { ...database, LAKEHEAD_AUTH_ISSUER: "https://issuer.example", LAKEHEAD_AUTH_AUDIENCE: "lakehead" };
const staticTokens = (...tokens: object[]): Environment => ({ LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify(tokens) });
const jwks = "https://issuer.example/keys";

test.each<[what: string, environment: Environment]>([
  ["an issuer and an audience", valid],
  ["a path in the issuer's address", { ...valid, LAKEHEAD_AUTH_ISSUER: "https://id.example/realms/lake/" }],
  ["a loopback issuer", { ...valid, LAKEHEAD_AUTH_ISSUER: "http://localhost:9999" }],
  ["an IPv6 loopback issuer", { ...valid, LAKEHEAD_AUTH_ISSUER: "http://[::1]:9999" }],
  ["a JWKS and an issuer that is not a URL", { ...valid, LAKEHEAD_AUTH_ISSUER: "lake", LAKEHEAD_AUTH_JWKS_URL: jwks }],
  [
    "a cluster's issuer only",
    {
      ...database,
      LAKEHEAD_AUTH_AUDIENCE: "lakehead",
      LAKEHEAD_AUTH_CLUSTER_ISSUER: "https://cluster.example",
      LAKEHEAD_AUTH_SERVICE_ACCOUNTS: '[{"name": "lancedb/geneva", "scopes": ["read"]}]',
    },
  ],
  ["static tokens only", { ...database, ...staticTokens(token) }],
  ["a static token without tables", { ...valid, ...staticTokens({ ...token, tables: [] }) }],
  ["other algorithms", { ...valid, LAKEHEAD_AUTH_ALGORITHMS: "RS512, Ed25519" }],
])("%s is valid", (_, environment) => {
  expect(faultsOf(environment)).toEqual([]);
});

test("a static token without tables in its JSON may use all tables", () => {
  const { tables: _, ...rest } = token;
  expect(readConfig({ ...database, ...staticTokens(rest) }).auth.staticTokens).toEqual([token]);
});

const issuer = "LAKEHEAD_AUTH_ISSUER";
const tokens = "LAKEHEAD_AUTH_STATIC_TOKENS=(hidden)";

test.each<[what: string, changes: Environment, starts: string, remedy: string]>([
  [
    "no way to authenticate",
    { [issuer]: "", LAKEHEAD_AUTH_AUDIENCE: "" },
    issuer,
    "or LAKEHEAD_AUTH_STATIC_TOKENS must be set",
  ],
  ["a JWKS without an issuer", { [issuer]: "", LAKEHEAD_AUTH_JWKS_URL: jwks }, issuer, "must be set with"],
  ["an issuer without a scheme", { [issuer]: "issuer.example" }, `${issuer}="issuer.example"`, "absolute URL"],
  ["an issuer over http", { [issuer]: "http://issuer.example" }, `${issuer}="http://issuer.example"`, "https"],
  ["a host that starts like a loopback address", { [issuer]: "http://127.0.0.1.evil.example" }, issuer, "https"],
  ["a host that starts like localhost", { [issuer]: "http://localhost.evil.example" }, issuer, "https"],
  ["an issuer with a file URL", { [issuer]: "file:///etc/keys" }, issuer, "https"],
  ["an issuer with a query", { [issuer]: "https://issuer.example?x=1" }, issuer, "remove it"],
  ["an issuer without an audience", { LAKEHEAD_AUTH_AUDIENCE: "" }, "LAKEHEAD_AUTH_AUDIENCE", "aud claim"],
  ["an empty audience", { LAKEHEAD_AUTH_AUDIENCE: "a," }, 'LAKEHEAD_AUTH_AUDIENCE="a,"', "at [1]: must not be empty"],
  ["a JWKS over http", { LAKEHEAD_AUTH_JWKS_URL: "http://keys.example" }, "LAKEHEAD_AUTH_JWKS_URL", "https"],
  [
    "a cluster's issuer without accounts",
    { LAKEHEAD_AUTH_CLUSTER_ISSUER: "https://cluster.example" },
    "LAKEHEAD_AUTH_SERVICE_ACCOUNTS",
    "need each other",
  ],
  [
    "accounts without their issuer",
    { LAKEHEAD_AUTH_SERVICE_ACCOUNTS: '[{"name": "a/b", "scopes": ["read"]}]' },
    "LAKEHEAD_AUTH_CLUSTER_ISSUER",
    "need each other",
  ],
  [
    "the same issuer twice",
    {
      LAKEHEAD_AUTH_CLUSTER_ISSUER: "https://issuer.example",
      LAKEHEAD_AUTH_SERVICE_ACCOUNTS: '[{"name": "a/b", "scopes": ["read"]}]',
    },
    "LAKEHEAD_AUTH_CLUSTER_ISSUER",
    "must differ",
  ],
  [
    "an account without a namespace",
    {
      LAKEHEAD_AUTH_CLUSTER_ISSUER: "https://cluster.example",
      LAKEHEAD_AUTH_SERVICE_ACCOUNTS: '[{"name": "geneva", "scopes": ["read"]}]',
    },
    "LAKEHEAD_AUTH_SERVICE_ACCOUNTS",
    "lancedb/geneva",
  ],
  ["the algorithm none", { LAKEHEAD_AUTH_ALGORITHMS: "none" }, 'LAKEHEAD_AUTH_ALGORITHMS="none"', "RS256"],
  [
    "an HMAC algorithm",
    { LAKEHEAD_AUTH_ALGORITHMS: "ES256,HS256" },
    "LAKEHEAD_AUTH_ALGORITHMS",
    "at [1]: must be one of",
  ],
  [
    "a tolerance above its bound",
    { LAKEHEAD_AUTH_CLOCK_SKEW_SECONDS: "301" },
    "LAKEHEAD_AUTH_CLOCK_SKEW_SECONDS",
    "0 to 300",
  ],
  [
    "an unknown scope in the map",
    { LAKEHEAD_AUTH_SCOPE_MAP: '{"a": ["all"]}' },
    "LAKEHEAD_AUTH_SCOPE_MAP",
    "at a[0]: must be one of plan",
  ],
  [
    "a malformed default pattern",
    { LAKEHEAD_AUTH_DEFAULT_TABLES: "a$$b" },
    "LAKEHEAD_AUTH_DEFAULT_TABLES",
    '"a$$b" has an empty segment',
  ],
  ["a static token with an empty name", staticTokens({ ...token, name: "" }), tokens, "at [0].name: must not be empty"],
  [
    "a static token with an unknown scope",
    staticTokens({ ...token, scopes: ["all"] }),
    tokens,
    "at [0].scopes[0]: must be one of plan",
  ],
  [
    "a static token without scopes",
    staticTokens({ ...token, scopes: [] }),
    tokens,
    "at [0].scopes: must have at least one of",
  ],
  ["a static token with a malformed pattern", staticTokens({ ...token, tables: ["**$a"] }), tokens, "at [0].tables[0]"],
  [
    "two static tokens with the same name",
    staticTokens(token, { ...token, sha256: "0".repeat(64) }),
    tokens,
    "at [1].name: must differ",
  ],
  [
    "the same static token twice",
    staticTokens(token, { ...token, name: "b", sha256: sha256.toUpperCase() }),
    tokens,
    "at [1].sha256: must differ",
  ],
])("%s is one fault with the variable and the remedy", (_, changes, starts, remedy) => {
  const faults = faultsOf({ ...valid, ...changes });
  expect(faults).toEqual([expect.stringContaining(remedy)]);
  expect(faults[0]?.startsWith(starts)).toBe(true);
});

describe("a secret never appears in a fault", () => {
  test.each<[what: string, changes: Environment, remedy: string]>([
    ["a token in the place of its hash", staticTokens({ ...token, sha256: "hunter2-in-plain" }), "sha256sum"],
    ["a token in an unknown field", staticTokens({ token: "hunter2" }), "LAKEHEAD_AUTH_STATIC_TOKENS=(hidden)"],
    ["a token that is not JSON", { LAKEHEAD_AUTH_STATIC_TOKENS: "hunter2" }, "must be JSON"],
    ["a password in an address", { LAKEHEAD_AUTH_ISSUER: "https://user:hunter2@issuer.example" }, "credentials"],
  ])("%s", (_, changes, remedy) => {
    const text = faultsOf({ ...valid, ...changes }).join("\n");
    expect(text).toContain(remedy);
    expect(text).not.toContain("hunter2");
  });
});
