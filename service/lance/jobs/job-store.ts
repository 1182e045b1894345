import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Table } from "@lancedb/lancedb";
import { Table as ArrowTable, Field, Float64, Int64, Schema, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import type { EventQuery, JobChange, JobRecord, JobState, JobStore } from "../../jobs/index.ts";
import type { StoredEvent } from "../../jobs/record.ts";
import { type CacheSizes, type DatabaseAddress, LazyConnection } from "../connection/connection.ts";
import { classify, classifyAccess } from "../errors/classify.ts";
import { cleanUpOf } from "../maintenance/clean-up.ts";
import { isConflict, readHistory } from "../maintenance/maintained-tables.ts";
import { ownDatabase } from "../maintenance/maintenance-record.ts";

const text = (name: string) => new Field(name, new Utf8(), false);
const number = (name: string) => new Field(name, new Float64(), false);

/** JSON is kept as text; an empty text is null. */
const jobSchema = new Schema([
  ...["id", "type", "table", "owner", "spec", "state", "runner", "wish", "result", "failure"].map(text),
  ...["created_at", "ended_at", "heartbeat", "attempts"].map(number),
]);

/** The columns by which LanceDB's clients filter, and those that they read. */
const eventSchema = new Schema([
  ...["job_id", "state", "updated_by", "emitted_from", "emitted_by", "claim_entity", "message"].map(
    (name) => new Field(name, new Utf8(), true),
  ),
  ...["emitted_at_millis", "rows_processed"].map((name) => new Field(name, new Int64(), true)),
]);

const columnOf: Readonly<Record<keyof JobChange, string>> = {
  state: "state",
  endedAt: "ended_at",
  runner: "runner",
  heartbeat: "heartbeat",
  attempts: "attempts",
  wish: "wish",
  result: "result",
  failure: "failure",
};

const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const jsonOf = (value: unknown): string => (value === null ? "" : JSON.stringify(value));
const parsed = (value: string) => (value === "" ? null : JSON.parse(value));

const rowOf = (job: JobRecord) => ({
  id: job.id,
  type: job.type,
  table: job.table,
  owner: job.owner,
  spec: jsonOf(job.spec),
  state: job.state,
  runner: job.runner,
  wish: job.wish,
  result: jsonOf(job.result),
  failure: jsonOf(job.failure),
  created_at: job.createdAt,
  ended_at: job.endedAt,
  heartbeat: job.heartbeat,
  attempts: job.attempts,
});

type Row = ReturnType<typeof rowOf>;

const recordOf = (row: Row): JobRecord => ({
  id: row.id,
  type: row.type,
  table: row.table,
  owner: row.owner,
  spec: parsed(row.spec) ?? {},
  state: row.state as JobState,
  runner: row.runner,
  wish: row.wish as JobRecord["wish"],
  result: parsed(row.result),
  failure: parsed(row.failure),
  createdAt: row.created_at,
  endedAt: row.ended_at,
  heartbeat: row.heartbeat,
  attempts: row.attempts,
});

const eventRow = ({ job, at, emittedBy, state, claimEntity = "", rowsProcessed, message }: StoredEvent) => ({
  job_id: job,
  emitted_at_millis: BigInt(at),
  state,
  updated_by: emittedBy,
  emitted_from: "lakehead",
  emitted_by: emittedBy,
  claim_entity: claimEntity,
  rows_processed: rowsProcessed === undefined ? null : BigInt(rowsProcessed),
  message: message ?? null,
});

/** Not the SDK's own tables, which this package's writer does not know. */
const eventTable = (rows: readonly Partial<ReturnType<typeof eventRow>>[]): ArrowTable =>
  new ArrowTable(
    eventSchema,
    Object.fromEntries(
      eventSchema.fields.map(({ name, type }) => [
        name,
        vectorFromArray(
          rows.map((row) => row[name as keyof typeof row]),
          type,
        ),
      ]),
    ),
  );

/** Writers of other replicas may be faster, several times. */
const attempts = 8;
const pauseMs = 100;

/** Versions of the tables that are kept, in milliseconds: for longer than any call on them takes. */
const keptMs = 3_600_000;

const isMissing = (error: unknown): boolean => /was not found|[Nn]ot found/.test(String(error));

/** One of the service's own tables beside `_lakehead/maintenance`; made by the first write. */
class OwnTable {
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

  async #create(): Promise<Table> {
    const connection = await this.#connection.get();
    try {
      return await connection.createEmptyTable(this.#name, this.#schema, { existOk: true });
    } catch (error) {
      // Another process has created it.
      return this.#connection.openTable(this.#name, []).catch(() => {
        throw error;
      });
    }
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
          this.#open = this.#create();
          return this.#open;
        });
        return await use(table);
      } catch (error) {
        this.#open = undefined;
        if (!isConflict(error) || attempt === attempts) throw classify(error, 18);
        await sleep(pauseMs * attempt * Math.random());
      }
  }
}

