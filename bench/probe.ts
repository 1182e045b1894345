import { setTimeout as sleep } from "node:timers/promises";
import { type Asked, Caller } from "./caller.ts";

export interface Probed {
  /** Milliseconds of each probe, failed ones included. */
  readonly latencies: readonly number[];
  /** Errors: no response, or a status other than 200. */
  readonly failures: readonly string[];
}

/**
 * Sends requests at a fixed rate, whether or not earlier ones have a response. A probe that waits for a slow response would
 * count it once and miss the requests that it delayed (coordinated omission).
 */
export class Probe {
  readonly #asked: Asked;
  readonly #port: number;
  readonly #idle: Caller[] = [];
  readonly #latencies: number[] = [];
  readonly #failures: string[] = [];
  readonly #timer: NodeJS.Timeout;
  #open = 0;

  constructor(port: number, asked: Asked, everyMs: number) {
    this.#port = port;
    this.#asked = asked;
    this.#timer = setInterval(() => void this.#ask(), everyMs);
  }

  /** Waits for the responses under way. */
  async stop(): Promise<Probed> {
    clearInterval(this.#timer);
    while (this.#open > 0) await sleep(10);
    for (const caller of this.#idle) caller.close();
    return { latencies: this.#latencies, failures: this.#failures };
  }

  async #ask(): Promise<void> {
    const caller = this.#idle.pop() ?? new Caller(this.#port);
    const start = performance.now();
    this.#open++;
    try {
      const { status, text } = await caller.ask(this.#asked);
      if (status !== 200) this.#failures.push(`${status}: ${text.slice(0, 200)}`);
      this.#idle.push(caller);
    } catch (error) {
      this.#failures.push(String(error));
    }
    this.#latencies.push(performance.now() - start);
    this.#open--;
  }
}
