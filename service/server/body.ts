import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { invalid, ServiceError } from "../errors.ts";
import { nestsDeeperThan } from "../guard/json-depth.ts";
import type { RequestLimits } from "../guard/limits.ts";

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

const readCounted = async (context: Context, limit: number): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(context)) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
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

const readText = (context: Context, limit: number): Promise<string> => {
  const declared = context.req.header("content-length");
  if (declared === undefined) return readCounted(context, limit).catch(incomplete);
  if (Number(declared) > limit) throw tooLarge(limit);
  return context.req.text().catch(incomplete);
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
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
  const text = await readText(context, limits.maxBodyBytes);
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
