import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ServiceError } from "../errors.ts";
import type { RowData } from "../lance/writes/write-calls.ts";
import type { ApiRequest } from "./api-request.ts";
import { arriving } from "./arrival.ts";
import { BodyFile, Gathered } from "./body-file.ts";
import { MemoryFile, type MemoryFiles, openMemoryFiles } from "./memory-file.ts";
import { SharedBytes } from "./shared-bytes.ts";
import { makeUploadDirectory } from "./upload-directory.ts";

export interface UploadLimits {
  /** Maximum bytes of one body. */
  readonly maxWriteBytes: number;
  /** Bytes of all parts of an upload. */
  readonly maxPartsBytes: number;
  /** Maximum bytes of all bodies that are received or written at a time; a caller may hold as many as it leaves free. */
  readonly maxUploadBytes: number;
  /** Milliseconds in which a part of a body must arrive. */
  readonly stallMs: number;
}

export interface Upload {
  readonly data: RowData;
  readonly bytes: number;
  /** Removes the file of the rows, and makes room for others. */
  release(): Promise<void>;
}

/** A smaller body goes to its worker in a message: it takes no longer than a file. */
const messageBytes = 16 * 1024;
/** So does one of this size if there is no file in memory for it: a file on the disk takes longer. */
const maxMessageBytes = 256 * 1024;
/** Maximum bytes of all other bodies in memory, on their way to their files. */
const gatheredBytes = 32 * 2 ** 20;

/** Maximum milliseconds for which the rest of a refused body is read. */
const maxDiscardMs = 5000;

const mediaType = /^application\/(?:vnd\.apache\.arrow\.stream|octet-stream)\s*(?:;|$)/i;

const unsupported = (message: string): ServiceError =>
  new ServiceError(13, { transport: "mediaTypeNotSupported", message });

/** What an upload reads of its request. */
interface Sent extends Pick<ApiRequest, "headers"> {
  readonly body: Readable;
}

/** Reads what a client is still sending: it would find its connection reset, and not the response that closes it. */
const discardRest = async ({ body }: Sent): Promise<void> => {
  if (body.readableEnded || body.destroyed) return;
  body.resume();
  await finished(body, { signal: AbortSignal.timeout(maxDiscardMs) }).catch(() => undefined);
};

/**
 * Receives the rows of writes. A body is written to a file as it arrives, so that the main process holds no more than a
 * piece of it, and a worker, which reads the file, is not occupied by a slow client. Files of small bodies are in memory, which is
 * bounded; only the smallest bodies have none.
 */
export class Uploads {
  readonly #limits: UploadLimits;
  readonly #directory: string;
  readonly #memoryFiles: MemoryFiles | undefined;
  readonly #gathered = new Gathered(gatheredBytes);
  readonly #received: SharedBytes;
  #lastId = 0;

  /** @param sharedMemory where the system has files in memory, if it has. */
  constructor(limits: UploadLimits, sharedMemory = "/dev/shm") {
    this.#limits = limits;
    this.#received = new SharedBytes(limits.maxUploadBytes);
    this.#directory = makeUploadDirectory(tmpdir());
    this.#memoryFiles = openMemoryFiles(sharedMemory);
  }

  /** Bytes of all bodies that are received or written at the moment. */
  get bytes(): number {
    return this.#received.held;
  }

