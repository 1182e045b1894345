import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Table } from "@lancedb/lancedb";
import { Binary, Field, Float64, Schema, Utf8 } from "apache-arrow";
import { invalid, ServiceError } from "../../errors.ts";
import { type CacheSizes, type DatabaseAddress, LazyConnection } from "../connection/connection.ts";
import { classify, findMeaning } from "../errors/classify.ts";
import { writeMeanings } from "../errors/classify-write.ts";
import { ownDatabase } from "../records/own-table.ts";
import type { InsertMode, RowData } from "../writes/write-calls.ts";

/** A part that has arrived completely. */
export interface StagedPart {
  readonly part: string;
  readonly attempt: string;
  readonly bytes: number;
  readonly decodedBytes: number;
  readonly mode: InsertMode;
}

/** What an upload is for, and how far it is. */
export interface UploadState {
  /** The table's key and the branch, as JSON. */
  readonly target: string;
  readonly state: "open" | "committing" | "done" | "aborted";
  /** The process that commits; empty: none. */
  readonly owner: string;
  /** Milliseconds since 1970 until which it is known to run. */
  readonly leaseUntil: number;
  /** Of the table, before the commit began. */
  readonly before: number;
  /** Of the commit. */
  readonly version: number;
}

type Change = Partial<Omit<UploadState, "target">>;

const text = (name: string) => new Field(name, new Utf8(), false);
const number = (name: string) => new Field(name, new Float64(), false);

const stateSchema = new Schema([
  ...["target", "state", "owner"].map(text),
  ...["lease_until", "before", "version"].map(number),
]);

/** A row is a part that has arrived completely. */
const partSchema = new Schema([
  ...["part", "attempt", "mode"].map(text),
  ...["bytes", "decoded_bytes", "at"].map(number),
]);

/** A row is a piece of a part, which may never be complete. */
const pieceSchema = new Schema([text("attempt"), number("piece"), new Field("data", new Binary(), true)]);

/** No table of an upload is read often. */
export const stagingCaches: CacheSizes = { indexBytes: 2 ** 20, metadataBytes: 2 ** 20 };

/** One piece is one commit, and in memory at once. */
const pieceBytes = 16 * 2 ** 20;
/** Commits after which the parts are merged into one file: the next part reads all of them. */
const partsPerMerge = 32;

const idPattern = /^([0-9a-z]{8,10})-([0-9a-f]{16})-[0-9a-f]{32}$/;
const partPattern = /^[0-9A-Za-z._:-]{1,128}$/;
const statePrefix = "upload-";
const partsPrefix = "parts-";
const piecesPrefix = "pieces-";

const callerHash = (caller: string): string => createHash("sha256").update(caller).digest("hex").slice(0, 16);

/** The time at which an upload began, and its caller, are in its id: a list of names tells what may be removed. */
export const newUploadId = (caller: string, now: number): string =>
  `${now.toString(36)}-${callerHash(caller)}-${randomUUID().replaceAll("-", "")}`;

export interface UploadName {
  readonly id: string;
  readonly begunAt: number;
  readonly caller: string;
  /** Whether parts of it are kept. */
  readonly isOpen: boolean;
}

/** @throws ServiceError code 13: also for an upload of another caller, whose existence is nobody's business. */
export const verifyUpload = (id: string, caller: string, oldest: number): void => {
  const [, begun = "", owner] = idPattern.exec(id) ?? [];
  if (owner !== callerHash(caller) || Number.parseInt(begun, 36) < oldest) throw noUpload();
};

export const isUploadOf = ({ caller }: UploadName, name: string): boolean => caller === callerHash(name);

export const noUpload = (cause?: unknown): ServiceError =>
  new ServiceError(13, {
    message:
      "upload_id: the upload does not exist: it was aborted, has expired, or belongs to another table, branch or caller; begin again with multipart_write/create",
    cause,
  });

