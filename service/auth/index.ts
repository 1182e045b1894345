/** Authentication and authorization. The only state is the issuer's public keys and the tokens verified with them. */

import { hash, timingSafeEqual } from "node:crypto";
import type { LocalJWKSet } from "jose";
import { LRUCache } from "lru-cache";
import { invalidToken, noCredentials } from "./challenge.ts";
import { scopesOf, tablesOf } from "./claims.ts";
import { createKeySource } from "./issuer.ts";
import { createJwtVerifier, issuerOf, looksLikeJwt, type VerifiedJwt } from "./jwt.ts";
import { createKeyKeeper, type KeyKeeper } from "./keys.ts";
import { compileTablePatterns } from "./tables.ts";
import type {
  AuthConfig,
  Authenticator,
  AuthLog,
  AuthOptions,
  Principal,
  ServiceAccount,
  StaticToken,
} from "./types.ts";

/**
 * Finds a token by its hash. All entries are compared in constant time, so that the time reveals neither digits of a hash
 * nor the position of an entry.
 */
function createStaticTokens(tokens: readonly StaticToken[]): (token: string) => Principal | undefined {
  const entries = tokens.map(({ name, sha256, scopes, tables }) => ({
    digest: Buffer.from(sha256, "hex"),
    principal: {
      subject: name,
      scopes: new Set(scopes),
      tables: compileTablePatterns(tables),
      method: "static-token",
    } satisfies Principal,
  }));
  return (token) => {
    const digest = hash("sha256", token, "buffer");
    let found: Principal | undefined;
    for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) found = entry.principal;
    return found;
  };
}

export { authorize, authorizeNamespace, seesNamespace } from "./authorize.ts";
export { readCredentials } from "./credentials.ts";
export { compileTablePatterns } from "./tables.ts";
export {
  type AuthConfig,
  type Authenticator,
  type HeaderSource,
  type Principal,
  type Scope,
  type ServiceAccount,
  type StaticToken,
  scopes,
} from "./types.ts";

const silent: AuthLog = { info() {}, warn() {} };

/** Verified tokens that are remembered. */
const maxVerified = 1_000;

interface Verified {
  readonly keys: LocalJWKSet;
  readonly principal: Principal;
  /** Milliseconds since the epoch, including the clock tolerance. */
  readonly expiresAt: number;
}

interface Verifier {
  readonly keys: KeyKeeper;
  readonly principal: (token: string) => Promise<Principal>;
}

/** @param config As `config/` validated it. Keys are fetched when first needed. */
export function createAuthenticator(config: AuthConfig, options: AuthOptions = {}): Authenticator {
  const staticPrincipal = createStaticTokens(config.staticTokens);
  const verifiers = new Map<string, Verifier>();
  const { issuer, jwksUrl, clusterIssuer, clusterJwksUrl } = config;
  if (issuer !== undefined)
    verifiers.set(issuer, createVerifier({ issuer, jwksUrl }, config, callersOf(config, options), options));
  if (clusterIssuer !== undefined) {
    const source = { issuer: clusterIssuer, jwksUrl: clusterJwksUrl };
    verifiers.set(clusterIssuer, createVerifier(source, config, accountsOf(config.serviceAccounts), options));
  }
  const [first] = verifiers.values();
  return {
    async authenticate({ bearer, apiKey }) {
      const token = bearer ?? (config.allowApiKeyHeader ? apiKey : undefined);
      if (token === undefined) throw noCredentials(absence(config, apiKey));
      const known = staticPrincipal(token);
      if (known) return known;
      const verifier = first && looksLikeJwt(token) ? (verifiers.get(issuerOf(token) ?? "") ?? first) : undefined;
      if (verifier) return verifier.principal(token);
      throw invalidToken("unknown token");
    },
    // Each call starts the loads of all of them.
    ready: () => [...verifiers.values()].map(({ keys }) => keys.loaded()).every(Boolean),
    close: () => {
      for (const { keys } of verifiers.values()) keys.close();
    },
  };
}

function absence({ allowApiKeyHeader }: AuthConfig, apiKey: string | undefined): string {
  if (apiKey !== undefined) return "x-api-key is not accepted; send Authorization: Bearer <token>";
  return `the request has no credentials; send Authorization: Bearer <token>${allowApiKeyHeader ? " or x-api-key" : ""}`;
}

type Claims = VerifiedJwt["claims"];
type PrincipalOf = (claims: Claims) => Principal;

/** Callers whose scopes and tables the issuer grants. */
function callersOf(config: AuthConfig, { log = silent }: AuthOptions): PrincipalOf {
  const defaults = compileTablePatterns(config.defaultTables);
  return (claims) => {
    const { tables, problem } = tablesOf(claims, config.tablesClaim, defaults);
    if (problem)
      log.warn({ subject: claims.sub, claim: config.tablesClaim, problem }, "token without permitted tables");
    return { subject: claims.sub, scopes: scopesOf(claims, config), tables, method: "jwt" };
  };
}

/** Service accounts, whose scopes and tables the configuration grants: a cluster signs tokens for every pod. */
function accountsOf(accounts: readonly ServiceAccount[]): PrincipalOf {
  const principals = new Map(
    accounts.map(({ name, scopes, tables }) => [
      `system:serviceaccount:${name.replace("/", ":")}`,
      {
        subject: name,
        scopes: new Set(scopes),
        tables: compileTablePatterns(tables),
        method: "service-account",
      } satisfies Principal,
    ]),
  );
  return ({ sub }) => {
    const found = principals.get(sub);
    if (found === undefined) throw invalidToken("the service account of the token is not in the configuration");
    return found;
  };
}

function createVerifier(
  source: { readonly issuer: string; readonly jwksUrl: string | undefined },
  config: AuthConfig,
  principalOf: PrincipalOf,
  options: AuthOptions,
): Verifier {
  const { issuer } = source;
  const { now = Date.now, log = silent } = options;
  const load = createKeySource({ ...source, fetch: options.fetch ?? fetch });
  const keys = createKeyKeeper({ ...config, load, now, log });
  const verify = createJwtVerifier({ ...config, issuer, keys, now });
  /** By the token's hash, so that a signature is verified once for each key set. Invalid tokens cannot evict valid ones. */
  const verified = new LRUCache<string, Verified>({ max: maxVerified });

  /** A cached verification is valid only while the keys that verified the token are the current ones. */
  async function remembered(digest: string): Promise<Principal | undefined> {
    const found = verified.get(digest);
    if (found === undefined || now() >= found.expiresAt) return undefined;
    return (await keys.current()) === found.keys ? found.principal : undefined;
  }

  return {
    keys,
    async principal(token) {
      const digest = hash("sha256", token, "base64");
      const known = await remembered(digest);
      if (known) return known;
      const { claims, keys: by } = await verify(token);
      const principal = principalOf(claims);
      verified.set(digest, { keys: by, principal, expiresAt: (claims.exp + config.clockToleranceSeconds) * 1000 });
      return principal;
    },
  };
}
