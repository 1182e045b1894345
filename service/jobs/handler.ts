import { ServiceError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import { type JobContent, type JobEvent, type JobFailure, type JobRecord, verifyContent } from "./record.ts";

/** Why a job's signal is aborted. */
export type StopReason = "cancel" | "pause" | "timeout" | "shutdown" | "lost";

export interface JobContext {
  /** Aborted with a {@link StopReason}. */
  readonly signal: AbortSignal;
  /** Keeps events in order. One that cannot be stored is dropped: no job fails for it. */
  readonly appendEvents: (events: readonly JobEvent[]) => Promise<void>;
}

export interface JobHandler {
  /** Whether a job of a process that ended can be performed again, from what is committed. */
  readonly resumable: boolean;
  /** @returns the job's result. @throws JobFailed, or any error. */
  perform(job: JobRecord, context: JobContext): Promise<JobContent>;
}

/** What a handler throws to say why. */
export class JobFailed extends Error {
  readonly failure: JobFailure;

  /** @param message for the caller. */
  constructor(phase: string, message: string, retryable: boolean, options?: ErrorOptions) {
    super(message, options);
    this.failure = { phase, message, retryable };
  }
}

/** What a handler throws before it has begun, because something else works on the table. */
export class JobBusy extends Error {}

const retryableCodes: readonly number[] = [14, 17, 18, 21];

const failureOf = (error: unknown): JobFailure => {
  if (error instanceof JobFailed) return error.failure;
  // Any other text is native.
  const known = error instanceof ServiceError ? error : new ServiceError(18);
  const message = known.code === 18 ? "the job failed; the service's log has the cause" : known.message;
  return { phase: "run", message, retryable: retryableCodes.includes(known.code) };
};

/** Performs a job. */
export const outcomeOf = async (
  handler: JobHandler | "elsewhere" | undefined,
  job: JobRecord,
  context: JobContext,
  log: Log,
): Promise<{ readonly result: JobContent } | { readonly failure: JobFailure } | { readonly busy: string }> => {
  try {
    context.signal.throwIfAborted();
    if (handler === undefined || handler === "elsewhere")
      throw new Error(`no handler is registered for jobs of the type ${job.type}`);
    const result = await handler.perform(job, context);
    verifyContent(result, "result");
    return { result };
  } catch (error) {
    if (error instanceof JobBusy) return { busy: error.message };
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const fields = { job: job.id, type: job.type, table: job.table };
    if (!context.signal.aborted) log.warn({ ...fields, reason: String(cause).slice(0, 500) }, "a job failed");
    return { failure: failureOf(error) };
  }
};
