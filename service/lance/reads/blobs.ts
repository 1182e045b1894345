import type { BlobFile, Table } from "@lancedb/lancedb";
import { LRUCache } from "lru-cache";
import { invalid, ServiceError } from "../../errors.ts";
import { isBelow } from "../../guard/blob-uri.ts";
import { mapConcurrently } from "../map-concurrently.ts";

/** A part of the blob of one row: bytes from `start` up to but without `end`. */
export interface BlobSlice {
  readonly rowId: bigint;
  readonly start: number;
  readonly end: number;
}

/** The size of each row's blob; null for a row without one. */
export interface BlobSizes {
  readonly version: number;
  readonly sizes: readonly (number | null)[];
}

/** The kind of a blob whose descriptor holds an address. */
export const externalBlob = 3;

/** Opened blobs of one version that are kept: each window of a large one needs it again. */
const maxOpened = 1024;

/** Reads of one call at a time. */
const concurrency = 8;

interface Descriptor {
  readonly kind: number;
  readonly blob_uri: string;
}

const outside = (rowId: bigint): ServiceError =>
  new ServiceError(15, {
    message: `the blob of row ${rowId} is stored outside of the database, where this service does not read: write its bytes into the table, or ask the operator to list its prefix in LAKEHEAD_BLOB_PREFIXES`,
  });

const absent = (rowId: bigint): ServiceError =>
  invalid(`row_ids: no row has the id ${rowId} in this version: query the ids of this version with with_row_id`);

/**
 * Reads the blobs of tables. A descriptor may hold any address, which the engine would read with the identity of this service:
 * so no blob is opened before its descriptor was checked, at the version that is read.
 */
export class Blobs {
  readonly #prefixes: readonly string[];
  /** By the handle of a version, which never changes: what was checked stays checked. */
  readonly #opened = new WeakMap<Table, LRUCache<string, { readonly file: BlobFile | null }>>();

  /** @param prefixes of the addresses that may be read outside of the database. */
  constructor(prefixes: readonly string[]) {
    this.#prefixes = prefixes;
  }

  /** @param table handle of one version. */
  async sizes(table: Table, column: string, rowIds: readonly bigint[]): Promise<BlobSizes["sizes"]> {
    const files = await this.#open(table, column, rowIds);
    return rowIds.map((rowId) => {
      const file = files.get(rowId) ?? null;
      return file === null ? null : Number(file.size());
    });
  }

  /** The bytes of all slices, one after another. @param table handle of one version. */
  async read(table: Table, column: string, slices: readonly BlobSlice[]): Promise<Uint8Array> {
    const files = await this.#open(
      table,
      column,
      slices.map(({ rowId }) => rowId),
    );
    const parts = await mapConcurrently(concurrency, slices, async ({ rowId, start, end }) => {
      const file = files.get(rowId) ?? null;
      if (file === null) throw new Error("a slice of a blob that is null");
      return file.readRange(BigInt(start), BigInt(end));
    });
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
  }

  async #open(table: Table, column: string, rowIds: readonly bigint[]): Promise<ReadonlyMap<bigint, BlobFile | null>> {
    const kept = this.#opened.get(table) ?? new LRUCache({ max: maxOpened });
    this.#opened.set(table, kept);
    const keyOf = (rowId: bigint): string => `${rowId} ${column}`;
    const files = new Map<bigint, BlobFile | null>();
    const missing: bigint[] = [];
    for (const rowId of new Set(rowIds)) {
      const opened = kept.get(keyOf(rowId));
      if (opened === undefined) missing.push(rowId);
      else files.set(rowId, opened.file);
    }
    if (missing.length === 0) return files;
    await this.#check(table, column, missing);
    for (const [index, file] of (await table.fetchBlobFiles(column, missing)).entries()) {
      const rowId = missing[index] as bigint;
      files.set(rowId, file);
      kept.set(keyOf(rowId), { file });
    }
    return files;
  }

  /** @throws ServiceError code 12 or 13 for a column without blobs, 13 for a row that does not exist, 15 for a blob elsewhere. */
  async #check(table: Table, column: string, rowIds: readonly bigint[]): Promise<void> {
    if (!(await table.blobColumns()).includes(column)) {
      // The engine says why it is none.
      await table.fetchBlobFiles(column, []);
      throw invalid(`column '${column}' is not a blob column`);
    }
    const rows = await table.takeRowIds(rowIds).select([column]).withRowId().toArray();
    const descriptors = new Map(rows.map((row) => [BigInt(row._rowid), row[column] as Descriptor | null]));
    for (const rowId of rowIds) {
      const descriptor = descriptors.get(rowId);
      if (descriptor === undefined) throw absent(rowId);
      if (descriptor?.kind === externalBlob && !isBelow(descriptor.blob_uri, this.#prefixes)) throw outside(rowId);
    }
  }
}
