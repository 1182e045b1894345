import { randomUUID } from "node:crypto";
import { etag, RETAINED_304_HEADERS } from "hono/etag";
import { ServiceError } from "../errors.ts";
import type { Audit } from "../operations/operation.ts";

/** Facts that the pipeline collects about a request, for its log line and span. */
export interface RequestRecord extends Audit {
  readonly id: string;
  readonly startedAt: number;
  operation: string;
  table?: string;
  principal?: string;
  context?: Record<string, string>;
  body?: unknown;
  failure?: ServiceError;
  /** Whether the operation changes tables or namespaces. */
  writes: boolean;
  /** Bytes of the rows of a write. */
  bytes?: number;
}

/** Hono's environment: the record travels with the request. */
export interface AppEnv {
  Variables: { record: RequestRecord };
}

/** A caller's request id of this form is kept, so that a retry can be found together with its first attempt. */
const usable = /^[\w.:-]{1,128}$/;

/** @param sent the caller's request id. */
export const newRecord = (sent: string | null | undefined): RequestRecord => ({
  id: typeof sent === "string" && usable.test(sent) ? sent : randomUUID(),
  startedAt: performance.now(),
  operation: "unknown",
  writes: false,
});

/** A response. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** Called with each part of a stream that the system has, if the sender knows. */
  readonly recycle?: (bytes: Uint8Array) => void;
}

/** Headers of every response. */
export const answerHeaders = ({ id }: RequestRecord) => ({
  "x-request-id": id,
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});

/** Responds 304 to a request whose `if-none-match` names the response's entity tag. */
export const notModified = etag({
  retainedHeaders: [
    ...RETAINED_304_HEADERS,
    "x-request-id",
    "x-content-type-options",
    "content-security-policy",
    "cross-origin-opener-policy",
    "referrer-policy",
  ],
});

/** The body of every error response. */
export const errorBody = (failure: ServiceError, requestId: string): Record<string, unknown> => ({
  error: failure.message,
  code: failure.code,
  ...(failure.detail === undefined ? {} : { detail: failure.detail }),
  instance: requestId,
});

const noDescriptor: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE"]);

const asServiceError = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error;
  // The file of an upload, or the socket to a provider of keys.
  if (noDescriptor.has((error as NodeJS.ErrnoException | undefined)?.code))
    return new ServiceError(17, {
      message: "the service has no file descriptor left; retry",
      retryAfter: 1,
      cause: error,
    });
  return new ServiceError(18, { cause: error });
};

/** The response to a request that failed; its record keeps the failure. */
export const replyToFailure = (error: unknown, record: RequestRecord): Reply => {
  const failure = asServiceError(error);
  record.failure = failure;
  return {
    status: failure.status,
    headers: { ...answerHeaders(record), "content-type": "application/json", ...failure.headers },
    body: JSON.stringify(errorBody(failure, record.id)),
  };
};
