import { type BlobPart, bytesCell, type Cell } from "../cell.ts";
import { mediaOf } from "../media.ts";

/** With its metadata before it, most JPEGs tell their size in so many. */
const headBytes = 2 ** 16;

/** What the service reads at once. */
const partBytes = 4 * 2 ** 20;

/** A blob by its first bytes. @param read bytes from the first number up to but without the second; undefined for null. */
export const openBlob = async (
  read: (from: number, to: number, signal?: AbortSignal) => Promise<BlobPart | undefined>,
): Promise<Cell> => {
  const head = await read(0, headBytes);
  if (head === undefined) return { kind: "null", text: "null" };
  const { size, bytes: first } = head;
  if (size <= first.length) return bytesCell(first);
  return {
    kind: "blob",
    size,
    media: mediaOf(first),
    read: async (signal, onProgress) => {
      const parts = [first];
      for (let at = first.length; at < size; ) {
        const part = await read(at, Math.min(size, at + partBytes), signal);
        if (part === undefined || part.bytes.length === 0) throw new Error("the blob ended early: load it again");
        parts.push(part.bytes);
        at += part.bytes.length;
        onProgress(at);
      }
      return parts;
    },
  };
};
