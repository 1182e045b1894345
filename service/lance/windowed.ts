/**
 * Shares one run of a task among all who ask for it at the same time. Everybody gets a result that was begun after they
 * asked: strong consistency for the price of one look for all.
 *
 * Whoever asks while nothing runs has the task started at once. While one runs, the next is put off until that one is
 * done, or until the window closes if that comes first, and all who ask meanwhile share it: a task that takes
 * milliseconds runs once for each window, however many ask, and a quick one never waits for a clock.
 */
export class Windowed<T> {
  readonly #windowMs: number;
  readonly #running = new Map<string, Promise<T>>();
  readonly #next = new Map<string, Promise<T>>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  get(key: string, task: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running === undefined) return this.#start(key, task);
    const shared = this.#next.get(key);
    if (shared !== undefined) return shared;
    const next = this.#opportunity(running).then(() => {
      this.#next.delete(key);
      return this.#start(key, task);
    });
    this.#next.set(key, next);
    return next;
  }

  #start(key: string, task: () => Promise<T>): Promise<T> {
    const result = task();
    this.#running.set(key, result);
    const done = (): void => {
      if (this.#running.get(key) === result) this.#running.delete(key);
    };
    result.then(done, done);
    return result;
  }

  /** Settles when `running` does, or when the window closes. */
  #opportunity(running: Promise<T>): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#windowMs);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      running.then(done, done);
    });
  }
}