/** @throws ServiceError code 13. */
export const verifyPart = (part: string): void => {
  if (!partPattern.test(part))
    throw invalid("upload_part_id must have 1 to 128 letters, digits, '.', '_', ':' or '-', for instance a UUID");
};

const isMissing = (error: unknown): boolean => classify(error).code === 4;

const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const columns: Readonly<Record<keyof Change, string>> = {
  state: "state",
  owner: "owner",
  leaseUntil: "lease_until",
  before: "before",
  version: "version",
};

/**
 * Uploads in parts, in the store beside the tables, so that any replica takes any part and completes: three tables for each
 * upload. One has its state, in one row whose updates under a condition are atomic; the others have the parts and their pieces.
 */
export class Staging {
  readonly #uri: string;
  readonly #connection: LazyConnection;

  constructor(address: DatabaseAddress, caches: CacheSizes) {
    const own = ownDatabase(address);
    this.#uri = own.uri;
    this.#connection = new LazyConnection(own, caches, 0);
  }

  async create(id: string, target: string): Promise<void> {
    try {
      const connection = await this.#connection.get();
      for (const [prefix, schema] of [
        [piecesPrefix, pieceSchema],
        [partsPrefix, partSchema],
      ] as const)
        (await connection.createEmptyTable(`${prefix}${id}`, schema)).close();
      const state = await connection.createEmptyTable(`${statePrefix}${id}`, stateSchema);
      await state.add([{ target, state: "open", owner: "", lease_until: 0, before: 0, version: 0 }]);
      state.close();
    } catch (error) {
      throw classify(error);
    }
  }

