/** Milliseconds of one turn of the event loop after which further requests wait for the next one. */
const sliceMs = 5;

/**
 * Lets callers take turns at the CPU of the main process. Steps go on at once until a turn of the event loop has lasted too long,
 * for instance because responses of 1 MB are encoded. Then each further step waits in the queue of its caller, and the next
 * turns of the event loop continue one step of each caller after the other. So another caller waits for one step of each busy
 * one, not for all that these have sent.
 */
export class Turns {
  /** Waiting steps by caller, oldest first; the caller whose turn is next comes first. */
  readonly #queues = new Map<string, (() => void)[]>();
  #since: number | undefined;

  /** Runs work that takes CPU, and does not wait for anything, when it is the caller's turn. */
  async run<T>(caller: string, work: () => T): Promise<T> {
    if (this.#queues.size === 0 && this.#isInSlice()) return work();
    return new Promise<T>((resolve) => {
      this.#queues.getOrInsert(caller, []).push(() => resolve(Promise.try(work)));
    });
  }

  #isInSlice(): boolean {
    const now = performance.now();
    if (this.#since === undefined) this.#begin(now);
    return now - (this.#since ?? now) <= sliceMs;
  }

  #begin(now: number): void {
    this.#since = now;
    setImmediate(() => this.#continue());
  }

  #continue(): void {
    this.#since = undefined;
    while (this.#queues.size > 0 && this.#isInSlice()) this.#takeNext()?.();
  }

  /** The oldest step of the next caller. That caller moves to the end of the turns. */
  #takeNext(): (() => void) | undefined {
    const [first] = this.#queues;
    if (first === undefined) return undefined;
    const [caller, queue] = first;
    this.#queues.delete(caller);
    const step = queue.shift();
    if (queue.length > 0) this.#queues.set(caller, queue);
    return step;
  }
}
