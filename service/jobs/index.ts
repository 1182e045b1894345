/**
 * Long work as jobs: each has a record on the store before anything runs, so every replica answers for it, and a process that
 * ends is noticed.
 *
 * To add a type of job:
 * 1. Register a {@link JobHandler} in `start.ts`: `jobs.register("create_function", handler)`. Its `perform` gets the record,
 *    a signal and a way to append events. It returns the result, or throws {@link JobFailed} to say phase and whether a retry
 *    may help. Any other error fails the job with a message that says nothing of it; the log has it.
 * 2. `await tools.jobs.start({ type, table, spec }, callerOf())` in the operation, and answer its id as `job_id`. What a
 *    caller did wrong is refused before: a job fails later, where fewer people look.
 *
 * A job whose table is busy throws {@link JobBusy}: it waits, and others run meanwhile.
 *
 * Cancellation is cooperative: the signal is aborted, and the job ends with CANCELLED as soon as `perform` settles,
 * whatever it settles with. `perform` of a `resumable` type may be called again, in another process, for a job that a process
 * left unfinished: it goes on from what is committed. Such a job can also be paused. A job of another type ends with FAILED
 * (retryable) within some leases of its runner's end.
 *
 * The signal's reason is one of {@link StopReason}. Work outside of this process (a job on Ray) is stopped for `cancel`, `pause`
 * and `timeout`; for `shutdown` and `lost` it can go on, and the next runner finds it by the job's id.
 */
export { JobBusy, type JobContext, JobFailed, type JobHandler, type StopReason } from "./handler.ts";
export { Jobs, type NewJob } from "./jobs.ts";
export {
  isOpen,
  type JobContent,
  type JobEvent,
  type JobFailure,
  type JobLimits,
  type JobRecord,
  type JobState,
  jobStates,
  type ListedJob,
} from "./record.ts";
export type { EventQuery, JobChange, JobStore } from "./store.ts";
