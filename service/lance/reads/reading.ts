import type { Query, Table, VectorQuery } from "@lancedb/lancedb";
import { tableFromIPC } from "apache-arrow";
import { invalid } from "../../errors.ts";
import type { VerifiedExpression } from "../../guard/expression/index.ts";
import type { VerifiedQuery } from "../../guard/verify-query.ts";
import { joinArrowFiles } from "../arrow/file.ts";
import { buildQuery } from "./query.ts";

/** The result of a query. */
export interface Rows {
  /** The version of the rows, or an earlier one if the table was written to meanwhile. */
  readonly version: number;
  /** An Arrow IPC file. */
  readonly file: Uint8Array;
}

export interface RowCount {
  readonly version: number;
  readonly rows: number;
}

/** The internal API of the SDK's queries. Each batch is a separate Arrow IPC file. */
interface NativeQuery {
  execute(): Promise<{ next(): Promise<Buffer | null> }>;
  outputSchema(): Promise<Buffer>;
}

/** The SDK's public methods decode every batch and fail on types that its Arrow library lacks; this keeps the bytes. */
const nativeOf = (query: Query | VectorQuery): Promise<NativeQuery> =>
  (query as unknown as { getInner(): Promise<NativeQuery> }).getInner();

/**
 * Runs a query.
 * @param maxBytes maximum size of the rows; a query that exceeds it stops at once.
 * @throws ServiceError code 13 if the rows exceed `maxBytes`, native errors of the database.
 */
export const readRows = async (table: Table, query: VerifiedQuery, maxBytes: number): Promise<Rows> => {
  // Read first, so that the rows are never older than the returned version.
  const version = await table.version();
  const native = await nativeOf(await buildQuery(table, query));
  const batches = await native.execute();
  const files: Buffer[] = [];
  let bytes = 0;
  for (let file = await batches.next(); file !== null; file = await batches.next()) {
    bytes += file.byteLength;
    if (bytes > maxBytes)
      throw invalid(
        `the result has more than ${maxBytes} bytes: request fewer rows (k, filter) or columns, page with offset, or ask the operator to raise LAKEHEAD_MAX_RESULT_BYTES`,
      );
    files.push(file);
  }
  const [first, ...others] = files;
  return { version, file: first === undefined ? await native.outputSchema() : joinArrowFiles([first, ...others]) };
};

/**
 * A full-text search that filters what it found: the ids of its best rows first, then the same search among them.
 * @param table does not change in between.
 */
export const readFoundRows = async (table: Table, query: VerifiedQuery, maxBytes: number): Promise<Rows> => {
  const { filter, columns: _, offset = 0, orderBy: __, ...search } = query;
  const best = {
    ...search,
    k: search.k === "unlimited" ? search.k : search.k + offset,
    columns: { kind: "names", names: ["_rowid"] },
    prefilter: true,
  } as const;
  const found = tableFromIPC((await readRows(table, best as unknown as VerifiedQuery, maxBytes)).file);
  const ids = [...(found.getChild("_rowid") ?? [])].map(String);
  const among = ids.length === 0 ? "false" : `(${filter}) AND _rowid IN (${ids.join(",")})`;
  return readRows(table, { ...query, filter: among as VerifiedExpression, prefilter: true }, maxBytes);
};

export const countRows = async (table: Table, predicate: VerifiedExpression | undefined): Promise<RowCount> => {
  const version = await table.version();
  return { version, rows: await table.countRows(predicate) };
};
