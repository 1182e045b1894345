import type { Table } from "@lancedb/lancedb";
import { LRUCache } from "lru-cache";

/** What a cache of handles has been asked for since it was made, and what it keeps now. */
export interface HandleCounts {
  readonly kept: number;
  /** Found open, or being opened for somebody else. */
  readonly hits: number;
  readonly misses: number;
  /** Handles given up, by why: no room, too old, or the data behind it gone. */
  readonly evictions: Readonly<Record<"full" | "expired" | "gone", number>>;
}

export const sumOfCounts = (all: readonly HandleCounts[]): HandleCounts => {
  const sum = (of: (counts: HandleCounts) => number): number => all.reduce((total, counts) => total + of(counts), 0);
  return {
    kept: sum(({ kept }) => kept),
    hits: sum(({ hits }) => hits),
    misses: sum(({ misses }) => misses),
    evictions: {
      full: sum(({ evictions }) => evictions.full),
      expired: sum(({ evictions }) => evictions.expired),
      gone: sum(({ evictions }) => evictions.gone),
    },
  };
};

/** Open handles by key: opened once however many ask at the same moment, a failed opening is not kept. */
export class HandleCache {
  readonly #cache: LRUCache<string, Promise<Table>>;
  readonly #evictions = { full: 0, expired: 0, gone: 0 };
  #hits = 0;
  #misses = 0;

  /** @param ttlMs milliseconds that a handle is kept; absent: as long as there is room. */
  constructor(max: number, ttlMs?: number) {
    this.#cache = new LRUCache({
      max,
      ...(ttlMs === undefined ? {} : { ttl: ttlMs }),
      dispose: (_value, _key, reason) => {
        if (reason === "evict") this.#evictions.full++;
        else if (reason === "expire") this.#evictions.expired++;
      },
    });
  }

  get counts(): HandleCounts {
    return {
      kept: this.#cache.size,
      hits: this.#hits,
      misses: this.#misses,
      evictions: { ...this.#evictions },
    };
  }

  /** @param ttlMs instead of the cache's own. */
  get(key: string, open: () => Promise<Table>, ttlMs?: number): Promise<Table> {
    const kept = this.#cache.get(key);
    if (kept !== undefined) {
      this.#hits++;
      return kept;
    }
    this.#misses++;
    const opening = open();
    this.#cache.set(key, opening, ttlMs === undefined ? {} : { ttl: ttlMs });
    opening.catch(() => {
      if (this.#cache.peek(key) === opening) this.#cache.delete(key);
    });
    return opening;
  }

  /** Opens what is kept once more and keeps that; whoever has the old handle goes on with it. */
  renew(key: string, open: () => Promise<Table>, ttlMs?: number): Promise<Table> {
    this.#cache.delete(key);
    return this.get(key, open, ttlMs);
  }

  /** Gives up the handles whose data is gone. */
  evict(matches: (key: string) => boolean): void {
    for (const key of [...this.#cache.keys()]) if (matches(key) && this.#cache.delete(key)) this.#evictions.gone++;
  }
}
