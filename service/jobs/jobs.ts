import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import { type JobContext, type JobHandler, outcomeOf, type StopReason } from "./handler.ts";
import { KnownJobs, within } from "./known-jobs.ts";
import { JobQueue } from "./queue.ts";
import {
  expired,
  isOpen,
  type JobContent,
  type JobEvent,
  type JobLimits,
  type JobRecord,
  type JobState,
  type ListedJob,
  maxEvents,
  type Performer,
  refuseBeyond,
  type StoredEvent,
  stepFor,
  verifyContent,
} from "./record.ts";
import type { EventQuery, JobChange, JobStore } from "./store.ts";

/** A record that was read less than this many milliseconds ago is not read again. */
const freshMs = 250;
/** Milliseconds between the attempts to store how a job ended, at first and at most. */
const firstPauseMs = 100;
const maxPauseMs = 5000;
/** Milliseconds between two removals of old records. */
const pruneMs = 600_000;

export interface NewJob {
  readonly type: string;
  /** The id of the table, its parts joined by `$`; empty: none. */
  readonly table: string;
  readonly spec: JobContent;
}

const isWhole = (job: ListedJob): job is JobRecord => job.spec !== null;

const reasonOf = (error: unknown): { readonly reason: string } => ({ reason: String(error).slice(0, 500) });

/** Starts jobs, runs them in this process, and answers for all jobs of the database. */
export class Jobs {
  readonly #store: JobStore;
  readonly #limits: JobLimits;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #known: KnownJobs;
  readonly #handlers = new Map<string, JobHandler | "elsewhere">();
  /** This process, among all that run jobs. */
  readonly #runner = `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
  readonly #queue: JobQueue;
  readonly #settled = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #aliveAt = 0;
  #prunedAt = 0;
  #stopped = false;

  /** @param onEnd is called by one process for each job that ends. */
  constructor(
    store: JobStore,
    limits: JobLimits,
    log: Log,
    onEnd: (job: ListedJob) => void = () => undefined,
    now: () => number = Date.now,
  ) {
    this.#store = store;
    this.#known = new KnownJobs(store, onEnd, now);
    this.#queue = new JobQueue(limits.concurrency, (...run) => this.#track(this.#perform(...run)));
    this.#limits = limits;
    this.#log = log;
    this.#now = now;
  }

  /** @param handler `elsewhere`: other programs take jobs of the type from the store, and this process only looks after them. */
  register(type: string, handler: JobHandler | "elsewhere"): void {
    this.#handlers.set(type, handler);
  }

  /** The jobs of the database that were last read, by type and state. */
  get kept(): KnownJobs["kept"] {
    return this.#known.kept;
  }

  /** Jobs in progress in this process. */
  get counts(): JobQueue["counts"] {
    return this.#queue.counts;
  }

  /** Gives signs of life, and finds jobs whose process has ended, from now on. */
  watch(): void {
    this.#timer ??= setInterval(() => void this.tick(), this.#limits.leaseMs / 6).unref();
    void this.tick();
  }