  /** All uploads that are not removed yet. */
  async names(): Promise<readonly UploadName[]> {
    // The SDK creates a directory by connecting to it.
    if (this.#connection.localPath !== undefined && !existsSync(this.#uri)) return [];
    const connection = await this.#connection.get();
    const names = new Set<string>();
    for (let startAfter: string | undefined; ; ) {
      const page = await connection.tableNames({ limit: 1000, ...(startAfter === undefined ? {} : { startAfter }) });
      for (const name of page) names.add(name);
      if (page.length < 1000) break;
      startAfter = page.at(-1);
    }
    const ids = [...names]
      .map((name) => name.replace(/^(?:upload|parts|pieces)-/, ""))
      .filter((id) => idPattern.test(id));
    return [...new Set(ids)].map((id) => {
      const [, begun = "", caller = ""] = idPattern.exec(id) ?? [];
      return { id, caller, begunAt: Number.parseInt(begun, 36), isOpen: names.has(`${partsPrefix}${id}`) };
    });
  }

  async state(id: string): Promise<UploadState> {
    return this.#use(`${statePrefix}${id}`, async (table) => {
      const [row] = await table.query().limit(1).toArray();
      if (row === undefined) throw noUpload();
      const { target, state, owner, lease_until: leaseUntil, before, version } = row;
      return { target, state, owner, leaseUntil, before, version };
    });
  }

  /** Changes the state if it is as it was. @returns whether it was. */
  async change(id: string, from: Pick<UploadState, "state" | "owner">, to: Change): Promise<boolean> {
    const where = `state = ${quoted(from.state)} AND owner = ${quoted(from.owner)}`;
    const values = Object.fromEntries(Object.entries(to).map(([key, value]) => [columns[key as keyof Change], value]));
    return this.#use(`${statePrefix}${id}`, async (table) => {
      const { rowsUpdated } = await table.update({ where, values });
      return Number(rowsUpdated) > 0;
    });
  }

  /** The parts that have arrived completely, the newest attempt of each. */
  async parts(id: string): Promise<readonly StagedPart[]> {
    return this.#use(`${partsPrefix}${id}`, (table) => partsOf(table));
  }

  /** Keeps a part, which replaces an earlier one of the same name. */
  async add(
    id: string,
    { part, mode, decodedBytes }: Omit<StagedPart, "attempt" | "bytes">,
    data: RowData,
  ): Promise<void> {
    const attempt = randomUUID();
    const bytes = data.kind === "bytes" ? data.bytes.byteLength : data.size;
    const at = Date.now();
    await this.#use(`${piecesPrefix}${id}`, async (table) => {
      for await (const [piece, content] of piecesOf(data)) await table.add([{ attempt, piece, data: content }]);
    });
    await this.#use(`${partsPrefix}${id}`, async (table) => {
      const { version } = await table.add([{ part, attempt, mode, bytes, decoded_bytes: decodedBytes, at }]);
      // Another process may merge them.
      if (version % partsPerMerge === 0) await table.optimize().catch(() => undefined);
    });
  }

  /** Makes a file of each part. @returns them in the order of the parts. */
  async load(id: string, directory: string): Promise<readonly RowData[]> {
    const parts = await this.parts(id);
    return this.#use(`${piecesPrefix}${id}`, async (table) => {
      const pieces = await table.query().select(["attempt", "piece"]).withRowId().toArray();
      const rowIds = new Map(pieces.map((row) => [`${row.attempt} ${row.piece}`, row._rowid]));
      const files: RowData[] = [];
      for (const { attempt, bytes } of parts) {
        const path = join(directory, `upload-${attempt}`);
        const file = await open(path, "wx", 0o600);
        try {
          for (let piece = 0; piece * pieceBytes < bytes; piece++) {
            const rowId = rowIds.get(`${attempt} ${piece}`);
            const [row] = rowId === undefined ? [] : await table.takeRowIds([rowId]).select(["data"]).toArray();
            if (row === undefined) throw new Error("a piece of a part is missing");
            await file.write(row.data, 0, row.data.byteLength, piece * pieceBytes);
          }
        } finally {
          await file.close();
        }
        files.push({ kind: "file", path, size: bytes });
      }
      return files;
    });
  }

  /** Removes the parts, and with `whole` all that is known of an upload. */
  async remove(id: string, whole: boolean): Promise<void> {
    const connection = await this.#connection.get();
    for (const prefix of [partsPrefix, piecesPrefix, ...(whole ? [statePrefix] : [])])
      await connection.dropTable(`${prefix}${id}`).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #use<T>(name: string, use: (table: Table) => Promise<T>): Promise<T> {
    let table: Table | undefined;
    try {
      table = await this.#connection.openTable(name, []);
      return await use(table);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw isMissing(error) ? noUpload(error) : (findMeaning(error, writeMeanings) ?? classify(error));
    } finally {
      table?.close();
    }
  }
}

const partsOf = async (table: Table): Promise<readonly StagedPart[]> => {
  const rows = await table.query().toArray();
  const newest = new Map<string, (typeof rows)[number]>();
  for (const row of rows) if ((newest.get(row.part)?.at ?? 0) <= row.at) newest.set(row.part, row);
  return [...newest.values()].map(({ part, attempt, mode, bytes, decoded_bytes: decodedBytes }) => ({
    part,
    attempt,
    mode,
    bytes,
    decodedBytes,
  }));
};

async function* piecesOf(data: RowData): AsyncGenerator<readonly [piece: number, content: Buffer], void> {
  if (data.kind === "bytes") {
    yield [0, Buffer.from(data.bytes)];
    return;
  }
  const file = await open(data.path, "r");
  try {
    for (let piece = 0; piece * pieceBytes < data.size; piece++) {
      const content = Buffer.allocUnsafeSlow(Math.min(pieceBytes, data.size - piece * pieceBytes));
      for (let at = 0; at < content.byteLength; ) {
        const { bytesRead } = await file.read(content, at, content.byteLength - at, piece * pieceBytes + at);
        if (bytesRead === 0) throw new Error("the file of the rows is shorter than it was");
        at += bytesRead;
      }
      yield [piece, content];
    }
  } finally {
    await file.close();
  }
}
