import { ServiceError } from "../errors.ts";

export interface AdmissionOptions {
  /** Calls that run at once. */
  readonly concurrency: number;
  /** Calls that wait at most. */
  readonly queue: number;
  /** Milliseconds that a call waits at most. */
  readonly maxWaitMs: number;
}

type Refusal = "queue full" | "waited too long" | "client gone";

interface Arrival {
  /** Callers take turns. Calls without one share a queue. */
  readonly caller?: string;
  /** Aborted when the client disconnects; a waiting call is then dropped. */
  readonly signal?: AbortSignal;
}

interface Waiting {
  admit(): void;
  refuse(refusal: Refusal): void;
}

/**
 * Runs a bounded number of calls and queues a bounded number. A call counts as running until its promise settles, even
 * if its client has disconnected: the SDK cannot cancel a call.
 *
 * Each caller has its own queue, and queues take turns. When the total is reached, a call of a caller with a shorter
 * queue evicts the newest call of the longest queue: one caller can use the whole queue but cannot block the others.
 */
export class AdmissionLimit {
  readonly #options: AdmissionOptions;
  /** Waiting calls by caller, oldest first; the caller whose turn is next comes first. */
  readonly #queues = new Map<string, Set<Waiting>>();
  readonly #onRefusal: (refusal: Refusal) => void;
  #running = 0;
  #waiting = 0;

  constructor(options: AdmissionOptions, onRefusal: (refusal: Refusal) => void = () => {}) {
    this.#options = options;
    this.#onRefusal = onRefusal;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** @throws ServiceError code 17 with `Retry-After` when the call is not admitted. */
  async run<T>(call: () => Promise<T>, { caller = "", signal }: Arrival = {}): Promise<T> {
    if (this.#running < this.#options.concurrency) this.#running++;
    else await this.#wait(caller, signal);
    try {
      return await call();
    } finally {
      const next = this.#next();
      // The count passes to the next call, so that a new call cannot overtake those that wait.
      if (next === undefined) this.#running--;
      else next.admit();
    }
  }

  /** The oldest call of the caller whose turn it is. That caller moves to the end of the turns. */
  #next(): Waiting | undefined {
    const [turn] = this.#queues;
    if (turn === undefined) return undefined;
    const [caller, queue] = turn;
    this.#queues.delete(caller);
    this.#queues.set(caller, queue);
    const [first] = queue;
    return first;
  }

  /** Evicts the newest call of the longest queue if that queue stays at least as long as the caller's becomes. */
  #evictFor(caller: string): boolean {
    const queues = [...this.#queues.values()];
    const longest = Math.max(0, ...queues.map((queue) => queue.size));
    if (longest <= (this.#queues.get(caller)?.size ?? 0) + 1) return false;
    const newest = [...(queues.find((queue) => queue.size === longest) ?? [])].at(-1);
    newest?.refuse("queue full");
    return newest !== undefined;
  }

  #wait(caller: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting >= this.#options.queue && !this.#evictFor(caller))
      return Promise.reject(this.#refusal("queue full"));
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const queue = this.#queues.get(caller);
        queue?.delete(waiting);
        if (queue?.size === 0) this.#queues.delete(caller);
        this.#waiting--;
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const waiting: Waiting = {
        admit() {
          leave();
          resolve();
        },
        refuse: (refusal) => {
          leave();
          reject(this.#refusal(refusal));
        },
      };
      const onAbort = (): void => waiting.refuse("client gone");
      const timer = setTimeout(() => waiting.refuse("waited too long"), this.#options.maxWaitMs);
      signal?.addEventListener("abort", onAbort, { once: true });
      const queue = this.#queues.get(caller);
      if (queue === undefined) this.#queues.set(caller, new Set([waiting]));
      else queue.add(waiting);
      this.#waiting++;
    });
  }

  #refusal(refusal: Refusal): ServiceError {
    this.#onRefusal(refusal);
    return new ServiceError(17, { message: "the service is at its limit of concurrent calls; retry", retryAfter: 1 });
  }
}
