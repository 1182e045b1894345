import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { ServiceError } from "../errors.ts";

/** Facts that the pipeline collects about a request, for its log line and span. */
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

/** Hono's environment: the record travels with the request. */
export interface AppEnv {
  Variables: { record: RequestRecord };
}

/** A caller's request id of this form is kept, so that a retry can be found together with its first attempt. */
const usable = /^[\w.:-]{1,128}$/;

export const newRecord = (context: Context<AppEnv>): RequestRecord => {
  const sent = context.req.header("x-request-id");
  return {
    id: sent !== undefined && usable.test(sent) ? sent : randomUUID(),
    startedAt: performance.now(),
    operation: "unknown",
  };
};

/** Headers of every response. */
export const answerHeaders = ({ id }: RequestRecord) => ({
  "x-request-id": id,
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});

/** The body of every error response. */
export const errorBody = (failure: ServiceError, requestId: string): Record<string, unknown> => ({
  error: failure.message,
  code: failure.code,
  ...(failure.detail === undefined ? {} : { detail: failure.detail }),
  instance: requestId,
});

export const asServiceError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError(18, { cause: error });
