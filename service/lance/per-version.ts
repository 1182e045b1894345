import type { Table } from "@lancedb/lancedb";

/** Of the time that an answer may be stale: for so long a handle's version is taken as known. */
const versionShare = 0.01;

interface Remembered<T> {
  readonly version: number;
  readonly until: number;
  readonly result: Promise<T>;
}

/**
 * What can be said of a version does not change, but costs the store many requests. It is remembered per handle and
 * version, and only as long as an answer may be stale anyway: a table that was dropped and made anew uses the same
 * version numbers.
 */
export class PerVersion<T> {
  readonly #remembered = new WeakMap<Table, Remembered<T>>();
  readonly #versions = new WeakMap<Table, { readonly until: number; readonly version: Promise<number> }>();
  readonly #milliseconds: number;
  readonly #versionMs: number;
  readonly #read: (table: Table) => Promise<T>;

  constructor(consistencySeconds: number, read: (table: Table) => Promise<T>) {
    // Where every request looks, a handle lives for those only who asked together: all it says is fresh.
    this.#milliseconds = consistencySeconds > 0 ? consistencySeconds * 1000 : Number.POSITIVE_INFINITY;
    this.#versionMs = consistencySeconds * 1000 * versionShare;
    this.#read = read;
  }

  async of(table: Table): Promise<T> {
    const version = await this.#versionOf(table);
    const known = this.#remembered.get(table);
    const now = performance.now();
    if (known !== undefined && known.version === version && now < known.until) return known.result;
    const result = this.#read(table);
    this.#remembered.set(table, { version, until: now + this.#milliseconds, result });
    result.catch(() => this.#remembered.delete(table));
    return result;
  }

  /**
   * One native call for all who ask at the same time, or within a hundredth of the bound: it is most of what a remembered
   * answer costs.
   */
  #versionOf(table: Table): Promise<number> {
    const known = this.#versions.get(table);
    const now = performance.now();
    if (known !== undefined && now < known.until) return known.version;
    const version = table.version();
    // Until it is there, it is shared however long that takes.
    this.#versions.set(table, { until: Number.POSITIVE_INFINITY, version });
    const settle = (): void => void this.#versions.set(table, { until: now + this.#versionMs, version });
    version.then(settle, () => this.#versions.delete(table));
    return version;
  }
}
