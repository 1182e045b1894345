import type { Table } from "@lancedb/lancedb";
import { LRUCache } from "lru-cache";
import { ServiceError } from "../../errors.ts";
import type { TableId } from "../../guard/table-id.ts";
import type { MinimumState, Snapshot } from "../../query/model.ts";
import type { SchemaLimits } from "../arrow/schema-sizes.ts";
import { classify, classifyAccess, isGone } from "../errors/classify.ts";
import { Memoizer, type MemoizerCounts, sumOfCounts } from "../memoizer.ts";
import type { LazyConnection } from "./connection.ts";
import { OpenedTables } from "./opened-tables.ts";

export interface Freshness {
  /** Maximum staleness of the latest version, in seconds. 0 checks the store at every request. */
  readonly consistencySeconds: number;
  /**
   * Maximum age of the handle of a version, and of a table in a namespace, in seconds. It bounds how long a request may
   * read a table that was dropped and created again, or a table that no longer has that name.
   */
  readonly pinnedSeconds: number;
  /** Maximum number of handles of each kind. */
  readonly maxHandles: number;
  /** Maximum bytes of the schemas and manifests of all handles. */
  readonly maxHandleBytes: number;
  /** Bounds on tables that others made, in a process that must not end. Absent: tables of any schema are read. */
  readonly opened?: SchemaLimits;
}

/** A client's clock may be ahead of this machine's by so many milliseconds; a later timestamp is ignored. */
const clockSkewMs = 60_000;

/** After a requested minimum version was not found, requests for versions do not reopen the table for so many milliseconds. */
const absentVersionMs = 1000;

const defaultBranch = "main";

/**
 * Cached table handles. A handle is never checked out to another version once it is cached, because its version is
 * mutable state that concurrent requests share (`test/service/store/race.test.ts` shows the wrong results).
 */
export class TableHandles {
  readonly #connection: LazyConnection;
  readonly #latest: Memoizer<string, Table>;
  readonly #pinned: Memoizer<string, Table>;
  /** Whether every request checks the store. */
  readonly #strong: boolean;
  /** When a handle was opened, in milliseconds since 1970. */
  readonly #openedAt = new WeakMap<Table, number>();
  /** The newest version that a handle has reported. */
  readonly #versions = new WeakMap<Table, number>();
  /** Tables that did not have a requested minimum version a moment ago. */
  readonly #absentVersions: LRUCache<string, true>;
  /** Milliseconds for which the handle of a branch's newest version is kept. */
  readonly #headMs: number;
  /** Milliseconds for which the handle of a table in a namespace is kept: its name may be moved to another table. */
  readonly #namedMs: number;

  /** Opened handles: their sizes, and when they are closed. */
  readonly #opened: OpenedTables;

  constructor(connection: LazyConnection, freshness: Freshness) {
    const { consistencySeconds, pinnedSeconds, maxHandles: max, maxHandleBytes, opened } = freshness;
    this.#connection = connection;
    this.#opened = new OpenedTables(opened);
    const kept = {
      max,
      // The handles of the newest versions, and those of others.
      maxBytes: Math.floor(maxHandleBytes / 2),
      bytesOf: (table: Table) => this.#opened.bytesOf(table),
      onRemove: (table: Table) => this.#opened.retire(table),
    };
    this.#strong = consistencySeconds === 0;
    // Within the staleness bound, the SDK itself checks for newer versions, once per interval for all callers.
    this.#latest = new Memoizer(this.#strong ? { max, ttlMs: 0 } : { ...kept, ttlMs: Number.POSITIVE_INFINITY });
    this.#pinned = new Memoizer({ ...kept, ttlMs: Math.max(1, pinnedSeconds * 1000) });
    this.#headMs = consistencySeconds * 1000;
    // Half, because the handle of a version derives from one of the latest version: their ages add up.
    this.#namedMs = Math.max(1, pinnedSeconds * 500);
    // The cache takes whole milliseconds only.
    const absentMs = Math.ceil(Math.min(absentVersionMs, this.#headMs));
    this.#absentVersions = new LRUCache({ max, ttl: Math.max(1, absentMs) });
  }

  /** For the metrics. With strong consistency, handles of the latest version are neither kept nor counted. */
  get counts(): MemoizerCounts {
    return this.#strong ? this.#pinned.counts : sumOfCounts(this.#latest.counts, this.#pinned.counts);
  }

  /**
   * Runs `action` on a handle of the snapshot. If the data of a cached handle no longer exists, the table is reopened
   * and the action runs once more, because the table may have been dropped and created again.
   * @throws ServiceError
   */
  use<T>(id: TableId, snapshot: Snapshot, action: (table: Table) => Promise<T>): Promise<T> {
    return this.#opened.hold(() => this.#use(id, snapshot, action));
  }

  async #use<T>(id: TableId, snapshot: Snapshot, action: (table: Table) => Promise<T>): Promise<T> {
    const handle = await this.#open(id, snapshot);
    try {
      return await action(handle);
    } catch (error) {
      if (!isGone(error)) throw classify(error);
    }
    this.evict(id.key);
    const reopened = await this.#open(id, snapshot);
    try {
      return await action(reopened);
    } catch (error) {
      throw classify(error);
    }
  }

  async #open(id: TableId, snapshot: Snapshot): Promise<Table> {
    if (snapshot.version !== undefined || snapshot.branch !== undefined) return this.#openPinned(id, snapshot);
    const latest = await this.#openLatest(id);
    // With strong consistency, this is already the newest state.
    if (snapshot.minimumState === undefined || this.#strong) return latest;
    try {
      return await this.#openMinimumState(snapshot.minimumState, id, latest);
    } catch (error) {
      // The cached handle may have lost its data: its use fails as well, and then the table is reopened.
      if (isGone(error)) return latest;
      throw classify(error);
    }
  }

  #openLatest(id: TableId): Promise<Table> {
    return this.#strong
      ? this.#latest.renew(id.key, () => this.#openOnce(() => this.#openTable(id)))
      : this.#latest.get(id.key, () => this.#openTable(id), { ttlMs: this.#namedMsOf(id) });
  }

