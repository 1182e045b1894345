import type { Table } from "@lancedb/lancedb";

interface Memory<T> {
  readonly until: number;
  readonly result: Promise<T>;
  /** Once it is there. */
  value?: T;
}

/** Remembers what was read of a table, per handle and as long as an answer may be stale anyway. */
export class PerHandle<T> {
  readonly #remembered = new WeakMap<Table, Memory<T>>();
  readonly #milliseconds: number;
  readonly #read: (table: Table) => Promise<T>;

  constructor(consistencySeconds: number, read: (table: Table) => Promise<T>) {
    // Where every request looks, a handle lives for those only who asked together: all it says is fresh.
    this.#milliseconds = consistencySeconds > 0 ? consistencySeconds * 1000 : Number.POSITIVE_INFINITY;
    this.#read = read;
  }

  of(table: Table): Promise<T> {
    const known = this.#fresh(table);
    if (known !== undefined) return known.result;
    const memory: Memory<T> = { until: performance.now() + this.#milliseconds, result: this.#read(table) };
    this.#remembered.set(table, memory);
    memory.result.then(
      (value) => {
        memory.value = value;
      },
      () => this.#remembered.delete(table),
    );
    return memory.result;
  }

  /** What is remembered already; undefined where it would have to be read. */
  known(table: Table): T | undefined {
    return this.#fresh(table)?.value;
  }

  #fresh(table: Table): Memory<T> | undefined {
    const memory = this.#remembered.get(table);
    return memory !== undefined && performance.now() < memory.until ? memory : undefined;
  }
}
