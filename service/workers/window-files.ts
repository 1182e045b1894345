import { closeSync, openSync, read as readCallback, rmSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const read = promisify(readCallback);

/** The largest window of a blob. */
const fileBytes = 4 * 2 ** 20;
/** With those of bodies they take less than the 64 MiB that a container has by default. */
const maxFiles = 8;

interface Slot {
  readonly file: number;
  readonly path: string;
}

/** Kept memory of windows. */
const maxBuffers = 4;
/** Smaller parts may wait in a socket after their write. */
const leastRecycled = 2 ** 20;

/**
 * Files in memory by which a worker process hands over the bytes of blobs, and memory for them that is used again. Messages
 * between processes take three copies, and the collection of memory took most of the CPU of a read. Each file is filled once, so
 * that a write to it cannot fail.
 */
export class WindowFiles {
  readonly #directory: string | undefined;
  readonly #free: Slot[] = [];
  readonly #buffers: Uint8Array[] = [];
  #created = 0;
  #lastId = 0;

  /** @param directory in memory, of these files alone; without one, windows come as messages. */
  constructor(directory: string | undefined) {
    this.#directory = directory;
  }

  /** @returns undefined if there is none, now or on this system. */
  take(): WindowFile | undefined {
    const slot = this.#free.pop() ?? this.#create();
    return (
      slot &&
      new WindowFile(
        slot,
        (bytes) => this.#buffer(bytes),
        (isIntact) => {
          if (isIntact) this.#free.push(slot);
          else this.#remove(slot);
        },
      )
    );
  }

  /** Takes back what {@link WindowFile.read} gave. */
  recycle(bytes: Uint8Array): void {
    const isWhole = bytes.byteLength === bytes.buffer.byteLength;
    if (isWhole && bytes.byteLength >= leastRecycled && this.#buffers.length < maxBuffers) this.#buffers.push(bytes);
  }

  #buffer(bytes: number): Uint8Array {
    const found = this.#buffers.findIndex(({ byteLength }) => byteLength === bytes);
    const [kept] = found === -1 ? [] : this.#buffers.splice(found, 1);
    // The kept ones are of another size.
    if (kept === undefined && this.#buffers.length === maxBuffers) this.#buffers.shift();
    return kept ?? Buffer.allocUnsafeSlow(bytes);
  }

  close(): void {
    for (const slot of this.#free.splice(0)) this.#remove(slot);
    this.#created = maxFiles;
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
  }

  #remove({ file, path }: Slot): void {
    closeSync(file);
    rmSync(path, { force: true });
    this.#created--;
  }

  #create(): Slot | undefined {
    if (this.#directory === undefined || this.#created === maxFiles) return undefined;
    const path = join(this.#directory, String(++this.#lastId));
    try {
      const file = openSync(path, "wx+", 0o600);
      try {
        if (writeSync(file, new Uint8Array(fileBytes)) < fileBytes) throw new Error("the file system is full");
      } catch (error) {
        closeSync(file);
        throw error;
      }
      this.#created++;
      return { file, path };
    } catch {
      // Memory or its file system is full: it will not be tried again.
      this.#created = maxFiles;
      rmSync(path, { force: true });
      return undefined;
    }
  }
}

/** The file of one window. */
export class WindowFile {
  readonly path: string;
  readonly #file: number;
  readonly #bufferOf: (bytes: number) => Uint8Array;
  readonly #end: (isIntact: boolean) => void;

  constructor({ file, path }: Slot, bufferOf: (bytes: number) => Uint8Array, end: (isIntact: boolean) => void) {
    this.path = path;
    this.#file = file;
    this.#bufferOf = bufferOf;
    this.#end = end;
  }

  /** The first bytes, which a worker wrote, in memory of their own. */
  async read(bytes: number): Promise<Uint8Array> {
    const buffer = this.#bufferOf(bytes);
    const { bytesRead } = await read(this.#file, buffer, 0, bytes, 0);
    if (bytesRead < bytes) throw new Error("a window of a blob is not complete");
    return buffer;
  }

  /** Others may use it from now on. */
  release(): void {
    this.#end(true);
  }

  /** A worker whose call failed may still write to it. */
  discard(): void {
    this.#end(false);
  }
}

/** In a worker. @returns the number of bytes, or the bytes themselves where the file cannot have them. */
export const writeWindow = async (path: string, bytes: Uint8Array): Promise<Uint8Array | number> => {
  if (bytes.byteLength > fileBytes) return bytes;
  try {
    await using file = await open(path, "r+");
    const { bytesWritten } = await file.write(bytes, 0, bytes.byteLength, 0);
    return bytesWritten === bytes.byteLength ? bytesWritten : bytes;
  } catch {
    return bytes;
  }
};
