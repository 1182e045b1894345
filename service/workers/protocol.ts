import { type ErrorCode, ServiceError } from "../errors.ts";
import type { Database, DatabaseConfig } from "../lance/database.ts";

/**
 * What passes between the service and a worker process, by structured clone. A worker learns the database's address
 * when it starts and then one verified call at a time: nothing of the request that carried it.
 */

/** The calls of the database that a worker can make. */
export type Method = "analyze" | "explain" | "query" | "count" | "versions" | "branches";

export type Result<M extends Method> = Awaited<ReturnType<Database[M]>>;

/** One call: a method and its arguments. */
export type Call<M extends Method = Method> = {
  readonly [N in M]: { readonly method: N; readonly values: Parameters<Database[N]> };
}[M];

export type ToWorker =
  | { readonly kind: "open"; readonly database: DatabaseConfig }
  | { readonly kind: "call"; readonly id: number; readonly call: Call };

/** What became of a call. */
export type CallAnswer =
  | { readonly kind: "result"; readonly id: number; readonly result: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: Failure };

export type FromWorker = { readonly kind: "ready" } | CallAnswer;

/** A ServiceError on its way between processes. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly detail?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the error behind it, for the log. */
  readonly cause?: string;
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const toFailure = (error: unknown): Failure => {
  const known = error instanceof ServiceError ? error : new ServiceError(18, { cause: error });
  return {
    code: known.code,
    message: known.message,
    ...(known.detail === undefined ? {} : { detail: known.detail }),
    headers: known.headers,
    ...(known.cause === undefined ? {} : { cause: textOf(known.cause) }),
  };
};

export const fromFailure = ({ code, message, detail, headers, cause }: Failure): ServiceError =>
  new ServiceError(code, {
    message,
    headers,
    ...(detail === undefined ? {} : { detail }),
    ...(cause === undefined ? {} : { cause: new Error(cause) }),
  });

export const perform = (database: Database, { method, values }: Call): Promise<unknown> =>
  (database[method] as (...values: unknown[]) => Promise<unknown>)(...values);
