/** Authentication and authorization. The only state is the issuer's public keys and the tokens verified with them. */

import { hash, timingSafeEqual } from "node:crypto";
import { invalidToken, noCredentials } from "./challenge.ts";
import { scopesOf, tablesOf } from "./claims.ts";
import { createKeySource } from "./issuer.ts";
import { createJwtVerifier, looksLikeJwt } from "./jwt.ts";
import { createKeyKeeper, type KeyKeeper } from "./keys.ts";
import { compileTablePatterns } from "./tables.ts";
import type { AuthConfig, Authenticator, AuthLog, AuthOptions, Principal, StaticToken } from "./types.ts";
import { createVerifiedTokens } from "./verified.ts";

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
  type StaticToken,
  scopes,
} from "./types.ts";

const silent: AuthLog = { info() {}, warn() {} };

interface Verifier {
  readonly keys: KeyKeeper;
  readonly principal: (token: string) => Promise<Principal>;
}

/** @param config As `config/` validated it. Keys are fetched when first needed. */
export function createAuthenticator(config: AuthConfig, options: AuthOptions = {}): Authenticator {
  const staticPrincipal = createStaticTokens(config.staticTokens);
  const verifier = config.issuer === undefined ? undefined : createVerifier(config.issuer, config, options);
  return {
    async authenticate({ bearer, apiKey }) {
      const token = bearer ?? (config.allowApiKeyHeader ? apiKey : undefined);
      if (token === undefined) throw noCredentials(absence(config, apiKey));
      const known = staticPrincipal(token);
      if (known) return known;
      if (verifier && looksLikeJwt(token)) return verifier.principal(token);
      throw invalidToken("unknown token");
    },
    ready: () => verifier?.keys.loaded() ?? true,
    close: () => verifier?.keys.close(),
  };
}

function absence({ allowApiKeyHeader }: AuthConfig, apiKey: string | undefined): string {
  if (apiKey !== undefined) return "x-api-key is not accepted; send Authorization: Bearer <token>";
  return `the request has no credentials; send Authorization: Bearer <token>${allowApiKeyHeader ? " or x-api-key" : ""}`;
}

function createVerifier(issuer: string, config: AuthConfig, options: AuthOptions): Verifier {
  const { now = Date.now, log = silent } = options;
  const load = createKeySource({ issuer, jwksUrl: config.jwksUrl, fetch: options.fetch ?? fetch });
  const keys = createKeyKeeper({ ...config, load, now, log });
  const verify = createJwtVerifier({ ...config, issuer, keys, now });
  const verified = createVerifiedTokens();
  const defaults = compileTablePatterns(config.defaultTables);

  /** A cached verification is valid only while the keys that verified the token are the current ones. */
  async function remembered(token: string): Promise<Principal | undefined> {
    const found = verified.find(token);
    if (found === undefined || now() >= found.expiresAt) return undefined;
    return (await keys.current()) === found.keys ? found.principal : undefined;
  }

  return {
    keys,
    async principal(token) {
      const known = await remembered(token);
      if (known) return known;
      const { claims, keys: by } = await verify(token);
      const { tables, problem } = tablesOf(claims, config.tablesClaim, defaults);
      if (problem)
        log.warn({ subject: claims.sub, claim: config.tablesClaim, problem }, "token without permitted tables");
      const principal: Principal = { subject: claims.sub, scopes: scopesOf(claims, config), tables, method: "jwt" };
      verified.keep(token, { keys: by, principal, expiresAt: (claims.exp + config.clockToleranceSeconds) * 1000 });
      return principal;
    },
  };
}
