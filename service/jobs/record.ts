import { ServiceError } from "../errors.ts";

/** As LanceDB's clients read them: every other word counts as running. */
export const jobStates = ["IN_PROGRESS", "DONE", "FAILED", "CANCELLED", "TIMED_OUT"] as const;
export type JobState = (typeof jobStates)[number];

/** JSON of a job's type: what it was asked to do, or what came of it. */
export type JobContent = Readonly<Record<string, unknown>>;

export interface JobFailure {
  /** What the job was doing. */
  readonly phase: string;
  /** For the caller: never native text. */
  readonly message: string;
  readonly retryable: boolean;
}

/** What is known of a job, in the database on the store. Times are in milliseconds since 1970; 0 is none. */
export interface JobRecord {
  readonly id: string;
  readonly type: string;
  /** The id of the table that it works on, its parts joined by `$`; empty: none. */
  readonly table: string;
  /** The caller that asked for it, as the pipeline names callers. */
  readonly owner: string;
  readonly spec: JobContent;
  readonly state: JobState;
  readonly createdAt: number;
  readonly endedAt: number;
  /** The process that runs it; empty: the next one takes it. */
  readonly runner: string;
  /** The runner's last sign of life. */
  readonly heartbeat: number;
  /** How many processes have run it. */
  readonly attempts: number;
  /** What the caller wants of it while it is in progress. */
  readonly wish: "run" | "cancel" | "pause";
  /** What came of it; while it is in progress, how far it is, where its runner tells. */
  readonly result: JobContent | null;
  readonly failure: JobFailure | null;
}

/** A record among all others, of which large content is left out: a specification of null says that. */
export type ListedJob = Omit<JobRecord, "spec"> & { readonly spec: JobContent | null };

/** A step of a job, for people and for the query of events. */
export interface JobEvent {
  /** A word of the type's own: `claim`, `claim_complete`, `progress`; or the job's state. */
  readonly state: string;
  /** What it is about: a column, a group of fragments. */
  readonly claimEntity?: string;
  readonly rowsProcessed?: number;
  readonly message?: string;
}

export type StoredEvent = JobEvent & {
  readonly job: string;
  readonly at: number;
  readonly emittedBy: string;
};

export interface JobLimits {
  /** Jobs of all callers in progress at once; one caller may have as many as it leaves free. */
  readonly maxJobs: number;
  /** Jobs that one process runs at once; the others wait. */
  readonly concurrency: number;
  /** Time for one job on one process, in milliseconds. */
  readonly maxMs: number;
  /** Time without a sign of life after which a runner is taken to have ended, in milliseconds. */
  readonly leaseMs: number;
  /** Time for which a job that has ended is kept, in milliseconds. */
  readonly keptMs: number;
}

/** Jobs that have ended and are kept, the newest first. */
export const maxKept = 1000;
/** Events of one job; later ones are dropped, but for that of its end. */
export const maxEvents = 10_000;
/** Processes that run a job one after another before it fails: each of them has ended. */
export const maxAttempts = 3;
/** Bytes of a specification and of a result, as JSON. */
export const maxContentBytes = 65_536;
/** Bytes of specification and result together up to which a list of all records has them. */
export const maxListedBytes = 2048;

export const isOpen = ({ state }: Pick<JobRecord, "state">): boolean => state === "IN_PROGRESS";

/** @throws ServiceError code 17 or 21 if there are too many jobs. */
export const refuseBeyond = (records: Iterable<ListedJob>, owner: string, { maxJobs }: JobLimits): void => {
  const open = [...records].filter(isOpen);
  const own = open.filter((job) => job.owner === owner).length;
  if (open.length >= maxJobs)
    throw new ServiceError(17, { message: "the service is at its limit of jobs in progress; retry", retryAfter: 10 });
  if (own + 1 > maxJobs - open.length && own > 0)
    throw new ServiceError(21, {
      message: `this principal has ${own} jobs in progress, as many as it leaves free: wait for some, or cancel them`,
      retryAfter: 10,
    });
};

/** What a process does with a job of the record at a moment. */
export type Step =
  | { readonly kind: "none" }
  | { readonly kind: "take" }
  | { readonly kind: "end"; readonly state: JobState; readonly failure: JobFailure | null };

const none: Step = { kind: "none" };

const runnerLost = (message: string): JobFailure => ({ phase: "run", message, retryable: true });

/** Who may run a job again: this process too, from what was committed; other programs alone; or only the process that runs it. */
export type Performer = "anyone" | "elsewhere" | "its process";

/** Finds jobs that no living process runs. */
export const stepFor = (job: ListedJob, { leaseMs, maxMs }: JobLimits, performer: Performer, now: number): Step => {
  const isFree = job.runner === "" || job.heartbeat + leaseMs < now;
  if (!isOpen(job) || !isFree) return none;
  if (job.wish === "cancel") return { kind: "end", state: "CANCELLED", failure: null };
  if (job.wish === "pause") return none;
  if (job.attempts >= maxAttempts)
    return {
      kind: "end",
      state: "FAILED",
      failure: runnerLost(`the process that ran the job ended ${job.attempts} times`),
    };
  if (performer === "elsewhere") {
    if (job.runner !== "" || job.heartbeat + maxMs > now) return none;
    const message = "no runner took the job: start one, or ask the operator to; see docs/functions.md";
    return { kind: "end", state: "TIMED_OUT", failure: { phase: "wait", message, retryable: true } };
  }
  if (performer === "anyone") return { kind: "take" };
  // Another process may know the type: during an update, replicas differ.
  if (job.runner === "" || job.heartbeat + 4 * leaseMs > now) return none;
  return { kind: "end", state: "FAILED", failure: runnerLost("the process that ran the job ended") };
};

/** Ids of jobs to forget: those that ended long ago, and the oldest beyond {@link maxKept}. */
export const expired = (records: Iterable<ListedJob>, { keptMs }: JobLimits, now: number): readonly string[] =>
  [...records]
    .filter((job) => !isOpen(job))
    .toSorted((left, right) => right.endedAt - left.endedAt)
    .filter(({ endedAt }, index) => index >= maxKept || endedAt < now - keptMs)
    .map(({ id }) => id);

/** @throws ServiceError code 13 for content that the record does not take. */
export const verifyContent = (content: JobContent, name: string): void => {
  const bytes = Buffer.byteLength(JSON.stringify(content));
  if (bytes > maxContentBytes)
    throw new ServiceError(13, { message: `the ${name} of the job has ${bytes} bytes, more than ${maxContentBytes}` });
};
