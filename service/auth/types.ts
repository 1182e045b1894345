import { scopes } from "../contract.ts";
import type { TablePatterns } from "./tables.ts";

export { scopes };
export type Scope = (typeof scopes)[number];

export const isScope = (text: string): text is Scope => (scopes as readonly string[]).includes(text);

/** Who sends the request, and what they may reach. Holds nothing of the credential itself: safe to log by `subject` and `method`. */
export interface Principal {
  /** `sub` of the JWT, or the name of the static token. */
  readonly subject: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly tables: TablePatterns;
  readonly method: "jwt" | "static-token";
}

/** What a request's headers present. Never filled from a body: an identity in the body alone authenticates nobody. */
export interface Credentials {
  /** The token of `Authorization: Bearer <token>`. Wins over `apiKey`. */
  readonly bearer?: string;
  /** The value of `x-api-key`; looked at only when {@link AuthConfig.allowApiKeyHeader} is true. */
  readonly apiKey?: string;
}

export interface Authenticator {
  /**
   * @throws ServiceError code 16 (401, with `WWW-Authenticate`) when the credentials are absent or not valid;
   * code 17 (503, with `Retry-After`) when they cannot be judged because the issuer's keys cannot be had.
   */
  authenticate(credentials: Credentials): Promise<Principal>;
  /**
   * True once the issuer's keys have been loaded (always, when only static tokens are configured); until then each call
   * sees to it that a load is under way. Stays true when the issuer goes away later: those requests get their own 503.
   */
  ready(): boolean;
  /** Ends a fetch that is under way. */
  close(): void;
}

/** A token that is known by its hash alone. */
export interface StaticToken {
  /** Shown as the principal's subject; unique. */
  readonly name: string;
  /** SHA-256 of the token, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  /** Table patterns; see {@link TablePatterns}. */
  readonly tables: readonly string[];
}

export interface AuthConfig {
  /** Must equal `iss` of every JWT, letter by letter. Its discovery document gives the keys unless `jwksUrl` does. Absent: no JWT is accepted. */
  readonly issuer?: string;
  /** Address of the JSON Web Key Set; then no discovery takes place. */
  readonly jwksUrl?: string;
  /** One of them must be in `aud` of every JWT. */
  readonly audience: readonly string[];
  /** Signature algorithms; asymmetric ones only. */
  readonly algorithms: readonly string[];
  /** Seconds by which `exp` and `nbf` may be off, 0 to 300. */
  readonly clockToleranceSeconds: number;
  /** Claim that holds the scopes: its name, or a path with dots (`realm_access.roles`). A name with dots that exists as it stands is taken as it stands. */
  readonly scopeClaim: string;
  /** Taken off the front of each value of the scope claim; values without it are not ours. */
  readonly scopePrefix?: string;
  /** Foreign value -> our scopes, for issuers whose names cannot be chosen (`{"lake-admin": ["plan", "tags:write"]}`). Looked at before `scopePrefix`. */
  readonly scopeMap?: Readonly<Record<string, readonly Scope[]>>;
  /** Claim (name or path) that holds table patterns. Absent here: every JWT has `defaultTables`. */
  readonly tablesClaim?: string;
  /** Table patterns of a JWT without that claim. */
  readonly defaultTables: readonly string[];
  /** Seconds for which fetched keys are used without asking again. */
  readonly keyCacheSeconds: number;
  /** Seconds after `keyCacheSeconds` for which the last good keys go on serving while the issuer is away. */
  readonly staleKeySeconds: number;
  /** Shortest time between two fetches that tokens which do not verify can cause, and longest wait between two tries while the issuer is away. */
  readonly cooldownSeconds: number;
  readonly allowApiKeyHeader: boolean;
  readonly staticTokens: readonly StaticToken[];
}

/** The part of pino that is used here. No field ever holds a token, a claim other than `sub`, or a response body. */
export interface AuthLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface AuthOptions {
  /** For tests; the default is the platform's. */
  readonly fetch?: typeof fetch;
  /** Milliseconds since the epoch; for tests. */
  readonly now?: () => number;
  readonly log?: AuthLog;
}
