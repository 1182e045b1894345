import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { type JwtTransform, OAuth2Issuer, OAuth2Service } from "oauth2-mock-server";
import { expect } from "vitest";
import { type AuthConfig, type Authenticator, createAuthenticator } from "../../../service/auth/index.ts";
import { readConfig } from "../../../service/config/config.ts";
import { ServiceError } from "../../../service/errors.ts";
import { staticToken } from "../../support/static-token.ts";

export const audience = "lakehead";

/** Part of every token; may appear only as the principal's subject. */
export const canary = "canary-5f1d";

/** A real OAuth 2.0 server on loopback whose keys, network and responses tests can change. */
export interface TestIssuer {
  readonly url: string;
  /** Requested paths, in order, without those of tokens. */
  readonly requests: string[];
  /** Replaces the server's response when it returns true. */
  intercept: ((...exchange: Parameters<RequestListener>) => boolean) | undefined;
  /** An access token from the token endpoint (client credentials grant). */
  token(change?: JwtTransform, scope?: string): Promise<string>;
  /** Replaces all keys by one with a new or the given id. */
  rotate(algorithm?: string, kid?: string): Promise<void>;
  /** Adds a key. */
  addKey(algorithm: string): Promise<void>;
  publicKeys(): readonly object[];
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function startIssuer(): Promise<TestIssuer> {
  let service = new OAuth2Service(new OAuth2Issuer());
  let port = 0;
  let server: Server | undefined;
  const requests: string[] = [];

  const issuer: TestIssuer = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    requests,
    intercept: undefined,
    async token(change, scope = "plan stats") {
      service.once("beforeTokenSigning", ({ header, payload }) => {
        Object.assign(payload, { sub: canary, note: canary });
        change?.(header, payload);
      });
      const form = { grant_type: "client_credentials", scope, aud: audience };
      const response = await fetch(`${issuer.url}/token`, { method: "POST", body: new URLSearchParams(form) });
      const { access_token: token } = (await response.json()) as { access_token: string };
      return token;
    },
    async rotate(algorithm = "ES256", kid) {
      service = new OAuth2Service(new OAuth2Issuer());
      service.issuer.url = issuer.url;
      await service.issuer.keys.generate(algorithm, kid === undefined ? {} : { kid });
    },
    async addKey(algorithm) {
      await service.issuer.keys.generate(algorithm);
    },
    publicKeys: () => service.issuer.keys.toJSON(),
    async stop() {
      const stopping = server;
      server = undefined;
      stopping?.closeAllConnections();
      await new Promise((resolve) => (stopping === undefined ? resolve(undefined) : stopping.close(resolve)));
    },
    async start() {
      const starting = createServer((request, response) => {
        if (request.url !== "/token") {
          requests.push(request.url ?? "");
          if (issuer.intercept?.(request, response)) return;
        }
        service.requestHandler(request, response);
      });
      await new Promise((resolve) => starting.listen(port, "127.0.0.1", () => resolve(undefined)));
      port = (starting.address() as AddressInfo).port;
      server = starting;
    },
  };
  await issuer.start();
  await issuer.rotate();
  return issuer;
}

export const discoveryPath = "/.well-known/openid-configuration";

/** The defaults of every option of authentication, with no way to authenticate. */
export const authDefaults: AuthConfig = {
  ...readConfig({ LAKEHEAD_DATABASE: "/unused", LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([staticToken("x", "x")]) })
    .auth,
  staticTokens: [],
};

export const configFor = (issuer: Pick<TestIssuer, "url">, changes: Partial<AuthConfig> = {}): AuthConfig => ({
  ...authDefaults,
  issuer: issuer.url,
  audience: [audience],
  ...changes,
});

/** An authenticator with a test clock, and its log. */
export interface Bench {
  readonly authenticator: Authenticator;
  readonly logged: { readonly level: string; readonly fields: object; readonly message: string }[];
  readonly advance: (seconds: number) => void;
}

export function bench(config: AuthConfig): Bench {
  let now = Date.now();
  const logged: Bench["logged"] = [];
  const log = (level: string) => (fields: object, message: string) => {
    logged.push({ level, fields, message });
  };
  const authenticator = createAuthenticator(config, { now: () => now, log: { info: log("info"), warn: log("warn") } });
  return {
    authenticator,
    logged,
    advance: (seconds) => {
      now += seconds * 1000;
    },
  };
}

/** The error of a refused action; throws when it succeeds. */
export async function refusal(action: Promise<unknown> | (() => unknown)): Promise<ServiceError> {
  try {
    await (typeof action === "function" ? action() : action);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("the action was not refused");
}

export const challengeOf = (error: ServiceError): string => error.headers["www-authenticate"] ?? "";

/** Expects no part of a credential in errors, their causes and headers, or log lines. */
export function expectNoTrace(token: string, ...shown: unknown[]): void {
  const text = inspect(shown, { depth: 20, showHidden: true, maxStringLength: null });
  for (const part of [token, ...token.split(".")].filter((piece) => piece.length >= 8))
    expect(text).not.toContain(part);
  expect(text).not.toContain(canary);
}
