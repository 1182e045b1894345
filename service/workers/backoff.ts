const firstMs = 100;
const maxMs = 30_000;

/** Consecutive failed starts after which the pool is unavailable. */
const exhaustedAfter = 3;

/** The delay between failed starts: none after the first, then 100 ms, doubled after each failure up to 30 s. */
export class Backoff {
  #failures = 0;

  get milliseconds(): number {
    return this.#failures < 2 ? 0 : Math.min(maxMs, firstMs * 2 ** (this.#failures - 2));
  }

  get exhausted(): boolean {
    return this.#failures >= exhaustedAfter;
  }

  failed(): void {
    this.#failures++;
  }

  succeeded(): void {
    this.#failures = 0;
  }
}
