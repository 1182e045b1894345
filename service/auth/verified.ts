import { hash } from "node:crypto";
import type { LocalJWKSet } from "jose";
import type { Principal } from "./types.ts";

const mostEntries = 1_000;

/** A token that has been verified: by which keys, for whom, and until when. */
export interface Verified {
  readonly keys: LocalJWKSet;
  readonly principal: Principal;
  /** Milliseconds since the epoch; the clock tolerance included. */
  readonly expiresAt: number;
}

/**
 * Tokens that have been verified, so that a signature is computed once per token and key set and not per request. Holds
 * hashes, never tokens. Only tokens that were good get in, so that no garbage can push others out.
 */
export interface VerifiedTokens {
  find(token: string): Verified | undefined;
  keep(token: string, verified: Verified): void;
}

export function createVerifiedTokens(): VerifiedTokens {
  const entries = new Map<string, Verified>();
  const keyOf = (token: string): string => hash("sha256", token, "base64");
  return {
    find: (token) => entries.get(keyOf(token)),
    keep(token, verified) {
      const key = keyOf(token);
      entries.delete(key);
      const oldest = entries.size < mostEntries ? undefined : entries.keys().next().value;
      if (oldest !== undefined) entries.delete(oldest);
      entries.set(key, verified);
    },
  };
}
