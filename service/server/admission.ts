import { ServiceError } from "../errors.ts";

export interface AdmissionOptions {
  /** Calls that run at once. */
  readonly concurrency: number;
  /** Calls that wait at most. */
  readonly queue: number;
  /** Milliseconds that a call waits at most. */
  readonly maxWaitMs: number;
  /** Calls of one caller that run at once while other callers are active; absent: all. */
  readonly share?: number;
  /**
   * Calls may take minutes. A caller runs as many as it leaves free, and a call whose client has left is ended when another
   * one waits for it.
   */
  readonly long?: true;
}

type Refusal = "queue full" | "waited too long" | "client gone";

interface Arrival {
  /** Callers take turns. Calls without one share a queue. */
  readonly caller?: string;
  /**
   * Its signal is aborted when the client disconnects; a waiting call is then dropped. Read only for a call that waits or may
   * be ended.
   */
  readonly client?: { readonly signal: AbortSignal };
  /** Whether the call ends soon, so that a caller who is alone may run it beside others of a class that are long. */
  readonly endsSoon?: boolean;
}

interface Waiting {
  readonly endsSoon: boolean;
  admit(): void;
  refuse(refusal: Refusal): void;
}

/** A call that may be ended. */
interface Running {
  readonly caller: string;
  readonly stop: AbortController;
  isAbandoned: boolean;
}

/**
 * Runs a bounded number of calls and queues a bounded number. A call counts as running until its promise settles, even
 * if its client has disconnected: the SDK cannot cancel a call.
 *
 * Each caller has its own queue, and queues take turns. When the total is reached, a call of a caller with a shorter
 * queue evicts the newest call of the longest queue: one caller can use the whole queue but cannot block the others.
 *
 * Calls that use the CPU of this process also delay calls of other classes. A caller's share bounds them while others are
 * active, even if that leaves the limit unused.
 */
export class AdmissionLimit {
  readonly #options: AdmissionOptions;
  /** Waiting calls by caller, oldest first; the caller whose turn is next comes first. */
  readonly #queues = new Map<string, Set<Waiting>>();
  readonly #onRefusal: (refusal: Refusal) => void;
  readonly #isAlone: (caller: string) => boolean;
  readonly #runningOf = new Map<string, number>();
  /** Calls of a class whose calls are long. */
  readonly #long = new Set<Running>();
  #running = 0;
  #waiting = 0;

  /** @param isAlone whether no other caller has been active lately: the share then does not apply. */
  constructor(
    options: AdmissionOptions,
    onRefusal: (refusal: Refusal) => void = () => {},
    isAlone: (caller: string) => boolean = () => true,
  ) {
    this.#options = options;
    this.#onRefusal = onRefusal;
    this.#isAlone = isAlone;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * @param call gets a signal at which it should end, if calls of the class are long.
   * @throws ServiceError code 17 with `Retry-After` when the call is not admitted.
   */
  async run<T>(call: (stop?: AbortSignal) => Promise<T>, arrival: Arrival = {}): Promise<T> {
    const { caller = "", endsSoon = false, client } = arrival;
    // The oldest waiting call goes first, also where only its caller's share made it wait.
    if (this.#hasRoomFor(caller, endsSoon) && !this.#queues.has(caller)) this.#start(caller);
    else await this.#wait(caller, endsSoon, client?.signal);
    try {
      return await (this.#options.long === true ? this.#runLong(call, caller, client?.signal) : call());
    } finally {
      this.#end(caller);
      for (let next = this.#next(); next !== undefined; next = this.#next()) next.admit();
      this.#endAbandoned();
    }
  }

  async #runLong<T>(
    call: (stop: AbortSignal) => Promise<T>,
    caller: string,
    client: AbortSignal | undefined,
  ): Promise<T> {
    const running: Running = { caller, stop: new AbortController(), isAbandoned: client?.aborted ?? false };
    const onAbort = (): void => {
      running.isAbandoned = true;
      this.#endAbandoned();
    };
    client?.addEventListener("abort", onAbort, { once: true });
    this.#long.add(running);
    try {
      return await call(running.stop.signal);
    } finally {
      this.#long.delete(running);
      client?.removeEventListener("abort", onAbort);
    }
  }

  /** Ends calls whose clients have left, at most as many as others wait, and none whose end would admit none of these. */
  #endAbandoned(): void {
    const abandoned = [...this.#long].filter(({ isAbandoned }) => isAbandoned);
    const left = abandoned.filter(({ stop }) => !stop.signal.aborted);
    for (const caller of this.#queues.keys()) {
      if (abandoned.length - left.length >= this.#waiting) return;
      const own = abandoned.filter((each) => each.caller === caller).length;
      if (!this.#isBelowShare(caller, own, abandoned.length)) continue;
      const ownFirst = left.findIndex((each) => each.caller === caller);
      const [ended] = left.splice(Math.max(0, ownFirst), 1);
      ended?.stop.abort("its client has left, and another write waits");
    }
  }

  /** @param own calls of the caller, and `all` calls, that will have ended. */
  #isBelowShare(caller: string, own = 0, all = 0): boolean {
    const { concurrency, share = concurrency, long } = this.#options;
    const running = (this.#runningOf.get(caller) ?? 0) - own;
    return running < (long === true ? concurrency - this.#running + all : share);
  }

  #hasRoomFor(caller: string, endsSoon: boolean): boolean {
    if (this.#running >= this.#options.concurrency) return false;
    // One who is alone when a long call begins may not be alone before it ends.
    return this.#isBelowShare(caller) || ((endsSoon || this.#options.long !== true) && this.#isAlone(caller));
  }

  #start(caller: string): void {
    this.#running++;
    this.#runningOf.set(caller, (this.#runningOf.get(caller) ?? 0) + 1);
  }

  #end(caller: string): void {
    this.#running--;
    const left = (this.#runningOf.get(caller) ?? 1) - 1;
    if (left === 0) this.#runningOf.delete(caller);
    else this.#runningOf.set(caller, left);
  }

  /** The oldest call of the next caller with room. That caller moves to the end of the turns. */
  #next(): Waiting | undefined {
    if (this.#running >= this.#options.concurrency) return undefined;
    for (const [caller, queue] of this.#queues) {
      const [oldest] = queue;
      if (oldest === undefined || !this.#hasRoomFor(caller, oldest.endsSoon)) continue;
      this.#queues.delete(caller);
      this.#queues.set(caller, queue);
      return oldest;
    }
    return undefined;
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

  #wait(caller: string, endsSoon: boolean, signal: AbortSignal | undefined): Promise<void> {
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
        endsSoon,
        admit: () => {
          leave();
          // Counted at once: before the promise settles, a new call could take its place.
          this.#start(caller);
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
      this.#queues.getOrInsertComputed(caller, () => new Set()).add(waiting);
      this.#waiting++;
      this.#endAbandoned();
    });
  }

  #refusal(refusal: Refusal): ServiceError {
    this.#onRefusal(refusal);
    return new ServiceError(17, { message: "the service is at its limit of concurrent calls; retry", retryAfter: 1 });
  }
}
