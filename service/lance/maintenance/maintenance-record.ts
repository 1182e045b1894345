import { setTimeout as sleep } from "node:timers/promises";
import type { Table } from "@lancedb/lancedb";
import { Schema } from "apache-arrow";
import { type CacheSizes, type DatabaseAddress, LazyConnection } from "../connection/connection.ts";
import { compactOwn, number, openExisting, openOrCreate, ownDatabase, quoted, text } from "../records/own-table.ts";
import { isConflict } from "./maintained-tables.ts";

/** What runs know about a table, beside its own files. */
export interface RecordRow {
  /** The table's id, joined by `$`. */
  readonly table: string;
  /** The run that works on it; empty: none. */
  readonly owner: string;
  /** Milliseconds since 1970 at which the owner's lease ends. */
  readonly expiresAt: number;
  /** When it was first found to be due, in milliseconds since 1970; 0: it is not due. */
  readonly dueSince: number;
  /** When a run last ended its work on it, in milliseconds since 1970. */
  readonly finishedAt: number;
  /** The version of the table at which a run found that nothing more can be done; -1: none. */
  readonly exhaustedAt: number;
  /** What is left, for people. */
  readonly note: string;
}

export type Outcome = Pick<RecordRow, "dueSince" | "finishedAt" | "exhaustedAt" | "note">;

const tableName = "maintenance";

const schema = new Schema([
  ...["table", "owner", "note"].map(text),
  ...["expires_at", "due_since", "finished_at", "exhausted_at"].map(number),
]);

/** Attempts at a lease that two runs took at once, and the maximum pause between them in milliseconds. */
const leaseAttempts = 5;
const leasePauseMs = 500;

/** Versions after which the record itself is compacted. */
const versionsPerCompaction = 50;

/**
 * The record of all runs, a table of its own in the database, and the leases in it. An update with a condition is atomic: the
 * SDK commits by a conditional put, and evaluates the condition again after a conflict. So a lease needs no other client
 * of the store than the SDK, on a directory as in a bucket.
 */
export class MaintenanceRecord {
  readonly #connection: LazyConnection;
  readonly #uri: string;
  readonly #now: () => number;

  constructor(address: DatabaseAddress, caches: CacheSizes, now: () => number = Date.now) {
    const own = ownDatabase(address);
    this.#uri = own.uri;
    this.#connection = new LazyConnection(own, caches, 0);
    this.#now = now;
  }

  #table(): Promise<Table> {
    return openOrCreate(this.#connection, tableName, schema);
  }

  /** By table. No record exists before the first run that found a table due. */
  async rows(): Promise<ReadonlyMap<string, RecordRow>> {
    // A dry run must not create it.
    const table = await openExisting(this.#connection, this.#uri, tableName);
    const rows = (await table?.query().toArray()) ?? [];
    return new Map(
      rows.map((row) => [
        row.table,
        {
          table: row.table,
          owner: row.owner,
          expiresAt: row.expires_at,
          dueSince: row.due_since,
          finishedAt: row.finished_at,
          exhaustedAt: row.exhausted_at,
          note: row.note,
        },
      ]),
    );
  }

  async #update(where: string, values: Readonly<Record<string, string | number>>): Promise<boolean> {
    const table = await this.#table();
    return Number((await table.update({ where, values: { ...values } })).rowsUpdated) > 0;
  }

  async #ensureRow(table: string): Promise<void> {
    const row = { table, owner: "", note: "", expires_at: 0, due_since: 0, finished_at: 0, exhausted_at: -1 };
    // Two runs may both insert it. Then there are two rows of one table, which every later update changes alike.
    await (await this.#table()).mergeInsert("table").whenNotMatchedInsertAll().execute([row], { timeoutMs: 60_000 });
  }

  /**
   * Takes the lease of a table unless another run holds one that has not ended; the same owner takes its own again. Of two runs that insert the first row of a
   * table at once, each may take the lease of its own row; then each finds the other's, gives its own back, and tries again
   * with both rows.
   *
   * Of two runs that create the record at once in a directory, the second may replace the first's: then the first's next change
   * conflicts, and it tries again, too.
   * @returns whether it was taken.
   */
  async acquire(table: string, owner: string, milliseconds: number): Promise<boolean> {
    for (let attempt = 1; attempt <= leaseAttempts; attempt++) {
      try {
        await this.#ensureRow(table);
        const taken = await this.#take(table, owner, milliseconds);
        if (taken !== undefined) return taken;
      } catch (error) {
        if (!isConflict(error) || attempt === leaseAttempts) throw error;
      }
      await sleep(Math.random() * leasePauseMs);
    }
    return false;
  }

  /** @returns undefined if another run took the lease of another row of the table, and this one was given back. */
  async #take(table: string, owner: string, milliseconds: number): Promise<boolean | undefined> {
    const now = this.#now();
    const free = `(owner = '' OR owner = ${quoted(owner)} OR expires_at < ${now})`;
    const values = { owner, expires_at: now + milliseconds };
    if (!(await this.#update(`"table" = ${quoted(table)} AND ${free}`, values))) return false;
    const others = await (await this.#table()).countRows(
      `"table" = ${quoted(table)} AND owner != ${quoted(owner)} AND owner != '' AND expires_at >= ${now}`,
    );
    if (others === 0) return true;
    await this.giveBack(table, owner);
    return undefined;
  }

  /** Ends a lease. What the record says of the table's maintenance stays. */
  async giveBack(table: string, owner: string): Promise<void> {
    await this.#update(this.#held(table, owner), { owner: "", expires_at: 0 });
  }

  /** Extends a lease. @returns false if another run has taken it over. */
  renew(table: string, owner: string, milliseconds: number): Promise<boolean> {
    return this.#update(this.#held(table, owner), { expires_at: this.#now() + milliseconds });
  }

  /** Ends a lease and keeps the outcome. @returns false if another run has taken it over. */
  release(table: string, owner: string, { dueSince, finishedAt, exhaustedAt, note }: Outcome): Promise<boolean> {
    return this.#update(this.#held(table, owner), {
      owner: "",
      expires_at: 0,
      due_since: dueSince,
      finished_at: finishedAt,
      exhausted_at: exhaustedAt,
      note,
    });
  }

  /** Each lease adds versions and fragments to the record as well. */
  async compact(): Promise<void> {
    await compactOwn(await this.#table(), this.#now(), versionsPerCompaction);
  }

  #held(table: string, owner: string): string {
    return `"table" = ${quoted(table)} AND owner = ${quoted(owner)}`;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
