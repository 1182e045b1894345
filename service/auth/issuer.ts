import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type LocalJWKSet } from "jose";
import * as oauth from "oauth4webapi";
import { addressProblem } from "../config/auth-problems.ts";

const maxKeys = 100;
const maxResponseBytes = 256 * 1024;

/** A failed request to the issuer. The message has the address and nothing of the response. */
export class IssuerError extends Error {
  override readonly name = "IssuerError";
}

interface KeySourceOptions {
  readonly issuer: string;
  readonly jwksUrl?: string | undefined;
  readonly fetch: typeof fetch;
  /** Timeout of a response, headers and body together. */
  readonly timeoutMilliseconds?: number;
}

/** `fetch` for the libraries, which bound the time of a response but not its size. */
const boundedFetch =
  (fetch: typeof globalThis.fetch, closing: AbortSignal) =>
  async (address: string, init: object & { signal?: AbortSignal | undefined }): Promise<Response> => {
    const signal = init.signal ? AbortSignal.any([closing, init.signal]) : closing;
    const response = await fetch(address, { ...(init as RequestInit), signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new IssuerError(`answered ${response.status} instead of 200; redirects are not followed`);
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > maxResponseBytes) throw new IssuerError(`answered with more than ${maxResponseBytes} bytes`);
      chunks.push(chunk);
    }
    return new Response(Buffer.concat(chunks), { headers: { "content-type": "application/json" } });
  };

const foreign = "belongs to another issuer; both must be identical, including a trailing slash";

/** Messages of the libraries have nothing of the response; those of JSON parsers and of `fetch` may. */
function reason(error: unknown): string {
  if (error instanceof IssuerError) return error.message;
  const { name = "", cause } = error instanceof Error ? error : {};
  if (name === "TimeoutError" || error instanceof errors.JWKSTimeout) return "did not answer in time";
  if (name === "AbortError") return "was cancelled";
  if (error instanceof oauth.OperationProcessingError && error.code === oauth.JSON_ATTRIBUTE_COMPARISON) return foreign;
  if (error instanceof errors.JOSEError || error instanceof oauth.OperationProcessingError)
    return `answered with something else than expected: ${error.message}`;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return `cannot be reached (${typeof code === "string" ? code : "the connection failed"})`;
}

async function named<T>(address: string, request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw new IssuerError(`${address} ${reason(error)}`);
  }
}

/** @returns a function that fetches the issuer's keys; it throws only {@link IssuerError}. */
export function createKeySource(options: KeySourceOptions): (closing: AbortSignal) => Promise<LocalJWKSet> {
  const { issuer, fetch, timeoutMilliseconds = 5_000 } = options;

  async function discover(closing: AbortSignal): Promise<string> {
    const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const url = new URL(issuer);
    const response = oauth.discoveryRequest(url, {
      [oauth.customFetch]: boundedFetch(fetch, closing),
      // The configuration permits plain http for a loopback issuer only.
      [oauth.allowInsecureRequests]: true,
      signal: () => AbortSignal.timeout(timeoutMilliseconds),
    });
    const found = await named(
      address,
      response.then((document) => oauth.processDiscoveryResponse(url, document)),
    );
    // The library compares normalized addresses; tokens are compared with the issuer as it is written.
    if (found.issuer !== issuer) throw new IssuerError(`${address} ${foreign}`);
    if (typeof found.jwks_uri !== "string" || addressProblem(found.jwks_uri) !== undefined)
      throw new IssuerError(
        `${address} has no https jwks_uri; set LAKEHEAD_AUTH_JWKS_URL, or LAKEHEAD_AUTH_CLUSTER_JWKS_URL of a cluster`,
      );
    return found.jwks_uri;
  }

  let discovered: string | undefined;
  return async (closing) => {
    const address = options.jwksUrl ?? discovered ?? (await discover(closing));
    // Cleared on failure, so that a moved JWKS is discovered again.
    discovered = undefined;
    const remote = createRemoteJWKSet(new URL(address), {
      [customFetch]: boundedFetch(fetch, closing),
      timeoutDuration: timeoutMilliseconds,
    });
    await named(address, remote.reload());
    const keys = remote.jwks();
    if (keys === undefined || keys.keys.length > maxKeys)
      throw new IssuerError(`${address} answered with more than ${maxKeys} keys`);
    discovered = address;
    return createLocalJWKSet(keys);
  };
}
