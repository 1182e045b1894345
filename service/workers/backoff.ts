const firstMs = 100;
const maxMs = 30_000;

/** Failed starts in a row after which workers count as not to be had. */
const hopelessAfter = 3;

/**
 * The wait between failed starts: none after the first, then doubling up to half a minute. A worker that a query ended
 * is no failed start; it is replaced at once.
 */
export class Backoff {
  #failures = 0;

  get milliseconds(): number {
    return this.#failures < 2 ? 0 : Math.min(maxMs, firstMs * 2 ** (this.#failures - 2));
  }

  get hopeless(): boolean {
    return this.#failures >= hopelessAfter;
  }

  failed(): void {
    this.#failures++;
  }

  succeeded(): void {
    this.#failures = 0;
  }
}
