/** What one request holds of {@link SharedBytes}. */
export interface Holding {
  readonly bytes: number;
  /** @returns whether there was room; if not, nothing is taken. */
  take(bytes: number): boolean;
  /** Gives everything back. */
  release(): void;
}

/**
 * A number of bytes that callers share. One caller may hold as many as it leaves free: alone at most half, so that there is
 * always room for the next caller, whatever the ones before it do.
 */
export class SharedBytes {
  readonly #limit: number;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that are held. */
  get held(): number {
    return this.#held;
  }

  open(caller: string): Holding {
    let own = 0;
    const add = (bytes: number): void => {
      own += bytes;
      this.#held += bytes;
      const left = (this.#heldBy.get(caller) ?? 0) + bytes;
      if (left === 0) this.#heldBy.delete(caller);
      else this.#heldBy.set(caller, left);
    };
    return {
      get bytes() {
        return own;
      },
      take: (bytes) => {
        const free = this.#limit - this.#held - bytes;
        if ((this.#heldBy.get(caller) ?? 0) + bytes > free) return false;
        add(bytes);
        return true;
      },
      release: () => {
        if (own > 0) add(-own);
      },
    };
  }
}
