import { invalidToken, noCredentials } from "./challenge.ts";
import type { Credentials, HeaderSource } from "./types.ts";

/** `b64token` of RFC 6750. It refuses several Authorization headers, which arrive joined by ", ". */
const b64token = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * Reads the credentials from a request's headers. `Authorization` has precedence over `x-api-key`.
 *
 * @throws ServiceError code 16 when `Authorization` has another scheme or no token.
 */
export function readCredentials(headers: Pick<HeaderSource, "get">): Credentials {
  const authorization = headers.get("authorization") ?? undefined;
  if (authorization !== undefined) return { bearer: bearerOf(authorization) };
  const apiKey = headers.get("x-api-key");
  return apiKey ? { apiKey } : {};
}

function bearerOf(authorization: string): string {
  const [, scheme = "", token = ""] = /^(\S*) *(.*)$/s.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== "bearer")
    throw noCredentials("the Authorization header does not use the Bearer scheme; send Authorization: Bearer <token>");
  if (!b64token.test(token))
    throw invalidToken("the Authorization header does not have exactly one well-formed bearer token");
  return token;
}
