import { ServiceError } from "../errors.ts";
import type { IsolatableCalls } from "../lance/database.ts";
import type { Method } from "./protocol.ts";

/** Why a worker process ended. The first five are decisions of the supervisor. */
export type ExitReason = "deadline" | "abandoned" | "memory" | "recycled" | "stopped" | "crash" | "killed" | "start";

export interface WorkerLimits {
  readonly deadlineSeconds: number;
  readonly memoryBytes: number;
}

/** Signals that a process raises by its own fault. */
const crashSignals: ReadonlySet<string | null> = new Set([
  "SIGSEGV",
  "SIGABRT",
  "SIGBUS",
  "SIGILL",
  "SIGFPE",
  "SIGTRAP",
  "SIGSYS",
]);

/** The reason of an exit that the supervisor did not cause. */
export const exitReason = (ready: boolean, code: number | null, signal: string | null): ExitReason => {
  if (!ready) return "start";
  return crashSignals.has(signal) || (code !== null && code !== 0) ? "crash" : "killed";
};

const mebibytes = (bytes: number): number => Math.floor(bytes / 2 ** 20);

/** The name of a call in messages, and what its caller can do about each exit reason. */
interface Advice {
  readonly name: string;
  readonly deadline: string;
  readonly memory: string;
  readonly crash: string;
}

const query: Advice = {
  name: "the query",
  deadline: "reduce k, narrow the filter, index the searched columns, or ask the operator to raise the deadline",
  memory: "request fewer rows or columns, or simplify its expressions",
  crash: "simplify its expressions, or request fewer rows",
};

const list: Advice = {
  name: "reading all versions of the table",
  deadline: "clean up old versions, or ask the operator to raise the deadline",
  memory: "clean up old versions",
  crash: "clean up old versions",
};

const blob: Advice = {
  name: "reading the blob",
  deadline: "request a smaller range, or ask the operator to raise the deadline",
  memory: "request a smaller range",
  crash: "request a smaller range, or write the blob again",
};

const write: Advice = {
  name: "the write",
  deadline: "send fewer rows at a time, or ask the operator to raise LAKEHEAD_WRITE_DEADLINE_SECONDS",
  memory: "send fewer rows at a time",
  crash: "write the rows with an Arrow library, and send fewer at a time",
};

const advice: Readonly<Record<keyof IsolatableCalls, Advice>> = {
  analyze: query,
  explain: query,
  query,
  count: query,
  versions: list,
  branches: list,
  blobSizes: blob,
  readBlobs: blob,
};

const isRead = (method: Method): method is keyof IsolatableCalls => Object.hasOwn(advice, method);

/** The error of a call that has not run, because the service stops. */
export const stopping = (): ServiceError =>
  new ServiceError(17, { message: "the service is stopping; retry", retryAfter: 1 });

/**
 * The error of a call whose worker ended while it ran no other call, before the call could commit anything.
 *
 * A query that crashes its worker would crash the next one too, so its code is 13, which no client retries. Where a
 * retry may succeed, the code is 17.
 */
export const exitToError = (
  reason: ExitReason,
  { deadlineSeconds, memoryBytes }: WorkerLimits,
  method: Method,
): ServiceError => {
  const { name, ...advised } = isRead(method) ? advice[method] : write;
  switch (reason) {
    case "deadline":
      return new ServiceError(17, {
        message: `${name} ran for more than ${deadlineSeconds} s and was stopped: ${advised.deadline}`,
        retryAfter: Math.ceil(deadlineSeconds),
      });
    case "memory":
      return new ServiceError(13, {
        message: `${name} exceeded the memory limit of ${mebibytes(memoryBytes)} MiB and was stopped: ${advised.memory}`,
      });
    case "crash":
      return new ServiceError(13, { message: `${name} crashed its worker process: ${advised.crash}` });
    case "abandoned":
      return new ServiceError(17, {
        message: `${name} was stopped: its client had left, and another write waited for its worker process`,
        retryAfter: 1,
      });
    case "stopped":
      return stopping();
    case "killed":
    case "start":
    case "recycled":
      return new ServiceError(17, {
        message: "the worker process was killed; retry",
        retryAfter: 1,
      });
  }
};
