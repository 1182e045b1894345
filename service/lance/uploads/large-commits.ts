import { setTimeout as sleep } from "node:timers/promises";
import { invalid, ServiceError } from "../../errors.ts";
import { isOpen, type JobRecord, type Jobs, type ListedJob } from "../../jobs/index.ts";
import { outcomeUnknown } from "../errors/classify-write.ts";
import type { InsertMode } from "../writes/write-calls.ts";

/** The type of the jobs by which a runner commits uploads. */
export const commitUpload = "commit_upload";

const pollMs = 1000;

export interface LargeUpload {
  readonly upload: string;
  readonly mode: InsertMode;
  /** The id of the table, its parts joined by `$`. */
  readonly table: string;
  /** The table's directory in the database, for a runner with another view of the store. */
  readonly directory: string;
  /** The version of the table before the commit. */
  readonly before: number;
}

const failed = ({ state, failure }: JobRecord): ServiceError => {
  const message = `${commitUpload}: ${failure?.message ?? `the job ended as ${state}`}`;
  switch (failure?.phase) {
    case "rows":
      return invalid(message);
    case "outcome":
      return outcomeUnknown(undefined, message);
    default:
      return new ServiceError(17, { message, retryAfter: 10 });
  }
};

/**
 * Commits uploads that are too large for the memory of one write here: a runner reads their parts from the store, one piece after
 * the other, and commits once, as a job. The job is found again by its upload, and the commit by the upload's id in its
 * transaction. So the rows are committed once, also when the service or a runner ends meanwhile.
 */
export class LargeCommits {
  readonly #jobs: Pick<Jobs, "list" | "start" | "describe">;

  constructor(jobs: Pick<Jobs, "list" | "start" | "describe">) {
    this.#jobs = jobs;
  }

  /** Whether a job commits the upload, or has. */
  async knows(upload: string): Promise<boolean> {
    return (await this.#jobsOf(upload)).some(isCurrent);
  }

  /**
   * Waits for the commit.
   * @param stop ends the wait, not the job, which another call finds.
   * @returns its version, and how many rows it has.
   */
  async commit(large: LargeUpload, caller: string, stop?: AbortSignal): Promise<{ version: number; inserted: number }> {
    const jobs = await this.#jobsOf(large.upload);
    // A job that failed may have committed: the next one looks as far back.
    const before = Math.min(large.before, ...jobs.map(({ spec }) => Number(spec?.before)));
    const id =
      jobs.find(isCurrent)?.id ??
      (await this.#jobs.start({ type: commitUpload, table: large.table, spec: { ...large, before } }, caller));
    for (;;) {
      const job = await this.#jobs.describe(id);
      if (job === undefined) throw outcomeUnknown(undefined, `${commitUpload}: the record of the job is gone`);
      if (job.state === "DONE")
        return { version: Number(job.result?.published_version), inserted: Number(job.result?.rows_written) };
      if (!isOpen(job)) throw failed(job);
      if (stop?.aborted === true) throw outcomeUnknown(undefined, `${commitUpload}: the client has left`);
      await sleep(pollMs);
    }
  }

  async #jobsOf(upload: string): Promise<readonly ListedJob[]> {
    return (await this.#jobs.list()).filter(({ type, spec }) => type === commitUpload && spec?.upload === upload);
  }
}

const isCurrent = (job: ListedJob): boolean => isOpen(job) || job.state === "DONE";
