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

/** Whose call it is, and what ends its wait. */
interface Arrival {
  /** Callers take turns; all that say nothing are one. */
  readonly caller?: string;
  /** Aborted when the client has gone; a call that still waits is then dropped. */
  readonly signal?: AbortSignal;
}

/** A call that waits. */
interface Waiting {
  enter(): void;
  refuse(refusal: Refusal): void;
}

/**
 * Admits a bounded number of calls and lets a bounded number wait. A place is held until the call's own promise
 * settles, whatever became of the client: the SDK cannot cancel, so a freed place would be a lie about the load.
 *
 * Each caller has a line of its own, and free places go to the lines by turns. Where no more may wait, the longest line
 * gives up its end for a caller whose own is shorter: one caller alone has the whole queue, and cannot shut others out.
 */
export class Gate {
  readonly #config: GateConfig;
  /** Those who wait, in order, by caller; the caller whose turn it is comes first. */
  readonly #lines = new Map<string, Set<Waiting>>();
  readonly #onRefusal: (refusal: Refusal) => void;
  #running = 0;
  #waiting = 0;

  constructor(config: GateConfig, onRefusal: (refusal: Refusal) => void = () => {}) {
    this.#config = config;
    this.#onRefusal = onRefusal;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** @throws ServiceError code 17 with `Retry-After` when there is no place. */
  async run<T>(call: () => Promise<T>, { caller = "", signal }: Arrival = {}): Promise<T> {
    if (this.#running < this.#config.concurrency) this.#running++;
    else await this.#wait(caller, signal);
    try {
      return await call();
    } finally {
      const next = this.#next();
      // The place is handed on, so that no newcomer slips in before those who wait.
      if (next === undefined) this.#running--;
      else next.enter();
    }
  }

  /** The first of the caller whose turn it is, who then has to let all others go before. */
  #next(): Waiting | undefined {
    const [turn] = this.#lines;
    if (turn === undefined) return undefined;
    const [caller, line] = turn;
    this.#lines.delete(caller);
    this.#lines.set(caller, line);
    const [first] = line;
    return first;
  }

  /** Has the end of the longest line give way, if that is longer than a newcomer's would be. */
  #makeRoom(caller: string): boolean {
    const lines = [...this.#lines.values()];
    const longest = Math.max(0, ...lines.map((line) => line.size));
    if (longest <= (this.#lines.get(caller)?.size ?? 0) + 1) return false;
    const last = [...(lines.find((line) => line.size === longest) ?? [])].at(-1);
    last?.refuse("queue full");
    return last !== undefined;
  }

  #wait(caller: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting >= this.#config.queue && !this.#makeRoom(caller))
      return Promise.reject(this.#refusal("queue full"));
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const line = this.#lines.get(caller);
        line?.delete(waiting);
        if (line?.size === 0) this.#lines.delete(caller);
        this.#waiting--;
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const waiting: Waiting = {
        enter() {
          leave();
          resolve();
        },
        refuse: (refusal) => {
          leave();
          reject(this.#refusal(refusal));
        },
      };
      const onAbort = (): void => waiting.refuse("client gone");
      const timer = setTimeout(() => waiting.refuse("waited too long"), this.#config.maxWaitMs);
      signal?.addEventListener("abort", onAbort, { once: true });
      const line = this.#lines.get(caller);
      if (line === undefined) this.#lines.set(caller, new Set([waiting]));
      else line.add(waiting);
      this.#waiting++;
    });
  }

  #refusal(refusal: Refusal): ServiceError {
    this.#onRefusal(refusal);
    return new ServiceError(17, { message: "the service is at its limit of concurrent calls; retry", retryAfter: 1 });
  }
}
