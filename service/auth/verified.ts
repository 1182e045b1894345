import { hash } from "node:crypto";
import type { LocalJWKSet } from "jose";
import { LRUCache } from "lru-cache";
import type { Principal } from "./types.ts";

const maxEntries = 1_000;

export interface Verified {
  readonly keys: LocalJWKSet;
  readonly principal: Principal;
  /** Milliseconds since the epoch, including the clock tolerance. */
  readonly expiresAt: number;
}

/**
 * Verified tokens by their hash, so that a signature is verified once for each token and key set. Only valid tokens are
 * kept, so that invalid ones cannot evict them.
 */
export interface VerifiedTokens {
  find(token: string): Verified | undefined;
  keep(token: string, verified: Verified): void;
}

export function createVerifiedTokens(): VerifiedTokens {
  const entries = new LRUCache<string, Verified>({ max: maxEntries });
  const keyOf = (token: string): string => hash("sha256", token, "base64");
  return {
    find: (token) => entries.get(keyOf(token)),
    keep: (token, verified) => void entries.set(keyOf(token), verified),
  };
}
