import type { Cell } from "../cell.ts";
import { textOf } from "../cell.ts";
import type { Rows } from "../rows.ts";

/** More rows than this are a job for a client. */
export const maxExported = 10_000;

const base64 = (bytes: Uint8Array): string => {
  // Arguments of one call are bounded by the stack.
  const chunks: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192) chunks.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  return btoa(chunks.join(""));
};

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** An empty text is quoted, so that it differs from null. */
const field = (cell: Cell): string => {
  if (cell.kind === "null") return "";
  if (cell.kind === "bytes") return base64(cell.bytes);
  const text = textOf(cell);
  return text === "" ? '""' : quoted(text);
};

/** RFC 4180 with a header. Bytes are base64, null is empty. */
export const csvOf = (rows: Rows): string => {
  const lines = Array.from({ length: rows.length }, (_, row) =>
    rows.columns.map((_, column) => field(rows.cell(row, column))).join(","),
  );
  return [rows.columns.map(({ name }) => quoted(name)).join(","), ...lines, ""].join("\r\n");
};

/** Offers bytes as a file. */
export const download = (content: BlobPart, type: string, name: string): void => {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the address after this call.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
};