/** Jobs and their events as tables of the database's own. */
export class LanceJobStore implements JobStore {
  readonly #connection: LazyConnection;
  readonly #jobs: OwnTable;
  readonly #events: OwnTable;
  readonly #now: () => number;

  constructor(address: DatabaseAddress, caches: CacheSizes, now: () => number = Date.now) {
    const own = ownDatabase(address);
    this.#connection = new LazyConnection(own, caches, 0);
    this.#jobs = new OwnTable(this.#connection, own.uri, "jobs", jobSchema);
    this.#events = new OwnTable(this.#connection, own.uri, "job_events", eventSchema);
    this.#now = now;
  }

  async read(): Promise<readonly JobRecord[]> {
    const rows: readonly Row[] = (await this.#jobs.read((table) => table.query().toArray())) ?? [];
    return rows.map(recordOf);
  }

  async insert(job: JobRecord): Promise<void> {
    await this.#jobs.write((table) => table.add([rowOf(job)]));
  }

  async change(id: string, runner: string | undefined, values: JobChange): Promise<boolean> {
    const held = runner === undefined ? "" : ` AND runner = ${quoted(runner)}`;
    const where = `id = ${quoted(id)} AND state = 'IN_PROGRESS'${held}`;
    const changed = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        columnOf[key as keyof JobChange],
        key === "result" || key === "failure" ? jsonOf(value) : value,
      ]),
    );
    const { rowsUpdated } = await this.#jobs.write((table) =>
      table.update({ where, values: changed as Record<string, string | number> }),
    );
    return Number(rowsUpdated) > 0;
  }

  async beat(runner: string, now: number): Promise<void> {
    const where = `runner = ${quoted(runner)} AND state = 'IN_PROGRESS'`;
    await this.#jobs.write((table) => table.update({ where, values: { heartbeat: now } }));
  }

  async append(events: readonly StoredEvent[]): Promise<void> {
    if (events.length === 0) return;
    await this.#events.write((table) => table.add(eventTable(events.map(eventRow))));
  }

  async events(id: string, { limit, filter }: EventQuery): Promise<Uint8Array<ArrayBuffer>> {
    const own = `job_id = ${quoted(id)}`;
    const found = await this.#events.read((table) =>
      table
        .query()
        .where(filter === undefined ? own : `${own} AND (${filter})`)
        .limit(limit)
        .toArray(),
    );
    return Uint8Array.from(tableToIPC(found === undefined ? new ArrowTable(eventSchema) : eventTable(found), "stream"));
  }

  async remove(ids: readonly string[]): Promise<void> {
    const list = ids.map(quoted).join(", ");
    await this.#events.write((table) => table.delete(`job_id IN (${list})`));
    await this.#jobs.write((table) => table.delete(`id IN (${list})`));
  }

  async compact(): Promise<void> {
    for (const own of [this.#jobs, this.#events])
      await own.read(async (table) => {
        const { deleteBefore = 0 } = cleanUpOf(await readHistory(table), keptMs, this.#now()) ?? {};
        await table.optimize({ cleanupOlderThan: new Date(deleteBefore), deleteUnverified: deleteBefore > 0 });
      });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
