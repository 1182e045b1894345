import { Schema } from "apache-arrow";
import type {
  Definition,
  FunctionStore,
  FunctionVersion,
  ListedFunction,
  RowError,
  RowErrorQuery,
} from "../../functions/index.ts";
import { type CacheSizes, type DatabaseAddress, LazyConnection } from "../connection/connection.ts";
import { number, OwnTable, ownDatabase, quoted, text } from "./own-table.ts";

/** `id` is joined by `$`, which no part of it holds; `definition` is JSON. */
const functionSchema = new Schema([
  ...["object_id", "id", "definition", "digest", "owner"].map(text),
  ...["version", "created_at"].map(number),
]);

const sourceSchema = new Schema([text("digest"), text("source"), number("kept_at")]);

const rowOf = ({ objectId, id, definition, digest, owner, version, createdAt }: Omit<FunctionVersion, "bytes">) => ({
  object_id: objectId,
  id: id.join("$"),
  definition: JSON.stringify(definition),
  digest,
  owner,
  version,
  created_at: createdAt,
});

const listedColumns = new Map([
  ...["object_id", "id", "digest", "owner", "version", "created_at"].map((name) => [name, name] as const),
  ["bytes", "octet_length(definition)"],
]);

type Row = Omit<ReturnType<typeof rowOf>, "definition"> & { readonly bytes: number };

const listedOf = (row: Row): ListedFunction => ({
  objectId: row.object_id,
  id: row.id.split("$"),
  digest: row.digest,
  owner: row.owner,
  version: row.version,
  createdAt: row.created_at,
  bytes: Number(row.bytes),
});

/** The digest of the source in a definition as JSON, in which a text of a caller has no bare quotes. */
const sourceDigest = `regexp_match(definition, '"artifact":\\{[^{}]*"digest":"(sha256:[0-9a-f]{64})"')[1]`;

/** Versions of a table after which it is compacted. */
const versionsPerCompaction = 50;

/** Functions and their sources as tables of the database's own. */
export class LanceFunctionStore implements FunctionStore {
  readonly #connection: LazyConnection;
  readonly #functions: OwnTable;
  readonly #sources: OwnTable;
  readonly #errors: OwnTable;
  readonly #now: () => number;

  constructor(address: DatabaseAddress, caches: CacheSizes, now: () => number = Date.now) {
    const own = ownDatabase(address);
    this.#connection = new LazyConnection(own, caches, 0);
    this.#functions = new OwnTable(this.#connection, own.uri, "functions", functionSchema);
    this.#sources = new OwnTable(this.#connection, own.uri, "function_sources", sourceSchema);
    // Made by the first runner that needs it.
    this.#errors = new OwnTable(this.#connection, own.uri, "function_errors", new Schema([]));
    this.#now = now;
  }

  /** A scan keeps the order of fragments, and compaction does too. */
  async read(): Promise<readonly ListedFunction[]> {
    const rows: readonly Row[] =
      (await this.#functions.read((table) => table.query().select(listedColumns).toArray())) ?? [];
    return rows.map(listedOf);
  }

  async definitions(objectIds: readonly string[]): Promise<ReadonlyMap<string, Definition>> {
    if (objectIds.length === 0) return new Map();
    const where = `object_id IN (${objectIds.map(quoted).join(", ")})`;
    const rows = await this.#functions.read((table) =>
      table.query().where(where).select(["object_id", "definition"]).toArray(),
    );
    return new Map((rows ?? []).map((row) => [row.object_id, JSON.parse(row.definition)]));
  }

  async insert(version: Omit<FunctionVersion, "bytes">): Promise<void> {
    await this.#functions.write((table) => table.add([rowOf(version)]));
  }

  async remove(objectId: string): Promise<boolean> {
    const { numDeletedRows } = await this.#functions.write((table) => table.delete(`object_id = ${quoted(objectId)}`));
    return Number(numDeletedRows) > 0;
  }

  /** Two calls at once may both insert it: then there are two rows of one content. */
  async keepSource(digest: string, source: string, now: number): Promise<void> {
    if (await this.touchSource(digest, now)) return;
    await this.#sources.write((table) => table.add([{ digest, source, kept_at: now }]));
  }

  async touchSource(digest: string, now: number): Promise<boolean> {
    const where = `digest = ${quoted(digest)}`;
    const { rowsUpdated } = await this.#sources.write((table) => table.update({ where, values: { kept_at: now } }));
    return Number(rowsUpdated) > 0;
  }

  async source(digest: string): Promise<string | undefined> {
    const where = `digest = ${quoted(digest)}`;
    const rows = await this.#sources.read((table) => table.query().where(where).select(["source"]).limit(1).toArray());
    return rows?.[0]?.source;
  }

  async removeSources(before: number): Promise<void> {
    const used = await this.#functions.read((table) =>
      table
        .query()
        .select(new Map([["source", sourceDigest]]))
        .toArray(),
    );
    const except = new Set((used ?? []).map(({ source }) => source));
    const kept = except.size === 0 ? "" : ` AND digest NOT IN (${[...except].map(quoted).join(", ")})`;
    await this.#sources.read(async (table) => {
      const where = `kept_at < ${before}${kept}`;
      if ((await table.countRows(where)) > 0) await this.#sources.write((own) => own.delete(where));
    });
  }

  /** The runner writes them. */
  async rowErrors(table: string, { job, column, limit }: RowErrorQuery): Promise<readonly RowError[]> {
    const conditions = [
      `"table" = ${quoted(table)}`,
      ...(job === undefined ? [] : [`job_id = ${quoted(job)}`]),
      ...(column === undefined ? [] : [`"column" = ${quoted(column)}`]),
    ];
    const rows = await this.#errors.read((own) => own.query().where(conditions.join(" AND ")).limit(limit).toArray());
    return (rows ?? []).map((row) => ({
      job_id: row.job_id,
      fragment_id: Number(row.fragment_id),
      row_offset: Number(row.row_offset),
      column: row.column,
      function: row.function,
      function_version: row.function_version,
      table_version: Number(row.table_version),
      error_type: row.error_type,
      error_message: row.error_message,
      created_at_millis: Number(row.created_at_millis),
    }));
  }

  async compact(): Promise<void> {
    for (const own of [this.#functions, this.#sources, this.#errors])
      await own.compact(this.#now(), versionsPerCompaction);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
