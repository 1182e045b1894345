import { z } from "zod";
import type { AuthConfig, StaticToken } from "../auth/types.ts";
import { scopes } from "../contract.ts";
import { addressProblem, tablePatternProblem } from "./auth-problems.ts";
import { choice, integer, json, list, name, text, variable } from "./variable.ts";

/** Asymmetric algorithms only: with HMAC, everyone who can verify a token can sign one. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
] as const;

const issuerProblem = (issuer: string): string | undefined =>
  addressProblem(issuer) ??
  (/[?#]/.test(issuer) ? "must not have a query or fragment: remove it from the address" : undefined);

/** Turns a function that finds a problem into a check of a schema. */
const problem =
  (find: (value: string) => string | undefined) =>
  (value: string, context: z.RefinementCtx): void => {
    const message = find(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  };

const tablePattern = z.string().superRefine(problem(tablePatternProblem));

const scope = choice(...scopes);

/** Messages never quote `sha256`: an operator may have written the token itself. */
const staticToken = z.strictObject({
  name,
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, { error: `must be 64 hexadecimal digits: printf %s "$TOKEN" | sha256sum` }),
  scopes: z.array(scope).min(1, { error: `must have at least one of ${scopes.join(", ")}` }),
  tables: z.array(tablePattern).default(["**"]),
});

const staticTokens = z.array(staticToken).superRefine((tokens, context) => {
  for (const [index, token] of tokens.entries()) {
    const earlier = tokens.slice(0, index);
    const repeats = (key: "name" | "sha256", same: (other: StaticToken) => boolean): void => {
      if (earlier.some(same))
        context.addIssue({ code: "custom", path: [index, key], message: "must differ from that of an earlier token" });
    };
    repeats("name", (other) => other.name === token.name);
    repeats("sha256", (other) => other.sha256.toLowerCase() === token.sha256.toLowerCase());
  }
});

const serviceAccount = z.strictObject({
  name: z.string().regex(/^[a-z0-9][-a-z0-9]*\/[a-z0-9][-.a-z0-9]*$/, {
    error: "must be the namespace and the name of a service account, for instance lancedb/geneva",
  }),
  scopes: z.array(scope).min(1, { error: `must have at least one of ${scopes.join(", ")}` }),
  tables: z.array(tablePattern).default(["**"]),
});

const serviceAccounts = z.array(serviceAccount).superRefine((accounts, context) => {
  for (const [index, { name }] of accounts.entries())
    if (accounts.slice(0, index).some((other) => other.name === name))
      context.addIssue({ code: "custom", path: [index, "name"], message: "must differ from that of an earlier one" });
});

const checkIssuer = (config: AuthConfig, context: z.RefinementCtx): void => {
  const { issuer, jwksUrl, audience, staticTokens, clusterIssuer, clusterJwksUrl, serviceAccounts } = config;
  const fault = (key: keyof AuthConfig, message: string | undefined): void => {
    if (message !== undefined) context.addIssue({ code: "custom", path: [key], message });
  };
  if (issuer === undefined && jwksUrl !== undefined)
    fault("issuer", "must be set with LAKEHEAD_AUTH_JWKS_URL: the iss claim of the tokens");
  else if (issuer === undefined && staticTokens.length === 0 && clusterIssuer === undefined)
    fault("issuer", "or LAKEHEAD_AUTH_STATIC_TOKENS must be set, so that requests can be authenticated");
  if (issuer !== undefined && jwksUrl === undefined) fault("issuer", issuerProblem(issuer));
  if (issuer !== undefined && audience.length === 0)
    fault("audience", "must be set with LAKEHEAD_AUTH_ISSUER: the aud claim of tokens for this service");
  else if (clusterIssuer !== undefined && audience.length === 0)
    fault("audience", "must be set with LAKEHEAD_AUTH_CLUSTER_ISSUER: the audience of the projected tokens");
  if (clusterIssuer !== undefined && clusterJwksUrl === undefined) fault("clusterIssuer", issuerProblem(clusterIssuer));
  if (clusterIssuer !== undefined && clusterIssuer === issuer)
    fault("clusterIssuer", "must differ from LAKEHEAD_AUTH_ISSUER: only one of them can say what a token may do");
  if (clusterIssuer === undefined && clusterJwksUrl !== undefined)
    fault("clusterIssuer", "must be set with LAKEHEAD_AUTH_CLUSTER_JWKS_URL: the iss claim of the tokens");
  if ((clusterIssuer === undefined) !== (serviceAccounts.length === 0))
    fault(
      clusterIssuer === undefined ? "clusterIssuer" : "serviceAccounts",
      "must be set: LAKEHEAD_AUTH_CLUSTER_ISSUER and LAKEHEAD_AUTH_SERVICE_ACCOUNTS need each other",
    );
};

