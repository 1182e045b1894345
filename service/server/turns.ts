/** Milliseconds of one turn of the event loop after which further requests wait for the next one. */
const sliceMs = 5;

/**
 * Lets callers take turns at the CPU of the main process. Many small requests of one turn of the event loop go on at once. When
 * the turn has lasted longer, for instance because responses of 1 MB are encoded, each further step waits in the queue of its
 * caller, and every turn of the event loop continues one step of the next caller. So another caller waits for one step of each
 * busy one, not for all that these have sent.
 */
export class Turns {
  /** Waiting steps by caller, oldest first; the caller whose turn is next comes first. */
  readonly #queues = new Map<string, (() => void)[]>();
  #since: number | undefined;

  /** Runs work that takes CPU, and does not wait for anything, when it is the caller's turn. */
  async run<T>(caller: string, work: () => T): Promise<T> {
    if (this.#queues.size > 0 || !this.#isInSlice())
      await new Promise<void>((resolve) => {
        const queue = this.#queues.get(caller);
        if (queue === undefined) this.#queues.set(caller, [resolve]);
        else queue.push(resolve);
      });
    return work();
  }

  #isInSlice(): boolean {
    const now = performance.now();
    if (this.#since === undefined) this.#begin(now);
    return now - (this.#since ?? now) <= sliceMs;
  }

  #begin(now: number): void {
    this.#since = now;
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#since = undefined;
    const [first] = this.#queues;
    if (first === undefined) return;
    this.#begin(performance.now());
    const [caller, queue] = first;
    this.#queues.delete(caller);
    const resolve = queue.shift();
    if (queue.length > 0) this.#queues.set(caller, queue);
    resolve?.();
  }
}
