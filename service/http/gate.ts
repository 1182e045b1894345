import { ServiceError } from "../errors.ts";

export interface GateConfig {
  /** Native calls that run at once. */
  readonly concurrency: number;
  /** Calls that wait for a place. */
  readonly queue: number;
  /** Milliseconds that a call waits at the most. */
  readonly maxWaitMs: number;
}

type Refusal = "queue full" | "waited too long" | "client gone";

/**
 * Admits a bounded number of calls and lets a bounded number wait. A place is held until the call's own promise
 * settles, whatever became of the client: the SDK cannot cancel, so a freed place would be a lie about the load.
 */
export class Gate {
  readonly #config: GateConfig;
  readonly #waiting = new Set<() => void>();
  readonly #onRefusal: (refusal: Refusal) => void;
  #running = 0;

  constructor(config: GateConfig, onRefusal: (refusal: Refusal) => void = () => {}) {
    this.#config = config;
    this.#onRefusal = onRefusal;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * @param signal aborted when the client has gone; a call that still waits is then dropped.
   * @throws ServiceError code 17 with `Retry-After` when there is no place.
   */
  async run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#running < this.#config.concurrency) this.#running++;
    else await this.#wait(signal);
    try {
      return await call();
    } finally {
      const [next] = this.#waiting;
      // The place is handed on, so that no newcomer slips in before those who wait.
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size >= this.#config.queue) return Promise.reject(this.#refuse("queue full"));
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(enter);
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const enter = (): void => {
        leave();
        resolve();
      };
      const give = (refusal: Refusal) => (): void => {
        leave();
        reject(this.#refuse(refusal));
      };
      const onAbort = give("client gone");
      const timer = setTimeout(give("waited too long"), this.#config.maxWaitMs);
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(enter);
    });
  }

  #refuse(refusal: Refusal): ServiceError {
    this.#onRefusal(refusal);
    return new ServiceError(17, { message: "the service is at its limit of concurrent calls; retry", retryAfter: 1 });
  }
}
