import { closeSync, openSync, readFileSync, renameSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { freeChunk } from "./body-file.ts";
import { makeUploadDirectory } from "./upload-directory.ts";

/** Bytes of a memory file, and of the largest body in one. */
const fileBytes = 4 * 2 ** 20;
/** Other bodies take longer: half a millisecond if a megabyte goes to the disk. */
const maxFiles = 4;

/** The type of a file system in memory, as `statfs` returns it. */
const tmpfs = 0x01021994;

interface Slot {
  readonly file: number;
  readonly path: string;
}

/**
 * Files in memory for bodies of middle size. Each is filled once, when it is created, and keeps its memory: then a write to it
 * cannot fail, waits for nothing, and takes no longer than a copy.
 */
export class MemoryFiles {
  readonly #directory: string;
  readonly #free: Slot[] = [];
  #created = 0;
  #lastId = 0;

  /** @param directory in memory, of these files alone. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @returns undefined if there is none for so many bytes. */
  take(bytes: number): MemoryFile | undefined {
    if (bytes > fileBytes) return undefined;
    const slot = this.#renamed(this.#free.pop()) ?? this.#create();
    return slot && new MemoryFile(slot, () => this.#free.push(slot));
  }

  close(): void {
    for (const { file } of this.#free.splice(0)) closeSync(file);
    this.#created = maxFiles;
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #nextPath(): string {
    return join(this.#directory, String(++this.#lastId));
  }

  /** Who still has the name for an earlier body must not read the next. */
  #renamed(slot: Slot | undefined): Slot | undefined {
    if (slot === undefined) return undefined;
    const path = this.#nextPath();
    try {
      renameSync(slot.path, path);
      return { ...slot, path };
    } catch {
      // Someone has removed it.
      closeSync(slot.file);
      this.#created--;
      return undefined;
    }
  }

  #create(): Slot | undefined {
    if (this.#created === maxFiles) return undefined;
    const path = this.#nextPath();
    try {
      const file = openSync(path, "wx", 0o600);
      try {
        writeAll(file, new Uint8Array(fileBytes), 0);
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

/** A directory of files in memory. @returns undefined where the system has none, or does not let this process write them. */
export const makeMemoryDirectory = (parent = "/dev/shm", prefix?: string): string | undefined => {
  try {
    return statfsSync(parent).type === tmpfs ? makeUploadDirectory(parent, prefix) : undefined;
  } catch {
    return undefined;
  }
};

/** @returns undefined where the system has no files in memory. */
export const openMemoryFiles = (parent: string): MemoryFiles | undefined => {
  const directory = makeMemoryDirectory(parent);
  return directory === undefined ? undefined : new MemoryFiles(directory);
};

const writeAll = (file: number, bytes: Uint8Array, at: number): void => {
  for (let written = 0; written < bytes.byteLength; )
    written += writeSync(file, bytes, written, bytes.byteLength - written, at + written);
};

/** The file of one body, whose bytes are the first of the file. */
export class MemoryFile {
  readonly path: string;
  readonly maxBytes = fileBytes;
  readonly #file: number;
  readonly #giveBack: () => void;
  #bytes = 0;
  #isHeld = true;

  constructor({ file, path }: Slot, giveBack: () => void) {
    this.#file = file;
    this.path = path;
    this.#giveBack = giveBack;
  }

  /** The chunk belongs to the file from now on. */
  async add(chunk: Uint8Array): Promise<void> {
    writeAll(this.#file, chunk, this.#bytes);
    this.#bytes += chunk.byteLength;
    freeChunk(chunk);
  }

  /** All that was added. */
  read(): Uint8Array {
    return readFileSync(this.path).subarray(0, this.#bytes);
  }

  async end(): Promise<void> {}

  /** Nobody may read it from now on. */
  async remove(): Promise<void> {
    if (this.#isHeld) this.#giveBack();
    this.#isHeld = false;
  }
}
