import { type FileHandle, open, rm } from "node:fs/promises";

/** Bytes of one write: each write is a turn of Node's few threads. */
const pieceBytes = 2 ** 20;
/** Memory of a chunk besides its bytes: a client may send chunks of one byte. */
const chunkBytes = 256;

const costOf = ({ byteLength }: Uint8Array): number => byteLength + chunkBytes;

/** What is left of chunks after their first bytes. */
const skip = (chunks: readonly Uint8Array[], bytes: number): Uint8Array[] => {
  let left = bytes;
  const from = chunks.findIndex(({ byteLength }) => {
    if (left < byteLength) return true;
    left -= byteLength;
    return false;
  });
  if (from === -1) return [];
  const [first, ...rest] = chunks.slice(from) as [Uint8Array, ...Uint8Array[]];
  return [first.subarray(left), ...rest];
};

/**
 * Frees the memory of a chunk that is alone in it. The collector would have to look through the whole heap for every few
 * megabytes of a body.
 */
export const freeChunk = ({ buffer, byteLength }: Uint8Array): void => {
  if (buffer.byteLength === byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
};

/** Memory of all bodies that wait for a write. */
export class Gathered {
  readonly #limit: number;
  bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.bytes > this.#limit;
  }
}

/**
 * A file for a body. It is written in large pieces, one at a time, while the next piece arrives. Many slow bodies together
 * gather no more than their limit.
 */
export class BodyFile {
  readonly path: string;
  readonly maxBytes = Number.POSITIVE_INFINITY;
  readonly #gathered: Gathered;
  readonly #opening: Promise<FileHandle>;
  #chunks: Uint8Array[] = [];
  /** Memory of the chunks. */
  #cost = 0;
  #writing: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(path: string, gathered: Gathered) {
    this.path = path;
    this.#gathered = gathered;
    this.#opening = open(path, "wx", 0o600);
    // The first write throws its error.
    this.#opening.catch(() => undefined);
  }

  /** The chunk belongs to the file from now on. @throws Error of the write before. */
  async add(chunk: Uint8Array): Promise<void> {
    this.#chunks.push(chunk);
    this.#cost += costOf(chunk);
    this.#gathered.bytes += costOf(chunk);
    if (this.#cost < pieceBytes && !this.#gathered.isFull) return;
    await this.#writing;
    this.#writing = this.#write();
    // The next chunk, or the end of the body, throws its error.
    this.#writing.catch(() => undefined);
  }

  /** Writes what is left. */
  async end(): Promise<void> {
    await this.#writing;
    await this.#write();
    // Its reader need not wait for another thread's turn.
    void this.#close();
  }

  async remove(): Promise<void> {
    this.#gathered.bytes -= this.#cost;
    this.#cost = 0;
    this.#chunks = [];
    await this.#writing.catch(() => undefined);
    await this.#close();
    await rm(this.path, { force: true });
  }

  #close(): Promise<void> {
    this.#closing ??= this.#opening.then((file) => file.close()).catch(() => undefined);
    return this.#closing;
  }

  async #write(): Promise<void> {
    const whole = this.#chunks;
    const cost = this.#cost;
    this.#chunks = [];
    this.#cost = 0;
    try {
      const file = await this.#opening;
      for (let left = whole; left.length > 0; ) left = skip(left, (await file.writev(left)).bytesWritten);
      for (const chunk of whole) freeChunk(chunk);
    } finally {
      this.#gathered.bytes -= cost;
    }
  }
}
