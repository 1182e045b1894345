import type { StopReason } from "./handler.ts";
import type { JobRecord } from "./record.ts";

/** Milliseconds after which a job whose table was busy is tried again. */
const busyMs = 2000;

/** Never rejects. @param isAgain whether the job was postponed before. */
type Perform = (job: JobRecord, stop: AbortController, isAgain: boolean) => Promise<void>;

/** Jobs that wait or run in this process. Those of the callers with the fewest running jobs begin first. */
export class JobQueue {
  readonly #concurrency: number;
  readonly #perform: Perform;
  readonly #waiting: JobRecord[] = [];
  /** Jobs whose table was busy, and whether they are to be tried again now. */
  readonly #postponed = new Map<string, boolean>();
  readonly #running = new Map<string, { readonly job: JobRecord; readonly stop: AbortController }>();
  #closed = false;

  constructor(concurrency: number, perform: Perform) {
    this.#concurrency = concurrency;
    this.#perform = perform;
  }

  get counts(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.length };
  }

  has(id: string): boolean {
    return this.#running.has(id) || this.#waiting.some((job) => job.id === id);
  }

  add(job: JobRecord): void {
    this.#waiting.push(job);
    this.#dispatch();
  }

  /** Lets a running job wait while others run. */
  postpone(job: JobRecord): void {
    this.#postponed.set(job.id, false);
    this.#waiting.push(job);
    setTimeout(() => {
      if (this.#postponed.has(job.id)) this.#postponed.set(job.id, true);
      this.#dispatch();
    }, busyMs).unref();
  }

  /** Stops a job if it runs, and removes it if it waits. @returns the job that waited. */
  drop(id: string, reason: StopReason): JobRecord | undefined {
    this.#running.get(id)?.stop.abort(reason);
    const at = this.#waiting.findIndex((job) => job.id === id);
    if (at === -1) return undefined;
    this.#postponed.delete(id);
    return this.#waiting.splice(at, 1)[0];
  }

  /** Stops all running jobs. */
  abort(reason: StopReason): void {
    for (const { stop } of this.#running.values()) stop.abort(reason);
  }

  /** Begins no further job. @returns those that waited. */
  close(): readonly JobRecord[] {
    this.#closed = true;
    return this.#waiting.splice(0);
  }

  #dispatch(): void {
    const runningOf = ({ owner }: JobRecord): number =>
      [...this.#running.values()].filter(({ job }) => job.owner === owner).length;
    while (!this.#closed && this.#running.size < this.#concurrency) {
      const ready = this.#waiting.filter(({ id }) => this.#postponed.get(id) ?? true);
      const [job] = ready.toSorted((left, right) => runningOf(left) - runningOf(right));
      if (job === undefined) break;
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      void this.#run(job);
    }
  }

  async #run(job: JobRecord): Promise<void> {
    const stop = new AbortController();
    this.#running.set(job.id, { job, stop });
    await this.#perform(job, stop, this.#postponed.has(job.id));
    this.#running.delete(job.id);
    if (!this.#waiting.includes(job)) this.#postponed.delete(job.id);
    this.#dispatch();
  }
}
