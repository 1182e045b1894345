import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { invalid, ServiceError } from "../errors.ts";
import { nestsDeeperThan } from "../guard/json-depth.ts";
import type { RequestLimits } from "../guard/limits.ts";

type BodyLimits = Pick<RequestLimits, "maxBodyBytes" | "maxJsonDepth">;

const tooLarge = (limit: number): ServiceError =>
  new ServiceError(13, {
    transport: "bodyTooLarge",
    message: `the body is larger than ${limit} bytes: send less, or have the operator raise the limit`,
    // What is left of the body is not worth reading.
    headers: { connection: "close" },
  });

const mediaType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

const unsupported = (message: string): ServiceError =>
  new ServiceError(13, { transport: "mediaTypeNotSupported", message });

/** Node's own message where there is one: counting its chunks is much cheaper than making a web stream of it. */
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

/** Whatever else ends a body before its end is the client's doing, or its way's: none of it is a failure of this service. */
const cutOff = (error: unknown): never => {
  if (error instanceof ServiceError) throw error;
  throw new ServiceError(13, {
    transport: "requestTimeout",
    message: "the body did not arrive as a whole: send it again",
    cause: error,
  });
};

const readText = (context: Context, limit: number): Promise<string> => {
  const declared = context.req.header("content-length");
  if (declared === undefined) return readCounted(context, limit).catch(cutOff);
  if (Number(declared) > limit) throw tooLarge(limit);
  return context.req.text().catch(cutOff);
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("the body is not JSON");
  }
};

/**
 * Reads a request's body, checked for size before it is read and for depth before it is parsed. An empty body and
 * `null` are `{}`: that is how LanceDB's client asks for statistics and the Rust REST namespace for lists.
 *
 * @throws ServiceError 408, 413, 415, or code 13.
 */
export const readBody = async (context: Context, limits: BodyLimits): Promise<Record<string, unknown>> => {
  const encoding = context.req.header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    throw unsupported("a body with a content-encoding is not supported: send it as it is");
  const text = await readText(context, limits.maxBodyBytes);
  if (text.trim() === "") return {};
  const type = context.req.header("content-type");
  if (type !== undefined && !mediaType.test(type))
    throw unsupported("the body's content-type must be application/json");
  if (nestsDeeperThan(text, limits.maxJsonDepth))
    throw invalid(`the body nests deeper than ${limits.maxJsonDepth} arrays and objects`);
  const body = parse(text);
  if (body === null) return {};
  if (typeof body !== "object" || Array.isArray(body)) throw invalid("the body must be a JSON object");
  return body as Record<string, unknown>;
};
