import { ServiceError } from "../errors.ts";
import { isOpen, type JobState, type ListedJob } from "./record.ts";
import type { JobStore } from "./store.ts";

/** Milliseconds after which the store is taken to be away, and a job that is known is answered from memory. */
const readMs = 3000;

/** @throws ServiceError code 17 if the store takes longer. */
export const within = async <T>(milliseconds: number, answer: Promise<T>): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = new ServiceError(17, {
    message: "the storage behind the service does not answer; retry",
    retryAfter: 1,
    dependency: "store",
  });
  const timer = setTimeout(() => reject(late), milliseconds);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
};

/** The records of jobs as they were last read, and what this process has changed since. */
export class KnownJobs {
  readonly #store: JobStore;
  readonly #onEnd: (job: ListedJob) => void;
  readonly #now: () => number;
  #jobs = new Map<string, ListedJob>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** Jobs that this process started or took over, and whose end it has not seen. */
  readonly #own = new Set<string>();
  /** When this process last changed a job, in changes since the start: a read that began before it does not undo it. */
  readonly #changedAt = new Map<string, number>();
  #changes = 0;

  /** @param onEnd is called for each of the own jobs that ends. */
  constructor(store: JobStore, onEnd: (job: ListedJob) => void, now: () => number) {
    this.#store = store;
    this.#onEnd = onEnd;
    this.#now = now;
  }

  /** When the records were read. */
  get readAt(): number {
    return this.#readAt;
  }

  /** The jobs of the database that were last read, by type and state. */
  get kept(): readonly { readonly type: string; readonly state: JobState; readonly count: number }[] {
    const groups = Map.groupBy(this.#jobs.values(), ({ type, state }) => `${type} ${state}`);
    return [...groups.values()].flatMap((jobs) =>
      jobs.slice(0, 1).map(({ type, state }) => ({ type, state, count: jobs.length })),
    );
  }

  all(): MapIterator<ListedJob> {
    return this.#jobs.values();
  }

  get(id: string): ListedJob | undefined {
    return this.#jobs.get(id);
  }

  forget(id: string): void {
    this.#jobs.delete(id);
    this.#changedAt.delete(id);
  }

  /** This process tells of the job's end. */
  own(id: string): void {
    this.#own.add(id);
  }

  set(job: ListedJob): void {
    this.#changedAt.set(job.id, ++this.#changes);
    this.#jobs.set(job.id, job);
    this.#count(job.id);
  }

  #count(id: string): void {
    const job = this.#jobs.get(id);
    if (job !== undefined && !isOpen(job) && this.#own.delete(id)) this.#onEnd(job);
  }

  /** Reads the records unless that was done lately. Calls at once share a read. @throws ServiceError code 17 */
  async refresh(maxAgeMs: number): Promise<void> {
    if (this.#now() - this.#readAt < maxAgeMs) return;
    this.#reading ??= this.#read();
    const reading = this.#reading;
    await within(readMs, reading).finally(() => {
      // The next one does not wait for a read that hangs.
      if (this.#reading === reading) this.#reading = undefined;
    });
  }

  async #read(): Promise<void> {
    const [from, changes] = [this.#now(), this.#changes];
    const jobs = new Map((await this.#store.read()).map((job) => [job.id, job]));
    for (const [id, at] of this.#changedAt) {
      const known = this.#jobs.get(id);
      if (at > changes && known !== undefined) jobs.set(id, known);
      else this.#changedAt.delete(id);
    }
    this.#jobs = jobs;
    this.#readAt = from;
    for (const id of this.#own) this.#count(id);
  }
}
