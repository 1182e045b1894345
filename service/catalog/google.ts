import { randomUUID } from "node:crypto";
import { z } from "zod";
import { accessBoundary } from "./access-boundary.ts";
import type { Place } from "./place.ts";
import type { Right } from "./rights.ts";
import { type Issue, unavailable } from "./vending.ts";

export interface GoogleConfig {
  /** Address of the token exchange. */
  readonly stsUrl: string;
  /** Address of the metadata server, which gives the pod's own token. */
  readonly metadataUrl: string;
  /** Address of the store's JSON interface, for the proof that a boundary holds. */
  readonly storageUrl: string;
}

const accessToken = "urn:ietf:params:oauth:token-type:access_token";
const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange";
const timeoutMs = 5000;

const token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive().optional() });

/** @throws ServiceError code 17, with nothing of the request or the response in its cause. */
const ask = async (what: string, address: string, init: RequestInit): Promise<z.output<typeof token>> => {
  try {
    const response = await fetch(address, { ...init, redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return token.parse(await response.json());
  } catch (error) {
    const reason = error instanceof z.ZodError ? "no token in the answer" : String(error);
    throw unavailable(new Error(`${what}: ${reason}`));
  }
};

/** Tokens of the service's own account, with a boundary for one table, by Google's token exchange. */
const exchangeOf = ({ stsUrl, metadataUrl }: GoogleConfig) => {
  const own = () =>
    ask("the metadata server", `${metadataUrl}/computeMetadata/v1/instance/service-accounts/default/token`, {
      headers: { "metadata-flavor": "Google" },
    });
  const bounded = async (place: Place, right: Right) => {
    const boundary = accessBoundary(place, right);
    const before = Date.now();
    const source = await own();
    const form = new URLSearchParams({
      grant_type: tokenExchange,
      requested_token_type: accessToken,
      subject_token_type: accessToken,
      subject_token: source.access_token,
      options: boundary,
    });
    const answer = await ask("the token exchange", stsUrl, { method: "POST", body: form });
    // It ends with its source, whether or not the answer says when.
    const seconds = Math.min(...[source.expires_in, answer.expires_in].filter((life) => life !== undefined));
    if (!Number.isFinite(seconds)) throw unavailable(new Error("no end of the token in the answer"));
    return { token: answer.access_token, expiresAt: before + Math.floor(seconds) * 1000 };
  };
  return { own, bounded };
};

/**
 * Proves that tokens are bounded: Google ignores what it does not understand, and a token without its boundary reaches
 * everything. A bounded token must list what it is for, and must not list the database, which the service's own can.
 * @throws Error unless all of it is so.
 */
export const proveBoundary = async (
  config: GoogleConfig,
  { bucket, path }: { readonly bucket: string; readonly path: string },
): Promise<void> => {
  const { own, bounded } = exchangeOf(config);
  const probe = `${path}lakehead-probe-${randomUUID()}/`;
  const list = async (bearer: string, prefix: string): Promise<number> => {
    const query = new URLSearchParams({ prefix, maxResults: "1" });
    const response = await fetch(`${config.storageUrl}/storage/v1/b/${bucket}/o?${query}`, {
      headers: { authorization: `Bearer ${bearer}` },
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return response.status;
  };
  const source = (await own()).access_token;
  const { token: narrow } = await bounded({ bucket, prefix: probe }, "read");
  const [all, within, beyond] = await Promise.all([list(source, path), list(narrow, probe), list(narrow, path)]);
  if (beyond !== 403)
    throw new Error(`a token for one prefix listed another (status ${beyond}): the access boundary is not enforced`);
  if (all !== 200 || within !== 200)
    throw new Error(`no list of the bucket (status ${all}), or of the prefix that a token is for (status ${within})`);
};

/** @param shared options of the store that a client needs besides its token. */
export const createGoogleIssuer = (config: GoogleConfig, shared: Readonly<Record<string, string>>): Issue => {
  const { bounded } = exchangeOf(config);
  return async (place, right) => {
    const { token: bearer, expiresAt } = await bounded(place, right);
    return { options: { ...shared, google_storage_token: bearer }, expiresAt };
  };
};
