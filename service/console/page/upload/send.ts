import { type Table, tableToIPC } from "apache-arrow";
import { type Api, ApiError } from "../api.ts";
import { partOf } from "../rows.ts";

/** Bytes of a request, as long as the service takes as many: rows of one request are committed together. */
const firstBytes = 16 * 2 ** 20;
const tooLarge = 413;

export interface Sent {
  readonly rows: number;
  readonly version: number | undefined;
}

/** Some rows are in the table, and the others are not. */
export class PartlySentError extends Error {
  override readonly name = "PartlySentError";
}

const bytesOf = (table: Table): number => table.data.reduce((sum, { byteLength }) => sum + byteLength, 0);

/**
 * Sends rows to a table in as few requests as the service takes, each of them one commit.
 * @param isNew whether the first request makes the table.
 */
export const sendRows = async (
  api: Api,
  table: string,
  isNew: boolean,
  rows: Table,
  progress: (sent: Sent) => void,
  signal: AbortSignal,
): Promise<Sent> => {
  const perRow = Math.max(1, bytesOf(rows) / Math.max(1, rows.numRows));
  let size = Math.max(1, Math.floor(firstBytes / perRow));
  let sent: Sent = { rows: 0, version: undefined };
  do {
    const part = partOf(rows, sent.rows, size);
    try {
      const stream = tableToIPC(part, "stream") as Uint8Array<ArrayBuffer>;
      const { version } = await api.writeRows(table, isNew && sent.rows === 0 ? "create" : "insert", stream, signal);
      sent = { rows: sent.rows + part.numRows, version };
    } catch (error) {
      const isTooLarge = error instanceof ApiError && error.status === tooLarge && part.numRows > 1;
      if (isTooLarge) {
        size = Math.ceil(part.numRows / 2);
        continue;
      }
      if (sent.rows === 0) throw error;
      const { message } = error as Error;
      throw new PartlySentError(`rows 1 to ${sent.rows} are in the table, and the others are not: ${message}`, {
        cause: error,
      });
    }
    progress(sent);
  } while (sent.rows < rows.numRows);
  return sent;
};