  close(): void {
    this.#memoryFiles?.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /**
   * @param room of an upload in parts that is left; absent: the bytes of one write.
   * @throws ServiceError 408, 413, 415, or 503 if the bodies of the caller, or of all, are too large together.
   */
  async receive(request: Sent, caller: string, room?: number): Promise<Upload> {
    try {
      return await this.#receive(request, caller, room);
    } catch (error) {
      // What did not arrive in time is not waited for again.
      if (!(error instanceof ServiceError && error.transport === "requestTimeout")) await discardRest(request);
      throw error;
    }
  }

  async #receive(request: Sent, caller: string, room: number | undefined): Promise<Upload> {
    const { headers } = request;
    const { maxWriteBytes, maxPartsBytes } = this.#limits;
    const mostBytes = Math.min(maxWriteBytes, room ?? maxWriteBytes);
    const refusal = (): ServiceError =>
      room !== undefined && room < maxWriteBytes ? partsTooLarge(maxPartsBytes) : tooLarge(maxWriteBytes);
    const encoding = headers.get("content-encoding");
    if (typeof encoding === "string" && encoding.toLowerCase() !== "identity")
      throw unsupported("a content-encoding is not supported: compress the buffers of the Arrow stream instead");
    const type = headers.get("content-type");
    if (typeof type === "string" && !mediaType.test(type))
      throw unsupported("the body's content-type must be application/vnd.apache.arrow.stream");
    const declared = Number(headers.get("content-length") ?? 0);
    if (declared > mostBytes) throw refusal();
    const chunks: Uint8Array[] = [];
    let file: BodyFile | MemoryFile | undefined;
    let bytes = 0;
    const holding = this.#received.open(caller);
    const release = async (): Promise<void> => {
      // A file that stays is removed when the service starts again.
      await file?.remove().catch(() => undefined);
      holding.release();
    };
    try {
      for await (const chunk of arriving(request.body, this.#limits.stallMs)) {
        if (!holding.take(chunk.byteLength)) throw this.#full();
        bytes += chunk.byteLength;
        if (bytes > mostBytes) throw refusal();
        chunks.push(chunk);
        if (bytes > (file?.maxBytes ?? messageBytes)) {
          if (file instanceof MemoryFile) chunks.unshift(file.read());
          await file?.remove();
          file = this.#memoryFiles?.take(Math.max(bytes, declared));
          if (bytes > maxMessageBytes) file ??= this.#fileOnDisk();
        }
        if (file !== undefined) for (const each of chunks.splice(0)) await file.add(each);
      }
      await file?.end();
      const data: RowData =
        file === undefined
          ? { kind: "bytes", bytes: Buffer.concat(chunks) }
          : { kind: "file", path: file.path, size: bytes };
      return { data, bytes, release };
    } catch (error) {
      await release();
      throw asUploadError(error);
    }
  }

  #fileOnDisk(): BodyFile {
    return new BodyFile(join(this.#directory, String(++this.#lastId)), this.#gathered);
  }

  #full(): ServiceError {
    return new ServiceError(17, {
      message:
        "the service is at its limit of rows that are being written, of which one caller may hold as many bytes as it leaves free; retry when your other writes have ended",
      retryAfter: 1,
      headers: { connection: "close" },
    });
  }
}

const tooMany = (message: string): ServiceError =>
  new ServiceError(13, { transport: "bodyTooLarge", message, headers: { connection: "close" } });

const tooLarge = (bytes: number): ServiceError =>
  tooMany(
    `the body is larger than ${bytes} bytes: send the rows in several requests (LanceDB's clients: LANCE_CLIENT_MAX_BYTES_PER_REQUEST), or ask the operator to raise LAKEHEAD_MAX_WRITE_BYTES`,
  );

const partsTooLarge = (bytes: number): ServiceError =>
  tooMany(
    `the parts of the upload have more than ${bytes} bytes together, which are committed at once: send the rows in several writes, or ask the operator to raise LAKEHEAD_MAX_WRITE_BYTES, or LAKEHEAD_MAX_LARGE_UPLOAD_BYTES where Functions are on`,
  );

const full = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

const asUploadError = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error;
  if (full.has((error as NodeJS.ErrnoException).code ?? ""))
    return new ServiceError(17, {
      message: "the service has no space left for the rows of writes: the write was refused",
      retryAfter: 30,
      cause: error,
    });
  return new ServiceError(13, {
    transport: "requestTimeout",
    message: "the body is incomplete: send it again",
    cause: error,
  });
};
