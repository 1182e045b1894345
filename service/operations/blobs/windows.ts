import type { BlobSlice } from "../../lance/reads/blobs.ts";
import type { SpareBytes } from "../operation.ts";

/** Rows of one window: each is at least one read of the store. */
const maxSlices = 256;

/** Divides slices into windows of at most so many bytes, in order. Empty slices are left out. */
export function* windowsOf(slices: readonly BlobSlice[], maxBytes: number): Generator<readonly BlobSlice[], void> {
  let window: BlobSlice[] = [];
  let bytes = 0;
  for (const { rowId, start, end } of slices)
    for (let at = start; at < end; ) {
      const until = Math.min(end, at + maxBytes - bytes);
      window.push({ rowId, start: at, end: until });
      bytes += until - at;
      at = until;
      if (bytes === maxBytes || window.length === maxSlices) {
        yield window;
        window = [];
        bytes = 0;
      }
    }
  if (window.length > 0) yield window;
}

/** Windows of a stream that are sent or read at once: the memory of these is its own from its beginning. */
export const ownWindows = 2;

/** With more, a store that answers after 15 ms was read no faster. */
const maxWindows = 6;

const bytesOf = (window: readonly BlobSlice[]): number => window.reduce((sum, { start, end }) => sum + end - start, 0);

/**
 * The bytes of windows in their order. One is sent while others are read: {@link ownWindows}, and more while memory is free
 * and no request waits for it.
 */
export async function* readAhead(
  windows: Iterator<readonly BlobSlice[], void>,
  read: (window: readonly BlobSlice[]) => Promise<Uint8Array>,
  spare: SpareBytes,
): AsyncGenerator<Uint8Array, void> {
  interface Reading {
    readonly bytes: Promise<Uint8Array>;
    readonly spareBytes: number;
  }
  const readings: Reading[] = [];
  let next = windows.next();
  const begin = (spareBytes: number): void => {
    if (next.done === true) return;
    const bytes = read(next.value);
    // Thrown when its turn comes, if anyone still waits for it.
    bytes.catch(() => undefined);
    readings.push({ bytes, spareBytes });
    next = windows.next();
  };
  /** @param sending the windows that the client has not taken. */
  const fill = (sending: number): void => {
    while (next.done !== true && readings.length + sending < maxWindows) {
      const isOwn = readings.filter(({ spareBytes }) => spareBytes === 0).length + sending < ownWindows;
      const spareBytes = isOwn ? 0 : bytesOf(next.value);
      if (!isOwn && !spare.take(spareBytes)) return;
      begin(spareBytes);
    }
  };
  try {
    // The first bytes of a stream do not wait for its next ones.
    begin(0);
    for (let first = readings.shift(); first !== undefined; first = readings.shift()) {
      const bytes = await first.bytes;
      fill(1);
      yield bytes;
      spare.give(first.spareBytes);
      fill(0);
    }
  } finally {
    for (const { spareBytes } of readings) spare.give(spareBytes);
  }
}
