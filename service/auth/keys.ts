import type { LocalJWKSet } from "jose";
import { ServiceError } from "../errors.ts";
import { IssuerError } from "./issuer.ts";
import type { AuthConfig, AuthLog } from "./types.ts";

export interface KeyKeeper {
  /** The usable keys. @throws ServiceError code 17 when there are none */
  current(): Promise<LocalJWKSet>;
  /**
   * Newly fetched keys, for a token that the current keys do not verify; undefined within the cooldown after a fetch.
   * @throws ServiceError code 17 when the issuer is unavailable.
   */
  newer(): Promise<LocalJWKSet | undefined>;
  loaded(): boolean;
  close(): void;
}

interface KeyKeeperOptions extends Pick<AuthConfig, "keyCacheSeconds" | "staleKeySeconds" | "cooldownSeconds"> {
  readonly load: (signal: AbortSignal) => Promise<LocalJWKSet>;
  readonly now: () => number;
  readonly log: AuthLog;
}

/** Share of the cache time after which a request starts a fetch in the background, so that no request waits for one. */
const refreshAhead = 0.8;

/**
 * Caches the issuer's keys. Concurrent requests share one fetch. After a failure the next fetch waits 1 s, 2 s, 4 s … up to
 * the cooldown. Cached keys are used for `keyCacheSeconds` + `staleKeySeconds` after their fetch.
 */
export function createKeyKeeper({ load, now, log, ...bounds }: KeyKeeperOptions): KeyKeeper {
  const cache = bounds.keyCacheSeconds * 1000;
  const stale = bounds.staleKeySeconds * 1000;
  const cooldown = bounds.cooldownSeconds * 1000;
  const closing = new AbortController();

  let keys: LocalJWKSet | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let nextTryAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<boolean> | undefined;

  const usable = (): LocalJWKSet | undefined => (now() - fetchedAt < cache + stale ? keys : undefined);
  const unavailable = (): ServiceError =>
    new ServiceError(17, {
      message: "the token cannot be verified because the issuer's JWKS is unavailable; retry",
      retryAfter: Math.max(1, Math.ceil((nextTryAt - now()) / 1000)),
    });

  async function fetchOnce(): Promise<boolean> {
    try {
      const loaded = await load(closing.signal);
      if (failures > 0) log.info({}, "the issuer's JWKS is available again");
      keys = loaded;
      fetchedAt = now();
      failures = 0;
      return true;
    } catch (error) {
      nextTryAt = now() + Math.min(cooldown, 1000 * 2 ** failures);
      failures += 1;
      const reason = error instanceof IssuerError ? error.message : "unknown";
      log.warn({ reason, failures, lastGoodKeys: usable() !== undefined }, "the issuer's JWKS is unavailable");
      return false;
    }
  }

  /** Whether new keys were fetched. Does not fetch during the wait after a failure, nor after close. */
  function refresh(): Promise<boolean> {
    if (pending) return pending;
    if (closing.signal.aborted || (failures > 0 && now() < nextTryAt)) return Promise.resolve(false);
    const mine = fetchOnce().finally(() => {
      pending = undefined;
    });
    pending = mine;
    return mine;
  }

  return {
    async current() {
      const age = now() - fetchedAt;
      if (age >= cache * refreshAhead) {
        const refreshed = refresh();
        // While the issuer is unavailable, only requests without usable keys wait for the fetch.
        if (usable() === undefined || (age >= cache && failures === 0)) await refreshed;
      }
      const found = usable();
      if (found === undefined) throw unavailable();
      return found;
    },
    async newer() {
      if (failures === 0 && !pending && now() - fetchedAt < cooldown) return undefined;
      if (await refresh()) return keys;
      throw unavailable();
    },
    loaded() {
      if (keys === undefined) void refresh();
      return keys !== undefined;
    },
    close: () => closing.abort(),
  };
}
