import type { Query, Table, VectorQuery } from "@lancedb/lancedb";
import { invalid } from "../errors.ts";
import type { VerifiedExpression } from "../guard/expression/index.ts";
import type { VerifiedQuery } from "../guard/verify-query.ts";
import { joinArrowFiles } from "./arrow-file.ts";
import { buildQuery } from "./query.ts";

/** Rows as they leave the service. */
export interface Rows {
  /** The version that they are of, or an earlier one where the table was written to at that moment. */
  readonly version: number;
  /** An Arrow IPC file. */
  readonly file: Uint8Array;
}

export interface RowCount {
  readonly version: number;
  readonly rows: number;
}

/** The part of the SDK's native query beneath its public methods: each batch is an Arrow IPC file of its own. */
interface NativeQuery {
  execute(): Promise<{ next(): Promise<Buffer | null> }>;
  outputSchema(): Promise<Buffer>;
}

/**
 * The SDK's public methods decode every batch, and fail on types that its Arrow library does not know; here the bytes
 * pass as they are.
 */
const nativeOf = (query: Query | VectorQuery): Promise<NativeQuery> =>
  (query as unknown as { getInner(): Promise<NativeQuery> }).getInner();

/**
 * Runs a query.
 * @param maxBytes of the answer; a query that gives more is given up at once.
 * @throws ServiceError code 13 for more, native errors for what the database refuses.
 */
export const readRows = async (table: Table, query: VerifiedQuery, maxBytes: number): Promise<Rows> => {
  // Asked first, so that the rows are never of an earlier version than is said.
  const version = await table.version();
  const native = await nativeOf(await buildQuery(table, query));
  const batches = await native.execute();
  const files: Buffer[] = [];
  let bytes = 0;
  for (let file = await batches.next(); file !== null; file = await batches.next()) {
    bytes += file.byteLength;
    if (bytes > maxBytes)
      throw invalid(
        `the answer has more than ${maxBytes} bytes: ask for fewer rows (k, filter) or columns, page with offset, or have the operator raise LAKEHEAD_MAX_RESULT_BYTES`,
      );
    files.push(file);
  }
  const [first, ...others] = files;
  return { version, file: first === undefined ? await native.outputSchema() : joinArrowFiles([first, ...others]) };
};

export const countRows = async (table: Table, predicate: VerifiedExpression | undefined): Promise<RowCount> => {
  const version = await table.version();
  return { version, rows: await table.countRows(predicate) };
};
