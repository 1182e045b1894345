import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { ServiceError } from "../errors.ts";
import type { RowData } from "../lance/write-calls.ts";
import type { ApiRequest } from "./api-request.ts";
import { BodyFile, Gathered } from "./body-file.ts";

export interface UploadLimits {
  /** Maximum bytes of one body. */
  readonly maxWriteBytes: number;
  /** Maximum bytes of all bodies that are received or written at a time. */
  readonly maxUploadBytes: number;
}

export interface Upload {
  readonly data: RowData;
  readonly bytes: number;
  /** Removes the file of the rows, and makes room for others. */
  release(): Promise<void>;
}

/** A smaller body stays in memory. */
const inlineBytes = 256 * 1024;
/** Maximum bytes of all other bodies in memory, on their way to their files. */
const gatheredBytes = 32 * 2 ** 20;

const mediaType = /^application\/(?:vnd\.apache\.arrow\.stream|octet-stream)\s*(?:;|$)/i;

const prefix = "lakehead-uploads-";
const directoryOf = (pid: number): string => join(tmpdir(), `${prefix}${pid}`);

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** Removes the files of services that were killed. */
const removeStale = (): void => {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(prefix))) {
    const pid = Number(name.slice(prefix.length));
    if (pid > 0 && (pid === process.pid || !isRunning(pid))) rmSync(directoryOf(pid), { recursive: true, force: true });
  }
};

const unsupported = (message: string): ServiceError =>
  new ServiceError(13, { transport: "mediaTypeNotSupported", message });

/** Without destroying the connection when reading stops early: the response is sent on it. */
const chunksOf = ({ body }: ApiRequest): AsyncIterable<Uint8Array> =>
  body instanceof Readable ? body.iterator({ destroyOnReturn: false }) : body;

/**
 * Receives the rows of writes. A body is written to a file as it arrives, so that the main process holds no more than a
 * piece of it, and a worker, which reads the file, is not occupied by a slow client.
 */
export class Uploads {
  readonly #limits: UploadLimits;
  readonly #directory = directoryOf(process.pid);
  readonly #gathered = new Gathered(gatheredBytes);
  #received = 0;
  #lastId = 0;

  constructor(limits: UploadLimits) {
    this.#limits = limits;
    removeStale();
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
  }

  /** Bytes of all bodies that are received or written at the moment. */
  get bytes(): number {
    return this.#received;
  }

  close(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** @throws ServiceError 408, 413, 415, or 503 if the bodies of all callers together are too large. */
  async receive(request: ApiRequest): Promise<Upload> {
    const { headers } = request;
    const encoding = headers.get("content-encoding");
    if (typeof encoding === "string" && encoding.toLowerCase() !== "identity")
      throw unsupported("a content-encoding is not supported: compress the buffers of the Arrow stream instead");
    const type = headers.get("content-type");
    if (typeof type === "string" && !mediaType.test(type))
      throw unsupported("the body's content-type must be application/vnd.apache.arrow.stream");
    const declared = Number(headers.get("content-length") ?? 0);
    if (declared > this.#limits.maxWriteBytes) throw this.#tooLarge();
    const chunks: Uint8Array[] = [];
    let file: BodyFile | undefined;
    let bytes = 0;
    const release = async (): Promise<void> => {
      // A file that stays is removed when the service starts again.
      await file?.remove().catch(() => undefined);
      this.#received -= bytes;
      bytes = 0;
    };
    try {
      for await (const chunk of chunksOf(request)) {
        this.#count(chunk.byteLength);
        bytes += chunk.byteLength;
        if (bytes > this.#limits.maxWriteBytes) throw this.#tooLarge();
        if (file === undefined && bytes > inlineBytes) {
          file = new BodyFile(join(this.#directory, String(++this.#lastId)), this.#gathered);
          for (const earlier of chunks.splice(0)) await file.add(earlier);
        }
        if (file === undefined) chunks.push(chunk);
        else await file.add(chunk);
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

  #count(bytes: number): void {
    if (this.#received + bytes > this.#limits.maxUploadBytes)
      throw new ServiceError(17, {
        message: "the service is at its limit of rows that are being written; retry",
        retryAfter: 1,
        headers: { connection: "close" },
      });
    this.#received += bytes;
  }

  #tooLarge(): ServiceError {
    return new ServiceError(13, {
      transport: "bodyTooLarge",
      message: `the body is larger than ${this.#limits.maxWriteBytes} bytes: send the rows in several requests, or ask the operator to raise LAKEHEAD_MAX_WRITE_BYTES`,
      headers: { connection: "close" },
    });
  }
}

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
