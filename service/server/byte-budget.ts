import { ServiceError } from "../errors.ts";
import type { SpareBytes } from "../operations/operation.ts";

/** Of all callers: enough for one stream to be as fast as its store. More would keep others from their first bytes. */
const maxSpareBytes = 16 * 2 ** 20;

/** Fewer bytes are not counted: a connection has one request at a time. */
export const smallBytes = 64 * 1024;

export interface BudgetLimits {
  /** Bytes of all callers. */
  readonly totalBytes: number;
  /** Bytes of one caller. A single reservation may always be as large. */
  readonly callerBytes: number;
}

interface Waiting {
  readonly caller: string;
  readonly bytes: number;
  admit(): void;
}

/** Bytes of a budget that one request holds. */
export class Reservation {
  readonly #budget: ByteBudget;
  readonly #caller: string;
  #bytes = 0;
  #spareBytes = 0;
  #released = false;

  constructor(budget: ByteBudget, caller: string) {
    this.#budget = budget;
    this.#caller = caller;
  }

  /**
   * Waits until so many bytes are free. @param client its signal is aborted when it disconnects; read only if it waits.
   * @throws ServiceError code 17 or 21 if that takes too long.
   */
  async wait(bytes: number, client: { readonly signal: AbortSignal }): Promise<void> {
    if (bytes <= smallBytes) return;
    await this.#budget.wait(this.#caller, bytes, client);
    this.#bytes = bytes;
  }

  /** @throws ServiceError code 17 or 21 if it grows beyond what is free. */
  resize(bytes: number): void {
    const wanted = bytes <= smallBytes ? 0 : bytes;
    if (wanted > this.#bytes) this.#budget.take(this.#caller, wanted - this.#bytes);
    else this.#budget.give(this.#caller, this.#bytes - wanted);
    this.#bytes = wanted;
  }

  /** Free memory, to be given back soon: a request that begins to wait gets it. */
  readonly spare: SpareBytes = {
    take: (bytes) => {
      const isFree = !this.#released && this.#budget.takeSpare(this.#caller, bytes);
      if (isFree) this.#spareBytes += bytes;
      return isFree;
    },
    give: (bytes) => {
      const given = Math.min(bytes, this.#spareBytes);
      if (given > 0) this.#budget.giveSpare(this.#caller, given);
      this.#spareBytes -= given;
    },
  };

  release(): void {
    this.resize(0);
    this.spare.give(this.#spareBytes);
    this.#released = true;
  }
}

/** Bounds what the requests of each caller, and of all, keep in memory at once. */
export class ByteBudget {
  readonly #limits: BudgetLimits;
  readonly #maxWaitMs: number;
  readonly #what: string;
  readonly #usedBy = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #spare = 0;
  #used = 0;

  /** @param what names the bytes in a refusal. @param maxWaitMs a reservation waits at most. */
  constructor(limits: BudgetLimits, maxWaitMs: number, what: string) {
    this.#limits = limits;
    this.#maxWaitMs = maxWaitMs;
    this.#what = what;
  }

  /** Bytes that are in use. */
  get used(): number {
    return this.#used;
  }

  /** Requests of other callers, and smaller ones, may overtake one that waits. */
  async wait(caller: string, bytes: number, client: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#waitingOf(caller) === 0 && this.#fits(caller, bytes)) this.#add(caller, bytes);
    else await this.#enqueue(caller, bytes, client.signal);
  }

  /** @throws ServiceError code 17 or 21 if so many bytes are not free. */
  take(caller: string, bytes: number): void {
    if (!this.#fits(caller, bytes)) throw this.#refusal(caller, bytes);
    this.#add(caller, bytes);
  }

  /** @returns whether so many bytes were free that no request waits for. */
  takeSpare(caller: string, bytes: number): boolean {
    if (this.#waiting.size > 0 || this.#spare + bytes > maxSpareBytes || !this.#fits(caller, bytes)) return false;
    this.#add(caller, bytes);
    this.#spare += bytes;
    return true;
  }

  giveSpare(caller: string, bytes: number): void {
    this.#spare -= bytes;
    this.give(caller, bytes);
  }

  give(caller: string, bytes: number): void {
    if (bytes === 0) return;
    this.#used -= bytes;
    const left = (this.#usedBy.get(caller) ?? bytes) - bytes;
    if (left > 0) this.#usedBy.set(caller, left);
    else this.#usedBy.delete(caller);
    for (const waiting of this.#waiting) if (this.#fits(waiting.caller, waiting.bytes)) waiting.admit();
  }

  #waitingOf(caller: string): number {
    return [...this.#waiting].filter((waiting) => waiting.caller === caller).length;
  }

  #fits(caller: string, bytes: number): boolean {
    const { totalBytes, callerBytes } = this.#limits;
    return this.#used + bytes <= totalBytes && (this.#usedBy.get(caller) ?? 0) + bytes <= callerBytes;
  }

  #add(caller: string, bytes: number): void {
    this.#used += bytes;
    this.#usedBy.set(caller, (this.#usedBy.get(caller) ?? 0) + bytes);
  }

  #refusal(caller: string, bytes: number): ServiceError {
    const { callerBytes } = this.#limits;
    return (this.#usedBy.get(caller) ?? 0) + bytes > callerBytes
      ? new ServiceError(21, {
          message: `the ${this.#what} of this principal take more than ${callerBytes} bytes at once: finish some, then retry`,
          retryAfter: 1,
        })
      : new ServiceError(17, { message: `the service is at its limit of ${this.#what}; retry`, retryAfter: 1 });
  }

  #enqueue(caller: string, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener("abort", refuse);
      };
      const refuse = (): void => {
        leave();
        reject(this.#refusal(caller, bytes));
      };
      const waiting: Waiting = {
        caller,
        bytes,
        admit: () => {
          leave();
          this.#add(caller, bytes);
          resolve();
        },
      };
      const timer = setTimeout(refuse, this.#maxWaitMs);
      signal.addEventListener("abort", refuse, { once: true });
      this.#waiting.add(waiting);
    });
  }
}
