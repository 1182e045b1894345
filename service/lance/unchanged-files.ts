import { type BigIntStats, stat, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import { Memoizer } from "./memoizer.ts";

/** Differs after every change of a file, or of the entries of a directory; undefined if there is none. */
type Stamp = string | undefined;

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;

const readStamp = (path: string): Promise<Stamp> =>
  new Promise((resolve, reject) => {
    stat(path, { bigint: true }, (error, stats) => {
      if (error === null) resolve(stampOf(stats));
      else if (error.code === "ENOENT") resolve(undefined);
      else reject(error);
    });
  });

const readStampAtOnce = (path: string): Stamp => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && stampOf(stats);
};

/**
 * Types, as `statfs` returns them, of file systems that no network is behind: ext, XFS, Btrfs, ZFS, tmpfs, overlay. The kernel
 * has the times of a path that was read a moment ago in memory.
 */
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0x01021994, 0x794c7630]);

const isLocal = (path: string): Promise<boolean> =>
  statfs(path).then(
    ({ type }) => localTypes.has(type),
    () => false,
  );

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
