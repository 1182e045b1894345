import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Table } from "@lancedb/lancedb";
import { Field, Float64, type Schema, Utf8 } from "apache-arrow";
import type { DatabaseAddress, LazyConnection } from "../connection/connection.ts";
import { classify, classifyAccess } from "../errors/classify.ts";
import { cleanUpOf } from "../maintenance/clean-up.ts";
import { isConflict, readHistory } from "../maintenance/maintained-tables.ts";

/** A directory beside the tables, which no list of the catalog has. The SDK lists only directories that end with `.lance`. */
export const ownDatabase = ({ uri, storageOptions }: DatabaseAddress): DatabaseAddress => ({
  uri: `${uri.replace(/\/+$/, "")}/_lakehead`,
  storageOptions,
});

export const text = (name: string) => new Field(name, new Utf8(), false);
export const number = (name: string) => new Field(name, new Float64(), false);

/** A text in SQL. */
export const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Writers of other replicas may be faster, several times. */
const attempts = 8;
const pauseMs = 100;

/** Versions of the tables that are kept, in milliseconds: for longer than any call on them takes. */
const keptMs = 3_600_000;

const isMissing = (error: unknown): boolean => /was not found|[Nn]ot found/.test(String(error));

/** @returns undefined if nothing was ever written. */
export const openExisting = async (
  connection: LazyConnection,
  uri: string,
  name: string,
): Promise<Table | undefined> => {
  // The SDK creates a directory by connecting to it.
  if (connection.localPath !== undefined && !existsSync(uri)) return undefined;
  try {
    return await connection.openTable(name, []);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

export const openOrCreate = async (connection: LazyConnection, name: string, schema: Schema): Promise<Table> => {
  try {
    return await connection.openTable(name, []);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const opened = await connection.get();
  try {
    return await opened.createEmptyTable(name, schema, { existOk: true });
  } catch (error) {
    // Another process has created it.
    return connection.openTable(name, []).catch(() => {
      throw error;
    });
  }
};

/** Merges what many small changes have left, and removes old versions, if there are more than `versions`. */
export const compactOwn = async (table: Table, now: number, versions: number): Promise<void> => {
  const history = await readHistory(table);
  if (history.versions.length <= versions) return;
  const { deleteBefore = 0 } = cleanUpOf(history, keptMs, now) ?? {};
  await table.optimize({ cleanupOlderThan: new Date(deleteBefore), deleteUnverified: deleteBefore > 0 });
};

/** One of the service's own tables beside `_lakehead/maintenance`; made by the first write. */
export class OwnTable {
  readonly #connection: LazyConnection;
  readonly #uri: string;
  readonly #name: string;
  readonly #schema: Schema;
  #open: Promise<Table> | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(connection: LazyConnection, uri: string, name: string, schema: Schema) {
    this.#connection = connection;
    this.#uri = uri;
    this.#name = name;
    this.#schema = schema;
  }

  /** A handle that reads the newest version. */
  #opened(): Promise<Table> {
    this.#open ??= this.#connection.openTable(this.#name, []).catch((error: unknown) => {
      this.#open = undefined;
      throw error;
    });
    return this.#open;
  }

  /** @returns undefined if nothing was ever written. */
  async read<T>(use: (table: Table) => Promise<T>): Promise<T | undefined> {
    // The SDK creates a directory by connecting to it.
    if (this.#connection.localPath !== undefined && !existsSync(this.#uri)) return undefined;
    try {
      return await use(await this.#opened());
    } catch (error) {
      this.#open = undefined;
      if (isMissing(error)) return undefined;
      throw classifyAccess(error, 18);
    }
  }

  /** Writes of this process take turns: at once, they would conflict with each other. */
  async write<T>(use: (table: Table) => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => this.#attempt(use));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #attempt<T>(use: (table: Table) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++)
      try {
        const table = await this.#opened().catch((error: unknown) => {
          if (!isMissing(error)) throw error;
          this.#open = openOrCreate(this.#connection, this.#name, this.#schema);
          return this.#open;
        });
        return await use(table);
      } catch (error) {
        this.#open = undefined;
        if (!isConflict(error) || attempt === attempts) throw classify(error, 18);
        await sleep(pauseMs * attempt * Math.random());
      }
  }

  async compact(now: number, versions = 0): Promise<void> {
    await this.read((table) => compactOwn(table, now, versions));
  }
}