  /** A handle for the calls of now: no cache keeps it. */
  async #openOnce(open: () => Promise<Table>): Promise<Table> {
    const table = await open();
    this.#opened.retire(table);
    return table;
  }

  /** Undefined for a table at the root: its name is its directory, so it cannot be moved to another table. */
  #namedMsOf(id: TableId): number | undefined {
    return id.namespace.length > 0 ? this.#namedMs : undefined;
  }

  /**
   * Reopens the table if the client has observed a newer state than the cached handle may have. Concurrent requests
   * share that, and use the result even if it is older than requested. A state that cannot exist, such as a future time
   * or a missing version, must not make the service reopen the table at every request.
   */
  async #openMinimumState(minimumState: MinimumState, id: TableId, cached: Table): Promise<Table> {
    const { time = 0, version = 0 } = minimumState;
    const now = Date.now();
    const isRecent = time > now + clockSkewMs || (this.#openedAt.get(cached) ?? 0) >= Math.min(time, now);
    if (isRecent && (this.#absentVersions.has(id.key) || (await this.#reaches(cached, version)))) return cached;
    const newest = await this.#latest.renew(id.key, () => this.#openTable(id), this.#namedMsOf(id));
    if (!(await this.#reaches(newest, version))) this.#absentVersions.set(id.key, true);
    return newest;
  }

  /** A handle's version only grows, so it is read again only for a version newer than it has reported. */
  async #reaches(table: Table, version: number): Promise<boolean> {
    if ((this.#versions.get(table) ?? -1) >= version) return true;
    const now = await table.version();
    this.#versions.set(table, now);
    return now >= version;
  }

  #openPinned(id: TableId, snapshot: Snapshot): Promise<Table> {
    const key = JSON.stringify([id.key, snapshot.branch ?? defaultBranch, snapshot.version ?? null]);
    const checkout = async (): Promise<Table> => {
      const latest = await this.#openLatest(id);
      try {
        // Returns a new handle and leaves `latest` unchanged.
        return await this.#opened.open(key, async () =>
          (await latest.branches()).checkout(snapshot.branch ?? defaultBranch, snapshot.version),
        );
      } catch (error) {
        if (!isGone(error)) throw classify(error);
        throw await this.#explainAbsence(id, snapshot, error);
      }
    };
    const namedMs = this.#namedMsOf(id);
    if (snapshot.version !== undefined) return this.#pinned.get(key, checkout, { ttlMs: namedMs });
    // The newest version of a branch has the same staleness bound as that of the table.
    const ttlMs = Math.min(this.#headMs, namedMs ?? this.#headMs);
    return this.#strong ? this.#openOnce(checkout) : this.#pinned.get(key, checkout, { ttlMs });
  }

  /**
   * Finds out whether the version, the branch or the table is missing. Only a missing table evicts its handles:
   * otherwise requests for missing versions would evict the handles of other requests.
   */
  async #explainAbsence(id: TableId, snapshot: Snapshot, cause: unknown): Promise<ServiceError> {
    const table = await this.#openOnce(() => this.#openTable(id)).catch((error: unknown) => {
      this.evict(id.key);
      throw error;
    });
    if (snapshot.branch === undefined) return new ServiceError(11, { cause });
    if (snapshot.version === undefined) return new ServiceError(22, { cause });
    try {
      await (await table.branches()).checkout(snapshot.branch);
      return new ServiceError(11, { cause });
    } catch (error) {
      return isGone(error) ? new ServiceError(22, { cause }) : classify(error);
    }
  }

  async #openTable(id: TableId): Promise<Table> {
    const now = Date.now();
    try {
      const table = await this.#opened.open(id.key, () => this.#connection.openTable(id.name, id.namespace));
      this.#openedAt.set(table, now);
      return table;
    } catch (error) {
      const meaning = classifyAccess(error);
      if (meaning.code === 4 && id.namespace.length > 0) await this.#requireNamespace(id);
      throw meaning;
    }
  }

  async #requireNamespace(id: TableId): Promise<void> {
    const connection = await this.#connection.get();
    try {
      await connection.describeNamespace([...id.namespace]);
    } catch (error) {
      throw classifyAccess(error);
    }
  }

  /** Removes all handles of a table. Requests that hold one may continue to use it. @param tableKey key of its id. */
  evict(tableKey: string): void {
    this.#latest.evict((key) => key === tableKey);
    this.#pinned.evict((key) => JSON.parse(key)[0] === tableKey);
    this.#opened.forget(tableKey);
  }
}
