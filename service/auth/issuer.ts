import type { JSONWebKeySet } from "jose";
import { addressProblem } from "../config/auth-problems.ts";
import { createGetJson, type GetJson, IssuerError } from "./get-json.ts";

const maxKeys = 100;

interface KeySourceOptions {
  readonly issuer: string;
  readonly jwksUrl?: string | undefined;
  readonly fetch: typeof fetch;
  readonly timeoutMilliseconds?: number;
}

/** @returns a function that fetches the issuer's JWKS; it throws only {@link IssuerError}. */
export function createKeySource(options: KeySourceOptions): (signal: AbortSignal) => Promise<JSONWebKeySet> {
  const get = createGetJson(options);
  let discovered: string | undefined;
  return async (signal) => {
    const address = options.jwksUrl ?? discovered ?? (await discover(options.issuer, get, signal));
    // Cleared on failure, so that a moved JWKS is discovered again.
    discovered = undefined;
    const { keys } = await get(address, signal);
    if (!Array.isArray(keys)) throw new IssuerError(`${address} answered with something other than a JWKS`);
    if (keys.length > maxKeys) throw new IssuerError(`${address} answered with more than ${maxKeys} keys`);
    discovered = address;
    return { keys };
  };
}

async function discover(issuer: string, get: GetJson, signal: AbortSignal): Promise<string> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const document = await get(address, signal);
  if (document.issuer !== issuer)
    throw new IssuerError(
      `${address} belongs to another issuer than ${issuer}; both must be identical, including a trailing slash`,
    );
  const { jwks_uri: keysAt } = document;
  if (typeof keysAt !== "string" || addressProblem(keysAt) !== undefined)
    throw new IssuerError(`${address} has no https jwks_uri; set LAKEHEAD_AUTH_JWKS_URL`);
  return keysAt;
}
