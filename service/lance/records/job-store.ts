import { Table as ArrowTable, Field, Int64, Schema, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import type { EventQuery, JobChange, JobRecord, JobState, JobStore } from "../../jobs/index.ts";
import { type ListedJob, maxListedBytes, type StoredEvent } from "../../jobs/record.ts";
import { type CacheSizes, type DatabaseAddress, LazyConnection } from "../connection/connection.ts";
import { number, OwnTable, ownDatabase, quoted, text } from "./own-table.ts";

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

/** Every column, without large content. Repeated once or not at all, for there is no CASE. A specification is never an empty text. */
const listed = (name: string): string =>
  name === "spec" || name === "result"
    ? `repeat(${name}, cast(octet_length(spec) + octet_length(result) <= ${maxListedBytes} AS bigint))`
    : `\`${name}\``;
const listedColumns = new Map(jobSchema.fields.map(({ name }) => [name, listed(name)]));

const listedOf = (row: Row): ListedJob => ({
  id: row.id,
  type: row.type,
  table: row.table,
  owner: row.owner,
  spec: parsed(row.spec),
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

  async read(): Promise<readonly ListedJob[]> {
    const rows: readonly Row[] =
      (await this.#jobs.read((table) => table.query().select(listedColumns).toArray())) ?? [];
    return rows.map(listedOf);
  }

  async find(id: string): Promise<JobRecord | undefined> {
    const rows: readonly Row[] =
      (await this.#jobs.read((table) =>
        table
          .query()
          .where(`id = ${quoted(id)}`)
          .limit(1)
          .toArray(),
      )) ?? [];
    const [row] = rows;
    return row && { ...listedOf(row), spec: parsed(row.spec) };
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
    for (const own of [this.#jobs, this.#events]) await own.compact(this.#now());
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
