import { scopes } from "../contract.ts";
import type { TablePatterns } from "./tables.ts";

export { scopes };
export type Scope = (typeof scopes)[number];

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text);

/** The caller and its permissions. Without any part of the credentials: `subject` and `method` may be logged. */
export interface Principal {
  /** `sub` of the JWT, the name of the static token, or `namespace/name` of the service account. */
  readonly subject: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly tables: TablePatterns;
  readonly method: "jwt" | "static-token" | "service-account";
}

/** Headers by name in lower case: `Headers`, or a map. */
export interface HeaderSource extends Iterable<[name: string, value: string]> {
  get(name: string): string | null | undefined;
}

/** The credentials of a request's headers. An identity in the body never authenticates. */
export interface Credentials {
  /** The token of `Authorization: Bearer <token>`. It has precedence over `apiKey`. */
  readonly bearer?: string;
  /** The value of `x-api-key`; used only when {@link AuthConfig.allowApiKeyHeader} is true. */
  readonly apiKey?: string;
}

export interface Authenticator {
  /**
   * @throws ServiceError code 16 (401, with `WWW-Authenticate`) when the credentials are absent or not valid; code 17 (503,
   * with `Retry-After`) when the issuer's JWKS is unavailable.
   */
  authenticate(credentials: Credentials): Promise<Principal>;
  /**
   * True once the keys of each issuer have been loaded, and without an issuer; until then each call starts a load unless one
   * is running. Stays true if an issuer becomes unavailable: requests then get their own 503.
   */
  ready(): boolean;
  /** Cancels a running fetch. */
  close(): void;
}

/** A token of the configuration, by its hash. */
export interface StaticToken {
  /** The principal's subject; unique. */
  readonly name: string;
  /** SHA-256 of the token, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  /** Table patterns; see {@link TablePatterns}. */
  readonly tables: readonly string[];
}

/** A service account of a Kubernetes cluster whose projected tokens are accepted. */
export interface ServiceAccount {
  /** `namespace/name`; unique. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Table patterns; see {@link TablePatterns}. */
  readonly tables: readonly string[];
}

export interface AuthConfig {
  /** Must equal `iss` of every JWT. Its discovery document has the address of the keys, unless `jwksUrl` is set. Absent: no JWT is accepted. */
  readonly issuer?: string;
  /** Address of the JWKS, without discovery. */
  readonly jwksUrl?: string;
  /** `aud` of every JWT must have one of them. */
  readonly audience: readonly string[];
  /** Signature algorithms; asymmetric ones only. */
  readonly algorithms: readonly string[];
  /** Clock tolerance for `exp` and `nbf`. */
  readonly clockToleranceSeconds: number;
  /** Claim with the scopes: its exact name, else a dotted path (`realm_access.roles`). */
  readonly scopeClaim: string;
  /** Removed from each value of the scope claim; values without it are ignored. */
  readonly scopePrefix?: string;
  /** Scopes for other values of the scope claim (`{"lake-admin": ["plan", "tags:write"]}`). Has precedence over `scopePrefix`. */
  readonly scopeMap?: Readonly<Record<string, readonly Scope[]>>;
  /** Claim (name or path) with table patterns. Absent: every JWT has `defaultTables`. */
  readonly tablesClaim?: string;
  /** Table patterns of a JWT without that claim. */
  readonly defaultTables: readonly string[];
  /** Cache time of the keys. */
  readonly keyCacheSeconds: number;
  /** Further time that cached keys are used while the issuer is unavailable. */
  readonly staleKeySeconds: number;
  /** Minimum time between two fetches that tokens with unknown keys cause, and maximum wait between two attempts while the issuer is unavailable. */
  readonly cooldownSeconds: number;
  readonly allowApiKeyHeader: boolean;
  readonly staticTokens: readonly StaticToken[];
  /** Issuer of the tokens of a cluster's service accounts, which have neither scopes nor tables of their own. */
  readonly clusterIssuer?: string;
  /** Address of its JWKS, without discovery. */
  readonly clusterJwksUrl?: string;
  /** Those whose tokens are accepted; no other is. */
  readonly serviceAccounts: readonly ServiceAccount[];
}

/** A log. Fields never have a token, a claim other than `sub`, or a response body. */
export interface AuthLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface AuthOptions {
  /** For tests; default: the platform's. */
  readonly fetch?: typeof fetch;
  /** Milliseconds since the epoch; for tests. */
  readonly now?: () => number;
  readonly log?: AuthLog;
}
