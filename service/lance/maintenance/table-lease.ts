import { describeFailure } from "./maintained-tables.ts";
import type { MaintenanceRecord } from "./maintenance-record.ts";

type Leases = Pick<MaintenanceRecord, "acquire" | "renew" | "giveBack" | "compact">;

/** A lease that is held. */
export interface HeldLease {
  /** Aborted, with the reason, when the lease is lost or about to end. */
  readonly signal: AbortSignal;
  /** Ends the renewal; the lease itself stays. */
  stop(): void;
}

/** Renews a lease that was just taken. */
export const keepLease = (
  record: Pick<Leases, "renew">,
  table: string,
  owner: string,
  milliseconds: number,
): HeldLease => {
  const lost = new AbortController();
  let heldUntil = Date.now() + milliseconds;
  let isRenewing = false;
  const renewal = setInterval(async () => {
    // On a slow store, renewals at once would conflict with each other.
    if (isRenewing) return;
    isRenewing = true;
    const from = Date.now();
    try {
      if (await record.renew(table, owner, milliseconds)) heldUntil = from + milliseconds;
      else lost.abort("another run has taken over its lease");
    } catch (error) {
      // Well before the end, so that this run has stopped when another begins.
      if (Date.now() > heldUntil - milliseconds / 3)
        lost.abort(`its lease could not be renewed: ${describeFailure(error)}`);
    } finally {
      isRenewing = false;
    }
  }, milliseconds / 4);
  return { signal: lost.signal, stop: () => clearInterval(renewal) };
};

/** Runs work while no other run or job works on the table. */
export type UnderLease = <T>(
  table: string,
  owner: string,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T | undefined>;

/** @returns what takes a table's lease for work, or undefined if another run or job holds it. */
export const underLease =
  (record: Leases, milliseconds: number): UnderLease =>
  async (table, owner, work) => {
    if (!(await record.acquire(table, owner, milliseconds))) return undefined;
    const lease = keepLease(record, table, owner, milliseconds);
    try {
      return await work(lease.signal);
    } finally {
      lease.stop();
      // A lease that cannot be given back ends by itself.
      await record
        .giveBack(table, owner)
        .then(() => record.compact())
        .catch(() => undefined);
    }
  };
