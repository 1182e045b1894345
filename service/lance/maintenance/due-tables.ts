import type { CacheSizes, DatabaseAddress } from "../connection/connection.ts";
import { MaintenanceRecord } from "./maintenance-record.ts";

/** Milliseconds between two readings of the record. */
const intervalMs = 60_000;

/**
 * What runs of the maintenance have left undone, from their record in the database. A run ends before anyone could read its
 * metrics, so the service has them.
 */
export class DueTables {
  readonly #record: MaintenanceRecord;
  readonly #timer: NodeJS.Timeout;
  #since: readonly number[] = [];

  constructor(address: DatabaseAddress, caches: CacheSizes) {
    this.#record = new MaintenanceRecord(address, caches);
    this.#timer = setInterval(() => void this.#read(), intervalMs).unref();
    void this.#read();
  }

  /** Tables that were due at the last run that looked at them, and are not done. */
  get count(): number {
    return this.#since.length;
  }

  /** For how long the first of them has been due, in seconds; 0 if there is none. */
  get seconds(): number {
    return this.#since.length === 0 ? 0 : Math.max(0, (Date.now() - Math.min(...this.#since)) / 1000);
  }

  async #read(): Promise<void> {
    try {
      const rows = [...(await this.#record.rows()).values()];
      this.#since = rows.map(({ dueSince }) => dueSince).filter((since) => since > 0);
    } catch {
      // The store's own metric says that it does not respond; the last figures stay.
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#record.close();
  }
}
