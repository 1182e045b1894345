import type { JSONWebKeySet } from "jose";
import { addressProblem } from "../config/auth-problems.ts";
import { createGetJson, type GetJson, IssuerError } from "./get-json.ts";

const mostKeys = 100;

interface KeySourceOptions {
  readonly issuer: string;
  readonly jwksUrl?: string | undefined;
  readonly fetch: typeof fetch;
  readonly timeoutMilliseconds?: number;
}

/** @returns A function that gets the issuer's current key set; it fails with an {@link IssuerError} only. */
export function createKeySource(options: KeySourceOptions): (signal: AbortSignal) => Promise<JSONWebKeySet> {
  const get = createGetJson(options);
  let discovered: string | undefined;
  return async (signal) => {
    const address = options.jwksUrl ?? discovered ?? (await discover(options.issuer, get, signal));
    // Kept only while it works, so that an issuer that moves its keys is found again.
    discovered = undefined;
    const { keys } = await get(address, signal);
    if (!Array.isArray(keys)) throw new IssuerError(`${address} answered with no JSON Web Key Set`);
    if (keys.length > mostKeys) throw new IssuerError(`${address} answered with more than ${mostKeys} keys`);
    discovered = address;
    return { keys };
  };
}

async function discover(issuer: string, get: GetJson, signal: AbortSignal): Promise<string> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const document = await get(address, signal);
  if (document.issuer !== issuer)
    throw new IssuerError(
      `${address} is the document of another issuer than ${issuer}; the two must be equal letter by letter, a final slash included`,
    );
  const { jwks_uri: keysAt } = document;
  if (typeof keysAt !== "string" || addressProblem(keysAt) !== undefined)
    throw new IssuerError(`${address} names no jwks_uri that is https; set the address of the key set`);
  return keysAt;
}
