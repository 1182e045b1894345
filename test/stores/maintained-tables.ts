import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, connect, Index, type Table } from "@lancedb/lancedb";
import { expect } from "vitest";
import {
  type FinishedRun,
  finish,
  idsOf,
  outcomeOf,
  range,
  rowsFrom,
  shortHistory,
  shortHistoryMs,
  startRun,
} from "../service/maintenance/support.ts";
import { bucketName, type ObjectStore } from "../support/object-store.ts";
import type { Running } from "../support/process.ts";
import type { Place } from "./place.ts";

/** A database, and the files of a table in it. */
export interface MaintainedPlace extends Place {
  filesOf(table: string): Promise<readonly string[]>;
}

export const inDirectory = (uri: string): MaintainedPlace => ({
  uri,
  storageOptions: {},
  filesOf: (table) => readdir(join(uri, `${table}.lance`), { recursive: true }),
});

export const inStore = ({ uri, endpoint, storageOptions }: ObjectStore): MaintainedPlace => ({
  uri,
  storageOptions,
  filesOf: async (table) => {
    const prefix = `${new URL(uri).pathname.slice(1)}/${table}.lance/`;
    const address = `${endpoint}/${bucketName}?list-type=2&prefix=${encodeURIComponent(prefix)}`;
    const listing = await (await fetch(address)).text();
    return [...listing.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key = ""]) => key.slice(prefix.length));
  },
});

const rowsAtOnce = 300;
const singleRows = 12;
/** The ids of the rows of a table that `make` made. */
export const madeIds = range(0, rowsAtOnce + singleRows);
const shortLeaseMs = 2000;

/** Under these rules a table is due as `make` makes it, and a version is deleted soon after it was replaced. */
export const environmentOf = (
  { storageOptions }: Place,
  { keptMs = shortHistoryMs, leaseSeconds = shortLeaseMs / 1000 } = {},
): Readonly<Record<string, string>> => ({
  ...shortHistory,
  LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(storageOptions),
  LAKEHEAD_MAINTENANCE_LEASE_SECONDS: String(leaseSeconds),
  LAKEHEAD_MAINTENANCE: JSON.stringify([
    {
      compaction: { smallFragments: 5 },
      indices: { unindexedRows: 5 },
      cleanup: { olderThanHours: keptMs / 3_600_000 },
    },
  ]),
});

/** Tables of a database that are due, and what later runs must make of them. */
export class MaintainedTables {
  readonly #place: MaintainedPlace;
  readonly #connection: Connection;

  private constructor(place: MaintainedPlace, connection: Connection) {
    this.#place = place;
    this.#connection = connection;
  }

  static async in(place: MaintainedPlace): Promise<MaintainedTables> {
    return new MaintainedTables(place, await connect(place.uri, { storageOptions: { ...place.storageOptions } }));
  }

  close(): void {
    this.#connection.close();
  }

  /** A handle of the latest version. */
  open(name: string): Promise<Table> {
    return this.#connection.openTable(name);
  }

  /** A table with an index, and one row in each of many fragments. */
  async make(name: string): Promise<void> {
    const table = await this.#connection.createTable(name, rowsFrom(0, rowsAtOnce));
    await table.createIndex("vector", { config: Index.ivfPq({ numPartitions: 2, numSubVectors: 4 }) });
    for (let id = rowsAtOnce; id < madeIds.length; id++) await table.add(rowsFrom(id, 1));
  }

  startRun(names: readonly string[], environment: Readonly<Record<string, string>> = {}): Running {
    const args = ["--json", ...names.flatMap((name) => ["--table", name])];
    return startRun(this.#place.uri, args, { ...environmentOf(this.#place), ...environment });
  }

  run(names: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<FinishedRun> {
    return finish(this.startRun(names, environment));
  }

  /**
   * Later runs end the work, and when its versions have become old, all files that no version has go with them.
   * @param ids of the rows of each table, by name.
   */
  async expectOrder(ids: Readonly<Record<string, readonly number[]>>): Promise<void> {
    const next = 1_000_000;
    const names = Object.keys(ids);
    const expectRows = async (...added: readonly number[]): Promise<void> => {
      for (const name of names)
        expect(await idsOf(await this.open(name)), name).toEqual([...(ids[name] ?? []), ...added]);
    };
    await expectRows();
    await sleep(shortLeaseMs + 200);
    // The last file of an interrupted step can be younger than each version. It stays until a younger version becomes old, so the
    // table gets one: see "What stays" in docs/maintenance.md.
    for (const name of names) await (await this.open(name)).add(rowsFrom(next, 1));
    for (let round = 0; ; round++) {
      const run = await this.run(names);
      expect(run.code, run.output).toBe(0);
      await expectRows(next);
      const outcomes = names.map((name) => outcomeOf(run, name).outcome);
      if (outcomes.every((outcome) => outcome === "in order")) break;
      expect(round, run.output).toBeLessThan(6);
      await sleep(shortHistoryMs + 200);
    }
    for (const name of names) await this.#expectNoLeftover(name);
  }

  /** Each file of the table is one of its only version. */
  async #expectNoLeftover(name: string): Promise<void> {
    const table = await this.open(name);
    const indices = await table.listIndices();
    const statistics = await Promise.all(indices.map((index) => table.indexStats(index.name)));
    const files = await this.#place.filesOf(name);
    const matches = (pattern: RegExp): number => new Set(files.flatMap((file) => pattern.exec(file)?.[0] ?? [])).size;
    expect(
      {
        unindexedRows: indices.map(({ numUnindexedRows }) => numUnindexedRows),
        versions: (await table.listVersions()).length,
        manifests: matches(/^_versions\/.*\.manifest$/),
        transactions: matches(/^_transactions\/.*\.txn$/),
        data: matches(/^data\/.*/),
        parts: matches(/^_indices\/[^/]+/),
      },
      `${name}:\n${files.join("\n")}`,
    ).toEqual({
      unindexedRows: indices.map(() => 0),
      versions: 1,
      manifests: 1,
      transactions: 1,
      data: (await table.stats()).fragmentStats.numFragments,
      parts: statistics.reduce((sum, own) => sum + (own?.numIndices ?? 0), 0),
    });
  }
}
