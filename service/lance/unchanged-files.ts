import { LRUCache } from "lru-cache";
import { isLocal, readStamp, readStampAtOnce, type Stamp } from "./local-files.ts";
import { Memoizer } from "./memoizer.ts";

/**
 * Milliseconds for which a stamp must not change before a result is kept. The times of a file system advance in steps, so
 * the second of two changes within one step leaves them as they are. No file system has steps longer than two seconds.
 */
const settleMs = 2000;

interface Seen<V> {
  readonly stamp: Stamp;
  /** Time of `performance.now()` when the stamp had been read first. */
  readonly since: number;
  /** Read after the stamp had settled, so it is what the stamp stands for. */
  result?: Promise<V>;
  /** Whether reading the stamp takes less time than a turn of another thread. */
  local?: boolean;
}

/**
 * Results that derive from files or directories of the local file system, by path. Each call asks for the times of its
 * path, which costs much less than to read it, and never returns a result from before a change.
 */
export class UnchangedFiles<V> {
  /** Concurrent callers share a stamp that is read after their calls. */
  readonly #stamps: Memoizer<string, Stamp>;
  readonly #seen: LRUCache<string, Seen<V>>;
  readonly #settleMs: number;

  /** @param max number of results. */
  constructor(max: number, milliseconds: number = settleMs) {
    this.#stamps = new Memoizer({ max: Number.POSITIVE_INFINITY, ttlMs: 0 });
    this.#seen = new LRUCache({ max });
    this.#settleMs = milliseconds;
  }

  /** The kept result of an unchanged path, or a new one. A failed load is not kept. */
  async get(path: string, load: () => Promise<V>): Promise<V> {
    const calledAt = performance.now();
    const stamp = this.#seen.get(path)?.local
      ? readStampAtOnce(path)
      : await this.#stamps.renew(path, () => readStamp(path));
    const seen = this.#seen.get(path);
    if (stamp === undefined || seen?.stamp !== stamp) {
      this.#seen.set(path, { stamp, since: performance.now() });
      return load();
    }
    if (seen.result !== undefined) return seen.result;
    if (calledAt - seen.since < this.#settleMs) return load();
    const result = load();
    seen.result = result;
    void isLocal(path).then((local) => {
      seen.local = local;
    });
    result.catch(() => {
      if (seen.result === result) delete seen.result;
    });
    return result;
  }

  forget(path: string): void {
    this.#seen.delete(path);
  }
}
