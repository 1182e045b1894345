import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { ServiceError } from "../errors.ts";

/** What the pipeline learns of a request on its way, for the log line and the span. */
export interface RequestRecord {
  readonly id: string;
  readonly startedAt: number;
  operation: string;
  table?: string;
  principal?: string;
  context?: Record<string, string>;
  body?: unknown;
  failure?: ServiceError;
}

/** Hono's environment of this app: the record travels with the request. */
export interface AppEnv {
  Variables: { record: RequestRecord };
}

/** A caller's own id is kept if it is harmless, so that a retry and its first try can be found together. */
const usable = /^[\w.:-]{1,128}$/;

export const newRecord = (context: Context<AppEnv>): RequestRecord => {
  const sent = context.req.header("x-request-id");
  return {
    id: sent !== undefined && usable.test(sent) ? sent : randomUUID(),
    startedAt: performance.now(),
    operation: "unknown",
  };
};

/** Headers of every answer. */
export const answerHeaders = ({ id }: RequestRecord) => ({
  "x-request-id": id,
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});

/** The one form of every refusal. */
export const errorBody = (failure: ServiceError, requestId: string): Record<string, unknown> => ({
  error: failure.message,
  code: failure.code,
  ...(failure.detail === undefined ? {} : { detail: failure.detail }),
  instance: requestId,
});

export const asServiceError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError(18, { cause: error });
