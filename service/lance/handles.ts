import type { Table } from "@lancedb/lancedb";
import { LRUCache } from "lru-cache";
import { ServiceError } from "../errors.ts";
import type { TableId } from "../guard/table-id.ts";
import type { AtLeast, Snapshot } from "../query/model.ts";
import { classify, classifyAccess, isGone } from "./classify.ts";
import type { LazyConnection } from "./connection.ts";
import { HandleCache, type HandleCounts, sumOfCounts } from "./handle-cache.ts";
import { Windowed } from "./windowed.ts";

export interface Freshness {
  /**
   * Seconds that an answer about "latest" may lag behind another process's write. 0 asks the store at every request.
   */
  readonly consistencySeconds: number;
  /**
   * Seconds that a version's handle is trusted, and a name in a namespace: bounds how long a table dropped and made anew
   * may answer as its old self, and one by a name that was taken from it.
   */
  readonly pinnedSeconds: number;
  /** Handles to keep, of each kind. */
  readonly maxHandles: number;
}

/** Requests for the newest state that arrive within this many milliseconds share one look at the store. */
const strongWindowMs = 2;

/** A client's clock may be so many milliseconds ahead of ours; a time beyond that says nothing. */
const clockSkewMs = 60_000;

/** For so many milliseconds after a version was looked for in vain, no other that is not there is looked for. */
const vainWindowMs = 1000;

const branchOrMain = "main";

/**
 * Every handle in here stays as it was opened: nothing is ever checked out on a handle that another request may hold,
 * because a handle is one mutable state (a shared one answered 97 % of racing queries from a wrong version).
 */
export class TableHandles {
  readonly #connection: LazyConnection;
  readonly #latest: HandleCache;
  readonly #pinned: HandleCache;
  readonly #strong: Windowed<Table> | undefined;
  readonly #renewals = new Windowed<Table>(strongWindowMs);
  /** When a handle was opened, in milliseconds since 1970. */
  readonly #openedAt = new WeakMap<Table, number>();
  /** The newest version that a handle was seen at. */
  readonly #versions = new WeakMap<Table, number>();
  /** Tables of which a version that is not there was asked for a moment ago. */
  readonly #soughtInVain: LRUCache<string, true>;
  /** Milliseconds that the handle of a branch's head is kept. */
  readonly #headMs: number;
  /** Milliseconds that a handle of a table in a namespace is kept, whose name may come to lead to another or to none. */
  readonly #namedMs: number;

  constructor(connection: LazyConnection, freshness: Freshness) {
    this.#connection = connection;
    // The SDK itself looks for newer versions behind a "latest" handle, once per interval however many ask.
    this.#latest = new HandleCache(freshness.maxHandles);
    this.#pinned = new HandleCache(freshness.maxHandles, Math.max(1, freshness.pinnedSeconds * 1000));
    this.#headMs = freshness.consistencySeconds * 1000;
    // A version's handle comes from one of the newest state, so that the two ages add up.
    this.#namedMs = Math.max(1, freshness.pinnedSeconds * 500);
    this.#soughtInVain = new LRUCache({
      max: freshness.maxHandles,
      ttl: Math.max(1, Math.min(vainWindowMs, this.#headMs)),
    });
    this.#strong = freshness.consistencySeconds === 0 ? new Windowed(strongWindowMs) : undefined;
  }

