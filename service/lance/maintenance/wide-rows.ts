import type { Table } from "@lancedb/lancedb";
import type { StatisticsFacts } from "../../plan-doctor/types.ts";
import { externalBlob } from "../reads/blobs.ts";

/** Mean bytes of a row from which a table is read in fewer rows at once. */
const wideRowBytes = 64 * 2 ** 10;
/** Bytes that the engine reads at once, and decodes at once. */
const readBytes = 64 * 2 ** 20;
const batchBytes = 16 * 2 ** 20;
/** Rows to which the engine merges fragments. */
export const mostFragmentRows = 2 ** 20;

/** Rows of which the sizes of blobs are read. */
const sampledRows = 10_000;

/** Of blobs that the table's files hold: the engine's statistics leave them out, and a merge writes them again. */
export const blobBytesOf = async (table: Table, rows: number): Promise<number> => {
  const columns = await table.blobColumns();
  if (columns.length === 0 || rows === 0) return 0;
  const sampled = await table.query().select(columns).limit(sampledRows).toArray();
  const bytes = sampled
    .flatMap((row) => columns.map((column) => row[column]))
    .reduce((sum, blob) => sum + (blob === null || blob.kind === externalBlob ? 0 : Number(blob.size)), 0);
  return Math.round((bytes / Math.max(1, sampled.length)) * rows);
};

type Statistics = Pick<StatisticsFacts, "rows" | "deleted_rows" | "bytes">;

const rowBytesOf = ({ rows, deleted_rows: deleted, bytes }: Statistics): number => bytes / Math.max(1, rows + deleted);

/** Rows of a fragment of so many bytes. */
export const fragmentRowsOf = (statistics: Statistics, targetBytes: number): number =>
  Math.min(mostFragmentRows, Math.max(1, Math.floor(targetBytes / rowBytesOf(statistics))));

/**
 * The engine's environment that bounds the memory of a merge of large values; nothing for other tables, which it would slow
 * down. By default it decodes 8,192 rows at once and reads ahead 2 GiB. It reads the variables at its first scan.
 */
export const wideRowEnvironment = (statistics: Statistics | null): Readonly<Record<string, string>> => {
  const rowBytes = statistics === null ? 0 : rowBytesOf(statistics);
  if (rowBytes < wideRowBytes) return {};
  return {
    LANCE_DEFAULT_BATCH_SIZE: String(Math.max(1, Math.floor(batchBytes / rowBytes))),
    LANCE_DEFAULT_IO_BUFFER_SIZE: String(readBytes),
    LANCE_DEFAULT_FRAGMENT_READAHEAD: "1",
  };
};
