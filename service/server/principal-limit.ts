import { ServiceError } from "../errors.ts";

/** Milliseconds after its last call for which a principal counts as active. */
const activeMs = 10_000;

interface Activity {
  readonly principal: string;
  at: number;
}

/** Bounds the calls of one principal that run or wait, over all admission classes, and knows whether others are active. */
export class PrincipalLimit {
  readonly #max: number;
  readonly #inFlight = new Map<string, number>();
  /** The last two principals that called, the latest one first. */
  #latest: Activity | undefined;
  #previous: Activity | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether no other principal has a call that runs or waits, or has called in the last seconds. */
  isAlone(principal: string): boolean {
    if (this.#inFlight.size > (this.#inFlight.has(principal) ? 1 : 0)) return false;
    const other = this.#latest?.principal === principal ? this.#previous : this.#latest;
    return other === undefined || performance.now() - other.at > activeMs;
  }

  #note(principal: string): void {
    const at = performance.now();
    if (this.#latest?.principal === principal) {
      this.#latest.at = at;
      return;
    }
    this.#previous = this.#latest;
    this.#latest = { principal, at };
  }

  /** @throws ServiceError code 21 with `Retry-After`. */
  async run<T>(principal: string, call: () => Promise<T>): Promise<T> {
    this.#note(principal);
    const now = this.#inFlight.get(principal) ?? 0;
    if (now >= this.#max)
      throw new ServiceError(21, {
        message: `more than ${this.#max} concurrent requests of this principal; retry`,
        retryAfter: 1,
      });
    this.#inFlight.set(principal, now + 1);
    try {
      return await call();
    } finally {
      const left = (this.#inFlight.get(principal) ?? 1) - 1;
      if (left === 0) this.#inFlight.delete(principal);
      else this.#inFlight.set(principal, left);
    }
  }
}
