import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { invalid, ServiceError } from "../errors.ts";
import { nestsDeeperThan } from "../guard/json-depth.ts";
import type { RequestLimits } from "../guard/limits.ts";
import { parseJson } from "../query/key-order.ts";

export type BodyLimits = Pick<RequestLimits, "maxBodyBytes" | "maxJsonDepth">;

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

/** Node's message where there is one: counting its chunks is much cheaper than converting it to a web stream. */
const chunksOf = (context: Context): AsyncIterable<Uint8Array> => {
  const incoming = (context.env as { incoming?: IncomingMessage } | undefined)?.incoming;
  if (incoming !== undefined) return incoming;
  return (context.req.raw.body ?? []) as AsyncIterable<Uint8Array>;
};

const decode = (bytes: Uint8Array): string => {
  if (!isUtf8(bytes)) throw invalid("the body is not valid UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
};

const readCounted = async (context: Context, limit: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(context)) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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

const readBytes = async (context: Context, limit: number): Promise<Uint8Array> => {
  const declared = context.req.header("content-length");
  if (declared === undefined) return readCounted(context, limit).catch(incomplete);
  if (Number(declared) > limit) throw tooLarge(limit);
  return new Uint8Array(await context.req.arrayBuffer().catch(incomplete));
};

const parse = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    throw invalid("the body is not valid JSON");
  }
};

/**
 * Reads a request's body. Its size is checked before reading, its depth before parsing. An empty body and `null` are
 * `{}`: LanceDB's client requests statistics and the Rust REST namespace requests lists that way.
 *
 * @throws ServiceError 408, 413, 415, or code 13.
 */
export const readBody = async (context: Context, limits: BodyLimits): Promise<Record<string, unknown>> => {
  const encoding = context.req.header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    throw unsupported("a content-encoding is not supported: send the body uncompressed");
  const text = decode(await readBytes(context, limits.maxBodyBytes));
  if (text.trim() === "") return {};
  const type = context.req.header("content-type");
  if (type !== undefined && !mediaType.test(type))
    throw unsupported("the body's content-type must be application/json");
  if (nestsDeeperThan(text, limits.maxJsonDepth))
    throw invalid(`the body is nested deeper than ${limits.maxJsonDepth} arrays and objects`);
  const body = parse(text);
  if (body === null) return {};
  if (typeof body !== "object" || Array.isArray(body)) throw invalid("the body must be a JSON object");
  return body as Record<string, unknown>;
};
