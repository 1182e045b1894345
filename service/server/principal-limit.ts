import { ServiceError } from "../errors.ts";

/** Bounds the calls of one principal that run or wait, over all admission classes. */
export class PrincipalLimit {
  readonly #max: number;
  readonly #inFlight = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** @throws ServiceError code 21 with `Retry-After`. */
  async run<T>(principal: string, call: () => Promise<T>): Promise<T> {
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