export const auth = z
  .object({
    issuer: variable(
      "LAKEHEAD_AUTH_ISSUER",
      "Issuer of the accepted JWTs (claim iss); its keys are found by OpenID discovery",
      text.exactOptional(),
    ),
    jwksUrl: variable(
      "LAKEHEAD_AUTH_JWKS_URL",
      "Address of the issuer's JWKS, for an issuer without discovery",
      text.superRefine(problem(addressProblem)).exactOptional(),
    ),
    audience: variable(
      "LAKEHEAD_AUTH_AUDIENCE",
      "Audiences (claim aud), comma-separated; a JWT must have one of them",
      list(name).default([]),
    ),
    algorithms: variable(
      "LAKEHEAD_AUTH_ALGORITHMS",
      "Accepted signature algorithms, comma-separated",
      list(choice(...algorithms)).default(["RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"]),
    ),
    clockToleranceSeconds: variable(
      "LAKEHEAD_AUTH_CLOCK_SKEW_SECONDS",
      "Clock tolerance for exp and nbf, in seconds",
      integer(0, 300).default(30),
    ),
    scopeClaim: variable(
      "LAKEHEAD_AUTH_SCOPE_CLAIM",
      "Claim with the scopes; dots separate the names of nested claims",
      text.default("scope"),
    ),
    scopePrefix: variable(
      "LAKEHEAD_AUTH_SCOPE_PREFIX",
      "Prefix of this service's values in the scope claim, removed from them",
      text.exactOptional(),
    ),
    scopeMap: variable(
      "LAKEHEAD_AUTH_SCOPE_MAP",
      "Scopes for other values of the scope claim, as JSON",
      json(z.record(z.string(), z.array(scope)), '{"lake-admin": ["plan", "tags:write"]}').exactOptional(),
    ),
    tablesClaim: variable("LAKEHEAD_AUTH_TABLES_CLAIM", "Claim with table patterns", text.exactOptional()),
    defaultTables: variable(
      "LAKEHEAD_AUTH_DEFAULT_TABLES",
      "Table patterns of a JWT without that claim, comma-separated",
      list(tablePattern).default(["**"]),
    ),
    keyCacheSeconds: variable(
      "LAKEHEAD_AUTH_KEY_CACHE_SECONDS",
      "Time that the issuer's keys are cached, in seconds",
      integer(1, 86_400).default(600),
    ),
    staleKeySeconds: variable(
      "LAKEHEAD_AUTH_STALE_KEY_SECONDS",
      "Further time that cached keys are used while the issuer's JWKS is unavailable, in seconds; then 503",
      integer(0, 604_800).default(3600),
    ),
    cooldownSeconds: variable(
      "LAKEHEAD_AUTH_COOLDOWN_SECONDS",
      "Minimum time between two fetches of the keys that tokens with unknown keys cause, in seconds",
      integer(1, 3600).default(30),
    ),
    allowApiKeyHeader: variable(
      "LAKEHEAD_AUTH_API_KEY",
      "Whether x-api-key is accepted like a bearer token (LanceDB's own client sends it)",
      choice("true", "false")
        .transform((value) => value === "true")
        .default(false),
    ),
    staticTokens: variable(
      "LAKEHEAD_AUTH_STATIC_TOKENS",
      "Static tokens by their SHA-256 hash, as JSON",
      json(staticTokens, '[{"name": "ci", "sha256": "…", "scopes": ["stats"], "tables": ["**"]}]').default([]),
      { secret: true, defaultText: "[]" },
    ),
    clusterIssuer: variable(
      "LAKEHEAD_AUTH_CLUSTER_ISSUER",
      "Issuer of a Kubernetes cluster, whose service accounts call with projected tokens; its keys are found by OpenID discovery",
      text.exactOptional(),
    ),
    clusterJwksUrl: variable(
      "LAKEHEAD_AUTH_CLUSTER_JWKS_URL",
      "Address of the cluster's JWKS, for an issuer without discovery",
      text.superRefine(problem(addressProblem)).exactOptional(),
    ),
    serviceAccounts: variable(
      "LAKEHEAD_AUTH_SERVICE_ACCOUNTS",
      "Service accounts whose tokens are accepted, with what they may do, as JSON",
      json(
        serviceAccounts,
        '[{"name": "lancedb/geneva", "scopes": ["credentials", "read"], "tables": ["**"]}]',
      ).default([]),
      { defaultText: "[]" },
    ),
  })
  .superRefine(checkIssuer);
