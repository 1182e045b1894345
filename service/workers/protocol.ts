import { type Dependency, type ErrorCode, ServiceError, type transportStatuses } from "../errors.ts";
import type { DatabaseConfig, IsolatableCalls } from "../lance/database.ts";
import type { WriteCalls } from "../lance/writes/write-calls.ts";

/**
 * Messages between the service and a worker process, sent by structured clone. A worker gets the database's
 * configuration when it starts and verified calls afterwards, but nothing else of the requests (no token, no header).
 */

export type WorkerCalls = IsolatableCalls & WriteCalls;

export type Method = keyof WorkerCalls;

export type Result<M extends Method> = Awaited<ReturnType<WorkerCalls[M]>>;

/** One call: a method and its arguments. @param into path of a file for a result of bytes; the result is then their number. */
export type Call<M extends Method = Method> = {
  readonly [N in M]: { readonly method: N; readonly values: Parameters<WorkerCalls[N]>; readonly into?: string };
}[M];

export type ToWorker =
  | { readonly kind: "open"; readonly database: DatabaseConfig }
  /** Other processes have changed the tables `forget`: their cached handles are outdated. */
  | { readonly kind: "call"; readonly id: number; readonly call: Call; readonly forget: readonly string[] }
  | { readonly kind: "forget"; readonly forget: readonly string[] };

/** The outcome of a call. */
export type CallOutcome =
  | { readonly kind: "result"; readonly id: number; readonly result: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: Failure };

/** The call may commit from now on. */
export interface Committing {
  readonly kind: "committing";
  readonly id: number;
}

export type FromWorker = { readonly kind: "ready" } | Committing | CallOutcome;

/** A ServiceError in a form that can be cloned. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly detail?: string;
  readonly dependency?: Dependency;
  readonly transport?: keyof typeof transportStatuses;
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the error that caused it, for the log. */
  readonly cause?: string;
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const toFailure = (error: unknown): Failure => {
  const known = error instanceof ServiceError ? error : new ServiceError(18, { cause: error });
  return {
    code: known.code,
    message: known.message,
    ...(known.detail === undefined ? {} : { detail: known.detail }),
    ...(known.dependency === undefined ? {} : { dependency: known.dependency }),
    ...(known.transport === undefined ? {} : { transport: known.transport }),
    headers: known.headers,
    ...(known.cause === undefined ? {} : { cause: textOf(known.cause) }),
  };
};

export const fromFailure = ({ code, cause, ...failure }: Failure): ServiceError =>
  new ServiceError(code, {
    ...failure,
    ...(cause === undefined ? {} : { cause: new Error(cause) }),
  });

export const perform = (database: WorkerCalls, { method, values }: Call): Promise<unknown> =>
  (database[method] as (...values: unknown[]) => Promise<unknown>)(...values);
