import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../telemetry/log.ts";

const retryMs = 1000;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The first, second, fourth, eighth … of the same thing: an outage of hours is told in a few lines. */
const worthALine = (attempt: number): boolean => (attempt & (attempt - 1)) === 0;

/**
 * Whether the store behind the service answers. It is looked at when the service starts, and later only after a call has
 * failed at it, once a second until it answers: no probe and no request in fair weather costs the store anything.
 */
export class StoreWatch {
  readonly #look: () => Promise<void>;
  readonly #log: Log;
  readonly #uri: string;
  readonly #end = new AbortController();
  #looking = false;
  #connected = false;
  #answers = false;

  /** @param look asks one thing of the store. @param uri for the log. */
  constructor(look: () => Promise<void>, log: Log, uri: string) {
    this.#look = look;
    this.#log = log;
    this.#uri = uri;
    void this.#lookUntilItAnswers();
  }

  /** Whether it has ever answered. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Whether it has answered since a call last failed at it. */
  get answers(): boolean {
    return this.#answers;
  }

  /** A call has failed at the store. */
  suspect(): void {
    this.#answers = false;
    void this.#lookUntilItAnswers();
  }

  stop(): void {
    this.#end.abort();
  }

  async #lookUntilItAnswers(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const { signal } = this.#end;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await this.#look();
        if (attempt > 1) this.#log.info({ uri: this.#uri, attempts: attempt }, "the database is reached");
        this.#connected = true;
        this.#answers = true;
        break;
      } catch (error) {
        if (worthALine(attempt))
          this.#log.warn(
            { uri: this.#uri, attempts: attempt, cause: textOf(error) },
            "the database cannot be reached; trying again",
          );
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
    this.#looking = false;
  }
}
