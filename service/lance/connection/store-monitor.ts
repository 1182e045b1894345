import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../telemetry/log.ts";

const retryMs = 1000;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Logs attempts 1, 2, 4, 8 and so on, so that the log of a long outage stays short. */
const isLogged = (attempt: number): boolean => (attempt & (attempt - 1)) === 0;

/**
 * Monitors whether the store is available. It checks at the start of the service and after a failed call, once a second
 * until the store responds. At other times, neither probes nor requests cause a check.
 */
export class StoreMonitor {
  readonly #check: () => Promise<void>;
  readonly #log: Log;
  readonly #uri: string;
  readonly #stopped = new AbortController();
  #checking = false;
  #connected = false;
  #answers = false;

  /** @param check sends a request to the store. @param uri for the log. */
  constructor(check: () => Promise<void>, log: Log, uri: string) {
    this.#check = check;
    this.#log = log;
    this.#uri = uri;
    void this.#checkUntilAvailable();
  }

  /** Whether the store has ever responded. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Whether the store has responded since the last failure. */
  get answers(): boolean {
    return this.#answers;
  }

  /** To be called when a call has failed because of the store. */
  reportFailure(): void {
    this.#answers = false;
    void this.#checkUntilAvailable();
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #checkUntilAvailable(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    const { signal } = this.#stopped;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await this.#check();
        if (attempt > 1) this.#log.info({ uri: this.#uri, attempts: attempt }, "connected to the database");
        this.#connected = true;
        this.#answers = true;
        break;
      } catch (error) {
        if (isLogged(attempt))
          this.#log.warn(
            { uri: this.#uri, attempts: attempt, cause: textOf(error) },
            "the database is unavailable; retrying",
          );
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
    this.#checking = false;
  }
}
