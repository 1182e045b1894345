import { LRUCache } from "lru-cache";

/** Use of a memoizer since it was created, and the number of results that it holds. */
export interface MemoizerCounts {
  readonly kept: number;
  /** Calls that found a result or joined a load. */
  readonly hits: number;
  readonly misses: number;
  /** Removed results, by reason: no space, too old, or invalid. */
  readonly evictions: Readonly<Record<"full" | "expired" | "gone", number>>;
}

export const sumOfCounts = (a: MemoizerCounts, b: MemoizerCounts): MemoizerCounts => ({
  kept: a.kept + b.kept,
  hits: a.hits + b.hits,
  misses: a.misses + b.misses,
  evictions: {
    full: a.evictions.full + b.evictions.full,
    expired: a.evictions.expired + b.evictions.expired,
    gone: a.evictions.gone + b.evictions.gone,
  },
});

/** Bounds on the memory of results that are kept. */
export interface Bounds<V> {
  readonly maxBytes: number;
  readonly bytesOf: (value: V) => number;
  /** Called for each result that is kept no longer. Callers may still use it. */
  readonly onRemove: (value: V) => void;
}

export interface MemoizerOptions<V = unknown> extends Partial<Bounds<V>> {
  /** Maximum age of a result in milliseconds, counted from the start of its load. 0: a result is shared only while it loads. */
  readonly ttlMs: number;
  /**
   * Maximum number of results; `Infinity` if all are only shared while they load. Absent: keys are objects, and a result lives
   * as long as its key.
   */
  readonly max?: number;
  /** Whether callers join a load that takes longer than `ttlMs`. */
  readonly joinSlowLoads?: boolean;
}

interface Entry<V> {
  readonly result: Promise<V>;
  /** Time of `performance.now()` when the result expires. */
  readonly expiresAt: number;
  /** What the result was derived from. */
  readonly stamp: unknown;
  loading: boolean;
  value?: V;
  bytes: number;
}

interface Entries<K, V> {
  get(key: K): Entry<V> | undefined;
  set(key: K, entry: Entry<V>): unknown;
  delete(key: K): boolean;
}

/** `renew` joins callers within this many milliseconds. */
const windowMs = 2;

/** Settles with `running`, or after the window if that is earlier. */
const settledOrWindow = (running: Promise<unknown>): Promise<unknown> => {
  const window = Promise.withResolvers<void>();
  const timer = setTimeout(window.resolve, windowMs);
  return Promise.race([running.catch(() => undefined).finally(() => clearTimeout(timer)), window.promise]);
};

/** Results of asynchronous loads by key. Concurrent callers share a load. A failed load is not kept. */
export class Memoizer<K extends string | WeakKey, V> {
  readonly #options: MemoizerOptions<V>;
  readonly #lru: LRUCache<K, Entry<V>> | undefined;
  readonly #entries: Entries<K, V>;
  /** Loads that `renew` has postponed. */
  readonly #next = new Map<K, Promise<V>>();
  readonly #counts = { hits: 0, misses: 0 };
  readonly #evictions = { full: 0, expired: 0, gone: 0 };
  /** Of the results that are kept. */
  #bytes = 0;

  constructor(options: MemoizerOptions<V>) {
    this.#options = options;
    const { max } = options;
    if (max !== undefined && max !== Number.POSITIVE_INFINITY)
      this.#lru = new LRUCache({
        max,
        dispose: ({ bytes, value }, _key, reason) => {
          if (reason === "evict") this.#evictions.full++;
          this.#bytes -= bytes;
          if (value !== undefined) options.onRemove?.(value);
        },
      });
    // To delete the only entry of an LRUCache costs as much as to clear it, which fills arrays of its maximum length.
    this.#entries = this.#lru ?? (max === undefined ? (new WeakMap() as unknown as Entries<K, V>) : new Map());
  }

  get counts(): MemoizerCounts {
    return { kept: this.#lru?.size ?? 0, ...this.#counts, evictions: { ...this.#evictions } };
  }

  /**
   * Returns the result of the key, or loads it.
   * @param ttlMs overrides the memoizer's own.
   * @param stamp a result with another stamp is not used.
   */
  get(key: K, load: () => Promise<V>, { ttlMs, stamp }: { ttlMs?: number | undefined; stamp?: unknown } = {}) {
    const entry = this.#valid(key, stamp);
    if (entry === undefined) return this.#load(key, load, ttlMs, stamp);
    this.#counts.hits++;
    return entry.result;
  }

  /** The value, if it is loaded and valid. */
  known(key: K): V | undefined {
    return this.#valid(key, undefined)?.value;
  }

  /**
   * Returns a result whose load began after this call, and replaces the kept one.
   *
   * Without a load in flight, it starts one at once. Otherwise all callers share the next load, which starts when the
   * one in flight ends or the window has passed: under load, a slow load runs at most once per window.
   */
  renew(key: K, load: () => Promise<V>, ttlMs?: number): Promise<V> {
    const running = this.#entries.get(key);
    if (running?.loading !== true) return this.#load(key, load, ttlMs, undefined);
    const shared = this.#next.get(key);
    if (shared !== undefined) return shared;
    const next = settledOrWindow(running.result).then(() => {
      this.#next.delete(key);
      return this.#load(key, load, ttlMs, undefined);
    });
    this.#next.set(key, next);
    return next;
  }

  /** Removes results whose data no longer exists. Callers that hold one may continue to use it. */
  evict(matches: (key: K) => boolean): void {
    for (const key of [...(this.#lru?.keys() ?? [])])
      if (matches(key) && this.#entries.delete(key)) this.#evictions.gone++;
  }

  /** Removes the results that were used least recently while all together are too large. */
  #weigh(entry: Entry<V>, value: V): void {
    const { bytesOf, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    if (bytesOf === undefined) return;
    entry.bytes = bytesOf(value);
    this.#bytes += entry.bytes;
    while (this.#bytes > maxBytes && this.#lru?.pop() !== undefined);
  }

  #valid(key: K, stamp: unknown): Entry<V> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.stamp !== stamp) return undefined;
    if (performance.now() < entry.expiresAt || (entry.loading && this.#options.joinSlowLoads === true)) return entry;
    this.#entries.delete(key);
    this.#evictions.expired++;
    return undefined;
  }

  #load(key: K, load: () => Promise<V>, ttlMs: number | undefined, stamp: unknown): Promise<V> {
    this.#counts.misses++;
    const lifetimeMs = ttlMs ?? this.#options.ttlMs;
    const result = load();
    const entry: Entry<V> = { result, expiresAt: performance.now() + lifetimeMs, stamp, loading: true, bytes: 0 };
    this.#entries.set(key, entry);
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    result.then((value) => {
      entry.loading = false;
      entry.value = value;
      if (this.#entries.get(key) !== entry) this.#options.onRemove?.(value);
      else if (lifetimeMs === 0) forget();
      else this.#weigh(entry, value);
    }, forget);
    return result;
  }
}