  /** @returns the id of a job whose record is stored. @throws ServiceError code 17 or 21 if there are too many. */
  async start({ type, table, spec }: NewJob, owner: string): Promise<string> {
    if (!this.#handlers.has(type)) throw new Error(`no handler is registered for jobs of the type ${type}`);
    if (this.#stopped) throw new ServiceError(17, { message: "the service is stopping; retry", retryAfter: 1 });
    verifyContent(spec, "specification");
    await this.#known.refresh(freshMs);
    refuseBeyond(this.#known.all(), owner, this.#limits);
    const now = this.#now();
    const isElsewhere = this.#handlers.get(type) === "elsewhere";
    const job: JobRecord = {
      id: randomUUID(),
      type,
      table,
      owner,
      spec,
      state: "IN_PROGRESS",
      createdAt: now,
      endedAt: 0,
      runner: isElsewhere ? "" : this.#runner,
      heartbeat: now,
      attempts: 1,
      wish: "run",
      result: null,
      failure: null,
    };
    this.#known.set(job);
    try {
      await this.#store.insert(job);
    } catch (error) {
      this.#known.forget(job.id);
      throw error;
    }
    // Again, because a read meanwhile may not have had it.
    this.#known.set(job);
    this.#known.own(job.id);
    if (!isElsewhere) this.#queue.add(job);
    return job.id;
  }

  /** @returns undefined if there is no such job. @throws if the store is away and this process does not know the job. */
  async describe(id: string): Promise<JobRecord | undefined> {
    const from = this.#now();
    await this.#known.refresh(freshMs).catch((error: unknown) => {
      if (this.#known.get(id) === undefined) throw error;
    });
    // Another replica may have started it after the last read.
    while (this.#known.get(id) === undefined && this.#known.readAt < from) await this.#known.refresh(0);
    const job = this.#known.get(id);
    return job === undefined || isWhole(job) ? job : this.#store.find(id);
  }

  /** All jobs, the newest first, without large content; what this process knows of them while the store is away. */
  async list(): Promise<readonly ListedJob[]> {
    await this.#known.refresh(freshMs).catch((error: unknown) => {
      if (this.#known.readAt === Number.NEGATIVE_INFINITY) throw error;
    });
    return [...this.#known.all()].toSorted(
      (left, right) => right.createdAt - left.createdAt || (left.id < right.id ? -1 : 1),
    );
  }

  /** Whether a job of the type can be paused. */
  canPause(type: string): boolean {
    return this.#performerOf(type) !== "its process";
  }

  /** Asks the runner to end the job, or to leave it until it is resumed. @returns false if the job had ended. */
  async ask(id: string, wish: "cancel" | "pause"): Promise<boolean> {
    const done = await this.#change(id, undefined, { wish });
    if (!done) return false;
    this.#drop(id, wish);
    const job = this.#known.get(id);
    // No process runs it: it ends at once.
    if (job !== undefined && job.runner === "") await this.#look(job);
    return true;
  }

  /** @returns false if the job had ended. */
  async resume(id: string): Promise<boolean> {
    // It waits for a runner from now on.
    const done = await this.#change(id, undefined, { wish: "run", heartbeat: this.#now() });
    void this.tick();
    return done;
  }

  events(id: string, query: EventQuery): Promise<Uint8Array<ArrayBuffer>> {
    return this.#store.events(id, query);
  }

  async appendEvents(id: string, events: readonly JobEvent[]): Promise<void> {
    const at = this.#now();
    const stored = events.map((event): StoredEvent => ({ ...event, job: id, at, emittedBy: this.#runner }));
    await this.#store.append(stored).catch((error: unknown) => {
      this.#log.warn({ job: id, ...reasonOf(error) }, "events of a job could not be stored");
    });
  }

  /** Ends what runs. A job that can be resumed is left to the next process, and another fails. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    for (const job of this.#queue.close()) void this.#track(this.#stopEarly(job, "shutdown"));
    this.#queue.abort("shutdown");
    // What the store does not take in time is found by the next process, after the lease.
    await within(this.#limits.leaseMs / 6, Promise.all([...this.#settled, this.#ticking])).catch(() => undefined);
    await this.#store.close();
  }

  /** One round of signs of life and of looking after jobs. Rounds do not overlap. */
  tick(): Promise<void> {
    this.#ticking ??= this.#round()
      .catch((error: unknown) => this.#log.warn(reasonOf(error), "jobs could not be looked after"))
      .finally(() => {
        this.#ticking = undefined;
      });
    return this.#ticking;
  }

  async #round(): Promise<void> {
    if (this.#stopped) return;
    const from = this.#now();
    const own = this.counts.running + this.counts.waiting;
    try {
      if (own > 0) await within(this.#limits.leaseMs / 3, this.#store.beat(this.#runner, from));
      this.#aliveAt = from;
    } finally {
      // Before another process takes them, so that no job runs twice.
      if (own > 0 && this.#aliveAt > 0 && this.#now() - this.#aliveAt > (this.#limits.leaseMs * 2) / 3)
        this.#queue.abort("lost");
    }
    await this.#known.refresh(0);
    for (const job of this.#known.all()) await this.#look(job);
    if (from - this.#prunedAt < pruneMs) return;
    this.#prunedAt = from;
    const old = expired(this.#known.all(), this.#limits, from);
    if (old.length > 0) await this.#store.remove(old);
    await this.#store.compact();
  }

  /** What a round does about one job. */
  async #look(job: ListedJob): Promise<void> {
    if (this.#queue.has(job.id)) {
      if (!isOpen(job) || job.runner !== this.#runner) this.#drop(job.id, "lost");
      else if (job.wish !== "run") this.#drop(job.id, job.wish);
      return;
    }
    const step = stepFor(job, this.#limits, this.#performerOf(job.type), this.#now());
    if (step.kind === "end") await this.#end(job, step.state, { failure: step.failure });
    if (step.kind !== "take") return;
    const now = this.#now();
    const values = {
      runner: this.#runner,
      heartbeat: now,
      attempts: job.runner === "" ? job.attempts : job.attempts + 1,
    };
    if (!(await this.#change(job.id, job.runner, values))) return;
    this.#log.info({ job: job.id, type: job.type, before: job.runner }, "a job was taken over");
    this.#known.own(job.id);
    const whole = await this.#store.find(job.id);
    if (whole !== undefined) this.#queue.add(whole);
  }

  #performerOf(type: string): Performer {
    const handler = this.#handlers.get(type);
    return handler === "elsewhere" ? handler : handler?.resumable === true ? "anyone" : "its process";
  }

  /** Takes a job from what waits or runs here. */
  #drop(id: string, reason: StopReason): void {
    const waited = this.#queue.drop(id, reason);
    if (waited !== undefined) void this.#track(this.#stopEarly(waited, reason));
  }

  #track(work: Promise<void>): Promise<void> {
    const settled: Promise<void> = work
      .catch((error: unknown) => this.#log.warn(reasonOf(error), "the end of a job could not be stored"))
      .finally(() => this.#settled.delete(settled));
    this.#settled.add(settled);
    return settled;
  }

  async #perform(job: JobRecord, stop: AbortController, isAgain: boolean): Promise<void> {
    const deadline = setTimeout(() => stop.abort("timeout" satisfies StopReason), this.#limits.maxMs).unref();
    let left = maxEvents;
    const context: JobContext = {
      signal: stop.signal,
      appendEvents: async (events) => {
        const kept = events.slice(0, Math.max(0, left));
        left -= kept.length;
        if (kept.length > 0) await this.appendEvents(job.id, kept);
      },
    };
    try {
      if (!isAgain) await this.appendEvents(job.id, [{ state: "IN_PROGRESS", message: `attempt ${job.attempts}` }]);
      const outcome = await outcomeOf(this.#handlers.get(job.type), job, context, this.#log);
      if ("result" in outcome) await this.#end(job, "DONE", outcome);
      else if (stop.signal.aborted) await this.#stopEarly(job, stop.signal.reason as StopReason);
      else if ("failure" in outcome) await this.#end(job, "FAILED", outcome);
      else {
        if (!isAgain) await this.appendEvents(job.id, [{ state: "waiting", message: outcome.busy }]);
        this.#queue.postpone(job);
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  /** A job that was stopped before its end. */
  async #stopEarly(job: JobRecord, reason: StopReason): Promise<void> {
    const seconds = Math.round(this.#limits.maxMs / 1000);
    const message =
      reason === "timeout"
        ? `the job took more than ${seconds} s; ask the operator to raise LAKEHEAD_JOBS_SECONDS`
        : "the service was stopped while it ran the job";
    const failure = { phase: "run", message, retryable: true };
    if (reason === "cancel") await this.#end(job, "CANCELLED", {});
    else if (reason === "timeout") await this.#end(job, "TIMED_OUT", { failure });
    // It is left to the next process, but a paused job not before it is resumed.
    else if (reason === "pause" || (reason === "shutdown" && this.canPause(job.type)))
      await this.#change(job.id, this.#runner, { runner: "" });
    else if (reason === "shutdown") await this.#end(job, "FAILED", { failure });
  }

  /** Stores how a job ended, as long as the store takes for it; not if another process has taken it over. */
  async #end(job: ListedJob, state: JobState, outcome: JobChange): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs))
      try {
        const done = await this.#change(job.id, job.runner, { ...outcome, state, endedAt: this.#now() });
        if (!done) return;
        break;
      } catch (error) {
        if (this.#stopped) throw error;
        await sleep(pauseMs, undefined, { ref: false });
      }
    const message = outcome.failure?.message;
    await this.appendEvents(job.id, [{ state, ...(message === undefined ? {} : { message }) }]);
    this.#log.info({ job: job.id, type: job.type, table: job.table, owner: job.owner, state }, "a job ended");
  }

  async #change(id: string, runner: string | undefined, values: JobChange): Promise<boolean> {
    const done = await this.#store.change(id, runner, values);
    const known = this.#known.get(id);
    if (done && known !== undefined) this.#known.set({ ...known, ...values });
    return done;
  }
}
