import type { BlobSlice } from "../../lance/reads/blobs.ts";

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

/** The bytes of windows, of which one is read ahead while another is sent. */
export async function* readAhead(
  windows: Iterator<readonly BlobSlice[], void>,
  read: (window: readonly BlobSlice[]) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  const begin = (): Promise<Uint8Array> | undefined => {
    const { done, value } = windows.next();
    if (done === true) return undefined;
    const reading = read(value);
    // Thrown when its turn comes, if anyone still waits for it.
    reading.catch(() => undefined);
    return reading;
  };
  let next = begin();
  while (next !== undefined) {
    const bytes = await next;
    next = begin();
    yield bytes;
  }
}