  /** For the metrics. Where every request looks at the store, handles of the newest state are not kept and not counted. */
  get counts(): HandleCounts {
    return sumOfCounts([this.#latest.counts, this.#pinned.counts]);
  }

  /**
   * Runs `action` on a handle of the snapshot. Where the data behind a kept handle turns out to be gone, the table is
   * opened anew and the action runs once more: it may have been dropped and made again.
   * @throws ServiceError
   */
  async use<T>(id: TableId, snapshot: Snapshot, action: (table: Table) => Promise<T>): Promise<T> {
    const handle = await this.#open(id, snapshot);
    try {
      return await action(handle);
    } catch (error) {
      if (!isGone(error)) throw classify(error);
    }
    this.#evict(id);
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
    // Where every request looks at the store, nothing newer can be had.
    if (snapshot.atLeast === undefined || this.#strong !== undefined) return latest;
    try {
      return await this.#asNewAs(snapshot.atLeast, id, latest);
    } catch (error) {
      // What is kept may have lost its data; using it shows that, and has it opened anew.
      if (isGone(error)) return latest;
      throw classify(error);
    }
  }

  #openLatest(id: TableId): Promise<Table> {
    if (this.#strong !== undefined) return this.#strong.get(id.key, () => this.#openTable(id));
    return this.#latest.get(id.key, () => this.#openTable(id), this.#namedMsOf(id));
  }

  /** Undefined for a table at the root, whose name is its place: it is there or it is gone. */
  #namedMsOf(id: TableId): number | undefined {
    return id.namespace.length > 0 ? this.#namedMs : undefined;
  }

  /**
   * Opens the table anew where the client has seen more than a kept handle may know. All who ask within a moment share
   * that; what is there then is the answer, whatever was asked for. What no client can have seen, a time to come or a
   * version that is not there, must not keep the table cold for the others.
   */
  async #asNewAs(atLeast: AtLeast, id: TableId, kept: Table): Promise<Table> {
    const { time = 0, version = 0 } = atLeast;
    const now = Date.now();
    const isRecent = time > now + clockSkewMs || (this.#openedAt.get(kept) ?? 0) >= Math.min(time, now);
    if (isRecent && (this.#soughtInVain.has(id.key) || (await this.#reaches(kept, version)))) return kept;
    const newest = await this.#renewals.get(id.key, () =>
      this.#latest.renew(id.key, () => this.#openTable(id), this.#namedMsOf(id)),
    );
    if (!(await this.#reaches(newest, version))) this.#soughtInVain.set(id.key, true);
    return newest;
  }

  /** A handle's version only grows, so that one native call answers until a client has seen a newer one. */
  async #reaches(table: Table, version: number): Promise<boolean> {
    if ((this.#versions.get(table) ?? -1) >= version) return true;
    const now = await table.version();
    this.#versions.set(table, now);
    return now >= version;
  }

  #openPinned(id: TableId, snapshot: Snapshot): Promise<Table> {
    const checkout = async (): Promise<Table> => {
      const latest = await this.#openLatest(id);
      try {
        // Gives a handle of its own and leaves `latest` as it is.
        return await (await latest.branches()).checkout(snapshot.branch ?? branchOrMain, snapshot.version);
      } catch (error) {
        if (!isGone(error)) throw classify(error);
        throw await this.#explainAbsence(id, snapshot, error);
      }
    };
    const key = JSON.stringify([id.key, snapshot.branch ?? branchOrMain, snapshot.version ?? null]);
    const namedMs = this.#namedMsOf(id);
    if (snapshot.version !== undefined) return this.#pinned.get(key, checkout, namedMs);
    // A branch's head moves: it is looked up anew as often as "latest" is.
    const headMs = Math.min(this.#headMs, namedMs ?? this.#headMs);
    return this.#strong === undefined ? this.#pinned.get(key, checkout, headMs) : checkout();
  }

  /**
   * The version or branch is not there: is it the version, the branch or the whole table? Only the last is a reason to
   * give up what is kept, or whoever asks for versions that never were would keep the others' handles cold.
   */
  async #explainAbsence(id: TableId, snapshot: Snapshot, cause: unknown): Promise<ServiceError> {
    const table = await this.#openTable(id).catch((error: unknown) => {
      this.#evict(id);
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
      const table = await this.#connection.openTable(id.name, id.namespace);
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

  #evict(id: TableId): void {
    this.#latest.evict((key) => key === id.key);
    this.#pinned.evict((key) => JSON.parse(key)[0] === id.key);
  }
}
