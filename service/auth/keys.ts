import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from "jose";
import { ServiceError } from "../errors.ts";
import { IssuerError } from "./get-json.ts";
import type { AuthConfig, AuthLog } from "./types.ts";

export interface KeyKeeper {
  /** Keys that may be used now. @throws ServiceError code 17 when there are none */
  current(): Promise<LocalJWKSet>;
  /**
   * Keys fetched because those at hand do not verify a token; undefined when the issuer was asked just now and its answer
   * stands. @throws ServiceError code 17 when it would have to be asked and is away.
   */
  newer(): Promise<LocalJWKSet | undefined>;
  loaded(): boolean;
  close(): void;
}

interface KeyKeeperOptions extends Pick<AuthConfig, "keyCacheSeconds" | "staleKeySeconds" | "cooldownSeconds"> {
  readonly load: (signal: AbortSignal) => Promise<JSONWebKeySet>;
  readonly now: () => number;
  readonly log: AuthLog;
}

/** Share of the cache time after which traffic has the keys fetched in the background, so that no request waits for it. */
const refreshAhead = 0.8;

/**
 * Holds the issuer's keys. One fetch at a time, shared by all who wait. After a failure the next try waits 1 s, 2 s, 4 s …
 * up to the cooldown; meanwhile the last good keys serve, for `keyCacheSeconds` + `staleKeySeconds` after they were fetched.
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
      message: "the token cannot be checked because its issuer's keys cannot be had; retry",
      retryAfter: Math.max(1, Math.ceil((nextTryAt - now()) / 1000)),
    });

  async function fetchOnce(): Promise<boolean> {
    try {
      const loaded = createLocalJWKSet(await load(closing.signal));
      if (failures > 0) log.info({}, "the issuer's keys can be had again");
      keys = loaded;
      fetchedAt = now();
      failures = 0;
      return true;
    } catch (error) {
      nextTryAt = now() + Math.min(cooldown, 1000 * 2 ** failures);
      failures += 1;
      const reason = error instanceof IssuerError ? error.message : "the key set is malformed";
      log.warn({ reason, failures, lastGoodKeys: usable() !== undefined }, "the issuer's keys cannot be had");
      return false;
    }
  }

  /** True when the keys are new now. No fetch while a failure's wait lasts or after close. */
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
        // Once the issuer is known to be away, only a request that has no keys at all waits for it.
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
