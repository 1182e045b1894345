import { family, residentBytesOf } from "./processes.ts";

const everyMs = 50;

/** Watches the resident memory of a process and its children. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #peak = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.now(), everyMs);
  }

  /** Resident bytes now. */
  now(): number {
    const bytes = residentBytesOf(family(this.#pid));
    this.#peak = Math.max(this.#peak, bytes);
    return bytes;
  }

  /** Maximum since the last call, in bytes. */
  takePeak(): number {
    this.now();
    const peak = this.#peak;
    this.#peak = 0;
    return peak;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
