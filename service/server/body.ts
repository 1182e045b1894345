import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { invalid, ServiceError } from "../errors.ts";
import type { RequestLimits } from "../guard/limits.ts";
import { parseJson } from "../query/key-order.ts";
import type { ApiRequest } from "./api-request.ts";
import { Arrival, arriving } from "./arrival.ts";

/**
 * Whether a JSON text nests deeper than `limit` arrays and objects. Runs before `JSON.parse` and zod, which recurse and
 * would overflow the stack on a deep text.
 *
 * A text with at most `limit` opening brackets cannot. Counting brackets by `indexOf` is native code, so that a vector of
 * 1,536 numbers, which has three brackets, is not read character by character.
 */
const nestsDeeperThan = (text: string, limit: number): boolean =>
  countUpTo(text, limit) > limit && deepest(text, limit) > limit;

const countUpTo = (text: string, limit: number): number => {
  let count = 0;
  for (const bracket of ["[", "{"])
    for (let at = text.indexOf(bracket); at !== -1 && count <= limit; at = text.indexOf(bracket, at + 1)) count++;
  return count;
};

const deepest = (text: string, limit: number): number => {
  let depth = 0;
  let max = 0;
  let inString = false;
  for (let at = 0; at < text.length && max <= limit; at++) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === 0x5c) at++;
      else if (character === 0x22) inString = false;
    } else if (character === 0x22) inString = true;
    else if (character === 0x5b || character === 0x7b) max = Math.max(max, ++depth);
    else if (character === 0x5d || character === 0x7d) depth--;
  }
  return max;
};

export interface BodyLimits extends Pick<RequestLimits, "maxBodyBytes" | "maxJsonDepth"> {
  /** Milliseconds in which a part of a body must arrive. */
  readonly stallMs: number;
}

const tooLarge = (limit: number): ServiceError =>
  new ServiceError(13, {
    transport: "bodyTooLarge",
    message: `the body is larger than ${limit} bytes: send a smaller one, or ask the operator to raise LAKEHEAD_MAX_BODY_BYTES`,
    // The rest of the body is not read.
    headers: { connection: "close" },
  });

const mediaType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const unsupported = (message: string): ServiceError =>
  new ServiceError(13, { transport: "mediaTypeNotSupported", message });

const decode = (bytes: Uint8Array): string => {
  if (!isUtf8(bytes)) throw invalid("the body is not valid UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
};

/** Reads a body piece by piece: one whose length is not declared may have any. */
const readCounted = async (body: IncomingMessage, { maxBodyBytes, stallMs }: BodyLimits): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of arriving(body, stallMs)) {
    bytes += chunk.byteLength;
    if (bytes > maxBodyBytes) throw tooLarge(maxBodyBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Reads a body of a declared length, to which Node limits it. Most bodies arrive in one piece. */
const readDeclared = (body: IncomingMessage, { stallMs }: BodyLimits): Promise<Uint8Array> => {
  const arrival = new Arrival(body, stallMs);
  return new Promise<Uint8Array>((resolve, reject) => {
    const closed = (): void => reject(new Error("the connection was closed"));
    if (body.destroyed) return closed();
    const chunks: Buffer[] = [];
    arrival.wait(reject);
    body.on("data", (chunk: Buffer) => {
      arrival.arrived(chunk.byteLength);
      chunks.push(chunk);
      arrival.wait(reject);
    });
    body.on("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    body.on("error", reject);
    body.on("close", () => {
      // Also emitted after a complete body.
      if (!body.readableEnded) closed();
    });
  }).finally(() => arrival.arrived(0));
};

/** A body that ends early is a failure of the client or the network, not of this service. */
const incomplete = (error: unknown): never => {
  if (error instanceof ServiceError) throw error;
  throw new ServiceError(13, {
    transport: "requestTimeout",
    message: "the body is incomplete: send it again",
    cause: error,
  });
};

/** The bytes that a body may have; a chunked one does not tell. */
export const mostBytesOf = ({ headers }: ApiRequest, { maxBodyBytes }: BodyLimits): number => {
  const declared = headers.get("content-length");
  if (typeof declared === "string") return Math.min(Number(declared), maxBodyBytes);
  return typeof headers.get("transfer-encoding") === "string" ? maxBodyBytes : 0;
};

const readBytes = ({ headers, body }: ApiRequest, limits: BodyLimits): Promise<Uint8Array> => {
  const declared = headers.get("content-length") ?? undefined;
  if (declared !== undefined && Number(declared) > limits.maxBodyBytes) throw tooLarge(limits.maxBodyBytes);
  return (declared === undefined ? readCounted(body, limits) : readDeclared(body, limits)).catch(incomplete);
};

const parse = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    throw invalid("the body is not valid JSON");
  }
};

const arrowType = /^application\/vnd\.apache\.arrow\.stream\s*(?:;|$)/i;

/** Whether a body is an Arrow IPC stream, by its content-type. */
export const isArrow = ({ headers }: ApiRequest): boolean => arrowType.test(headers.get("content-type") ?? "");

const refuseEncoding = ({ headers }: ApiRequest): void => {
  const encoding = headers.get("content-encoding");
  if (typeof encoding === "string" && encoding.toLowerCase() !== "identity")
    throw unsupported("a content-encoding is not supported: send the body uncompressed");
};

/** Reads a body of bytes as small as one of JSON. @throws ServiceError 408, 413, 415. */
export const readSmallBytes = (request: ApiRequest, limits: BodyLimits): Promise<Uint8Array> => {
  refuseEncoding(request);
  return readBytes(request, limits);
};

const parseBody = (bytes: Uint8Array, type: string | null | undefined, maxDepth: number): Record<string, unknown> => {
  const text = decode(bytes);
  if (text.trim() === "") return {};
  if (typeof type === "string" && !mediaType.test(type))
    throw unsupported("the body's content-type must be application/json");
  if (nestsDeeperThan(text, maxDepth)) throw invalid(`the body is nested deeper than ${maxDepth} arrays and objects`);
  const body = parse(text);
  if (body === null) return {};
  if (typeof body !== "object" || Array.isArray(body)) throw invalid("the body must be a JSON object");
  return body as Record<string, unknown>;
};

type Work = () => Record<string, unknown>;

/**
 * Reads a request's body. Its size is checked before reading, its depth before parsing. An empty body and `null` are
 * `{}`: LanceDB's client requests statistics and the Rust REST namespace requests lists that way.
 * @param inTurn runs the parsing, which takes CPU.
 * @throws ServiceError 408, 413, 415, or code 13.
 */
export const readBody = async (
  request: ApiRequest,
  limits: BodyLimits,
  inTurn: (work: Work) => Promise<Record<string, unknown>> = async (work) => work(),
): Promise<Record<string, unknown>> => {
  refuseEncoding(request);
  const bytes = await readBytes(request, limits);
  return inTurn(() => parseBody(bytes, request.headers.get("content-type"), limits.maxJsonDepth));
};
