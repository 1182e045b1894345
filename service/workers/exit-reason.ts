import { ServiceError } from "../errors.ts";
import type { Method } from "./protocol.ts";

/** Why a worker process ended. The first four are the supervisor's own decisions. */
export type EndReason = "deadline" | "memory" | "recycled" | "stopped" | "crash" | "killed" | "start";

export interface WorkerLimits {
  readonly deadlineSeconds: number;
  readonly memoryBytes: number;
}

/** Signals by which a process ends through its own fault. */
const faults: ReadonlySet<string | null> = new Set([
  "SIGSEGV",
  "SIGABRT",
  "SIGBUS",
  "SIGILL",
  "SIGFPE",
  "SIGTRAP",
  "SIGSYS",
]);

/** What an exit means that the supervisor has not asked for. */
export const exitReason = (ready: boolean, code: number | null, signal: string | null): EndReason => {
  if (!ready) return "start";
  return faults.has(signal) || (code !== null && code !== 0) ? "crash" : "killed";
};

const mebibytes = (bytes: number): number => Math.floor(bytes / 2 ** 20);

/** How an ended call is spoken of, and what its caller can do about each end. */
interface Wording {
  readonly name: string;
  readonly deadline: string;
  readonly memory: string;
  readonly crash: string;
}

const query: Wording = {
  name: "the query",
  deadline: "ask for less, narrow it, index what it searches, or have the operator raise the deadline",
  memory: "ask for fewer rows or columns, or simplify its expressions",
  crash: "simplify its expressions, or ask for less",
};

const list: Wording = {
  name: "reading all versions of the table",
  deadline: "have old versions cleaned up, or have the operator raise the deadline",
  memory: "have old versions cleaned up",
  crash: "have old versions cleaned up",
};

const wordings: Readonly<Record<Method, Wording>> = {
  analyze: query,
  explain: query,
  query,
  count: query,
  versions: list,
  branches: list,
};

/**
 * The answer to a request whose worker has ended while it ran there alone.
 *
 * A query that ends its worker by itself would end the next one too, so it is the caller's to change (13, which no
 * client retries); what may go better another time is 17.
 */
export const verdict = (
  reason: EndReason,
  { deadlineSeconds, memoryBytes }: WorkerLimits,
  method: Method,
): ServiceError => {
  const { name, ...wayOut } = wordings[method];
  switch (reason) {
    case "deadline":
      return new ServiceError(17, {
        message: `${name} ran for more than ${deadlineSeconds} s and was ended: ${wayOut.deadline}`,
        retryAfter: Math.ceil(deadlineSeconds),
      });
    case "memory":
      return new ServiceError(13, {
        message: `${name} took more than the ${mebibytes(memoryBytes)} MiB of memory that one call may have and was ended: ${wayOut.memory}`,
      });
    case "crash":
      return new ServiceError(13, { message: `${name} ended the process that ran it: ${wayOut.crash}` });
    case "stopped":
      return new ServiceError(17, { message: "the service is stopping; retry", retryAfter: 1 });
    case "killed":
    case "start":
    case "recycled":
      return new ServiceError(17, {
        message: "the process that ran the query was ended from outside; retry",
        retryAfter: 1,
      });
  }
};
