import type { JobRecord, ListedJob, StoredEvent } from "./record.ts";

export type JobChange = Partial<Omit<JobRecord, "id" | "type" | "table" | "owner" | "spec" | "createdAt">>;

export interface EventQuery {
  readonly limit: number;
  /** A verified expression over the columns of events. */
  readonly filter?: string | undefined;
}

/** Where records and events of jobs are kept. Every method throws a native error or a ServiceError. */
export interface JobStore {
  /** All records, without large content. */
  read(): Promise<readonly ListedJob[]>;
  /** One whole record. */
  find(id: string): Promise<JobRecord | undefined>;
  insert(job: JobRecord): Promise<void>;
  /**
   * Changes a job that is in progress. Of two processes that change it from the same runner at once, one succeeds.
   * @param runner whose the job must be; undefined: of any.
   * @returns whether the job was there, in progress and the runner's.
   */
  change(id: string, runner: string | undefined, values: JobChange): Promise<boolean>;
  /** A sign of life for all jobs of a runner. */
  beat(runner: string, now: number): Promise<void>;
  append(events: readonly StoredEvent[]): Promise<void>;
  /** An Arrow IPC stream; with a schema also if there is none. */
  events(id: string, query: EventQuery): Promise<Uint8Array<ArrayBuffer>>;
  /** Removes jobs with their events. */
  remove(ids: readonly string[]): Promise<void>;
  /** Merges what many small changes have left. */
  compact(): Promise<void>;
  close(): Promise<void>;
}
