import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import {
  expired,
  isOpen,
  type JobContent,
  type JobEvent,
  type JobFailure,
  type JobLimits,
  type JobRecord,
  type JobState,
  maxEvents,
  refuseBeyond,
  type StoredEvent,
  stepFor,
  verifyContent,
} from "./record.ts";
import type { EventQuery, JobChange, JobStore } from "./store.ts";

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

export interface NewJob {
  readonly type: string;
  /** The id of the table, its parts joined by `$`; empty: none. */
  readonly table: string;
  readonly spec: JobContent;
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

/** Milliseconds after which a job whose table was busy is tried again. */
const busyMs = 2000;
/** A record that was read less than this many milliseconds ago is not read again. */
const freshMs = 250;
/** Milliseconds after which the store is taken to be away, and a job that is known is answered from memory. */
const readMs = 3000;
/** Milliseconds between the attempts to store how a job ended, at first and at most. */
const firstPauseMs = 100;
const maxPauseMs = 5000;
/** Milliseconds between two removals of old records. */
const pruneMs = 600_000;

const retryableCodes: readonly number[] = [14, 17, 18, 21];

const failureOf = (error: unknown): JobFailure => {
  if (error instanceof JobFailed) return error.failure;
  // Any other text is native.
  const known = error instanceof ServiceError ? error : new ServiceError(18);
  const message = known.code === 18 ? "the job failed; the service's log has the cause" : known.message;
  return { phase: "run", message, retryable: retryableCodes.includes(known.code) };
};

/** @throws ServiceError code 17 if the store takes longer. */
const within = async <T>(milliseconds: number, answer: Promise<T>): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = new ServiceError(17, {
    message: "the storage behind the service does not answer; retry",
    retryAfter: 1,
    dependency: "store",
  });
  const timer = setTimeout(() => reject(late), milliseconds);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
};

interface Running {
  readonly job: JobRecord;
  readonly stop: AbortController;
}

/** Starts jobs, runs them in this process, and answers for all jobs of the database. */
export class Jobs {
  readonly #store: JobStore;
  readonly #limits: JobLimits;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #handlers = new Map<string, JobHandler | "elsewhere">();
  /** This process, among all that run jobs. */
  readonly #runner = `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
  /** What was last read, and what this process has changed since. */
  #known = new Map<string, JobRecord>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** Jobs that this process started or took over, and whose end it has not seen. */
  readonly #own = new Set<string>();
  readonly #onEnd: (job: JobRecord) => void;
  /** Changes of this process, so that a read that began before one does not undo it. */
  #changes = 0;
  readonly #waiting: JobRecord[] = [];
  /** When jobs whose table was busy are tried again. */
  readonly #notBefore = new Map<string, number>();
  readonly #running = new Map<string, Running>();
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
    onEnd: (job: JobRecord) => void = () => undefined,
    now: () => number = Date.now,
  ) {
    this.#store = store;
    this.#limits = limits;
    this.#log = log;
    this.#onEnd = onEnd;
    this.#now = now;
  }

  /** @param handler `elsewhere`: other programs take jobs of the type from the store, and this process only looks after them. */
  register(type: string, handler: JobHandler | "elsewhere"): void {
    this.#handlers.set(type, handler);
  }

  /** The jobs of the database that were last read, by type and state. */
  get kept(): readonly { readonly type: string; readonly state: JobState; readonly count: number }[] {
    const groups = Map.groupBy(this.#known.values(), ({ type, state }) => `${type} ${state}`);
    return [...groups.values()].flatMap((jobs) =>
      jobs.slice(0, 1).map(({ type, state }) => ({ type, state, count: jobs.length })),
    );
  }

  /** Jobs in progress in this process. */
  get counts(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.length };
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
    await this.#refresh(freshMs);
    refuseBeyond(this.#known.values(), owner, this.#limits);
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
    this.#set(job);
    try {
      await this.#store.insert(job);
    } catch (error) {
      this.#known.delete(job.id);
      throw error;
    }
    // Again, because a read meanwhile may not have had it.
    this.#set(job);
    this.#own.add(job.id);
    if (!isElsewhere) this.#enqueue(job);
    return job.id;
  }

  /** @returns undefined if there is no such job. @throws if the store is away and this process does not know the job. */
  async describe(id: string): Promise<JobRecord | undefined> {
    const from = this.#now();
    const failure = await this.#refresh(freshMs).then(
      () => undefined,
      (error: unknown) => error,
    );
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    if (failure !== undefined) throw failure;
    // Another replica may have started it after the last read.
    while (this.#readAt < from) await this.#refresh(0);
    return this.#known.get(id);
  }

  /** All jobs, the newest first; what this process knows of them while the store is away. */
  async list(): Promise<readonly JobRecord[]> {
    await this.#refresh(freshMs).catch((error: unknown) => {
      if (this.#readAt === Number.NEGATIVE_INFINITY) throw error;
    });
    return [...this.#known.values()].toSorted(
      (left, right) => right.createdAt - left.createdAt || (left.id < right.id ? -1 : 1),
    );
  }

  /** Asks the runner to end the job. @returns false if it had ended. */
  async cancel(id: string): Promise<boolean> {
    return this.#ask(id, "cancel");
  }

  /** Whether a job of the type can be paused. */
  canPause(type: string): boolean {
    const handler = this.#handlers.get(type);
    return handler === "elsewhere" || handler?.resumable === true;
  }

  /** Stops the work until it is resumed. @returns false if the job had ended. */
  async pause(id: string): Promise<boolean> {
    return this.#ask(id, "pause");
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
      this.#log.warn({ job: id, reason: String(error).slice(0, 500) }, "events of a job could not be stored");
    });
  }

  /** Ends what runs. A job that can be resumed is left to the next process, and another fails. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    for (const job of this.#waiting.splice(0)) this.#track(this.#release(job));
    for (const { stop } of this.#running.values()) stop.abort("shutdown" satisfies StopReason);
    // What the store does not take in time is found by the next process, after the lease.
    await within(this.#limits.leaseMs / 6, Promise.all([...this.#settled, this.#ticking])).catch(() => undefined);
    await this.#store.close();
  }

  /** One round of signs of life and of looking after jobs. Rounds do not overlap. */
  tick(): Promise<void> {
    this.#ticking ??= this.#round()
      .catch((error: unknown) =>
        this.#log.warn({ reason: String(error).slice(0, 500) }, "jobs could not be looked after"),
      )
      .finally(() => {
        this.#ticking = undefined;
      });
    return this.#ticking;
  }

  async #round(): Promise<void> {
    if (this.#stopped) return;
    const from = this.#now();
    const own = this.#running.size + this.#waiting.length;
    try {
      if (own > 0) await within(this.#limits.leaseMs / 3, this.#store.beat(this.#runner, from));
      this.#aliveAt = from;
    } finally {
      // Before another process takes them, so that no job runs twice.
      if (own > 0 && this.#aliveAt > 0 && this.#now() - this.#aliveAt > (this.#limits.leaseMs * 2) / 3)
        for (const { stop } of this.#running.values()) stop.abort("lost" satisfies StopReason);
    }
    await this.#refresh(0);
    for (const job of this.#known.values()) await this.#look(job);
    if (from - this.#prunedAt < pruneMs) return;
    this.#prunedAt = from;
    const old = expired(this.#known.values(), this.#limits, from);
    if (old.length > 0) await this.#store.remove(old);
    await this.#store.compact();
  }

  /** What a round does about one job. */
  async #look(job: JobRecord): Promise<void> {
    const running = this.#running.get(job.id);
    if (running !== undefined || this.#waiting.some(({ id }) => id === job.id)) {
      if (!isOpen(job) || job.runner !== this.#runner) this.#drop(job.id, "lost");
      else if (job.wish !== "run") this.#drop(job.id, job.wish);
      return;
    }
    const handler = this.#handlers.get(job.type);
    const performer = handler === "elsewhere" ? handler : handler?.resumable === true ? "anyone" : "its process";
    const step = stepFor(job, this.#limits, performer, this.#now());
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
    this.#own.add(job.id);
    this.#enqueue({ ...job, ...values });
  }

  /** Takes a job from what waits or runs here. */
  #drop(id: string, reason: StopReason): void {
    this.#running.get(id)?.stop.abort(reason);
    const at = this.#waiting.findIndex((job) => job.id === id);
    const [job] = at === -1 ? [] : this.#waiting.splice(at, 1);
    if (job !== undefined) this.#track(this.#stopEarly(job, reason));
  }

  async #ask(id: string, wish: "cancel" | "pause"): Promise<boolean> {
    const done = await this.#change(id, undefined, { wish });
    if (!done) return false;
    this.#drop(id, wish);
    const job = this.#known.get(id);
    // Nobody runs it: it ends at once.
    if (job !== undefined && job.runner === "") await this.#look(job);
    return true;
  }

  #enqueue(job: JobRecord): void {
    this.#waiting.push(job);
    this.#dispatch();
  }

  /** Begins what waits, the callers with the fewest running jobs first. */
  #dispatch(): void {
    const runningOf = (owner: string): number =>
      [...this.#running.values()].filter(({ job }) => job.owner === owner).length;
    while (!this.#stopped && this.#running.size < this.#limits.concurrency) {
      const ready = this.#waiting.filter(({ id }) => (this.#notBefore.get(id) ?? 0) <= this.#now());
      const least = Math.min(...ready.map(({ owner }) => runningOf(owner)));
      const job = ready.find(({ owner }) => runningOf(owner) === least);
      if (job === undefined) break;
      this.#waiting.splice(this.#waiting.indexOf(job), 1);
      this.#track(this.#perform(job));
    }
  }

  #track(work: Promise<void>): void {
    const settled = work.catch((error: unknown) => {
      this.#log.warn({ reason: String(error).slice(0, 500) }, "the end of a job could not be stored");
    });
    this.#settled.add(settled);
    void settled.finally(() => this.#settled.delete(settled));
  }

  async #perform(job: JobRecord): Promise<void> {
    const stop = new AbortController();
    this.#running.set(job.id, { job, stop });
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
      if (!this.#notBefore.has(job.id))
        await this.appendEvents(job.id, [{ state: "IN_PROGRESS", message: `attempt ${job.attempts}` }]);
      const outcome = await this.#outcomeOf(job, context);
      if ("busy" in outcome && !stop.signal.aborted) await this.#postpone(job, outcome.busy);
      else if (stop.signal.aborted && !("result" in outcome))
        await this.#stopEarly(job, stop.signal.reason as StopReason);
      else if (!("busy" in outcome)) await this.#end(job, "result" in outcome ? "DONE" : "FAILED", outcome);
    } finally {
      clearTimeout(deadline);
      this.#running.delete(job.id);
      if (!this.#waiting.includes(job)) this.#notBefore.delete(job.id);
      this.#dispatch();
    }
  }

  /** Lets a job wait while others run. */
  async #postpone(job: JobRecord, message: string): Promise<void> {
    if (!this.#notBefore.has(job.id)) await this.appendEvents(job.id, [{ state: "waiting", message }]);
    this.#notBefore.set(job.id, this.#now() + busyMs);
    this.#waiting.push(job);
    setTimeout(() => this.#dispatch(), busyMs).unref();
  }

  async #outcomeOf(
    job: JobRecord,
    context: JobContext,
  ): Promise<{ readonly result: JobContent } | { readonly failure: JobFailure } | { readonly busy: string }> {
    try {
      context.signal.throwIfAborted();
      const handler = this.#handlers.get(job.type);
      if (handler === undefined || handler === "elsewhere")
        throw new Error(`no handler is registered for jobs of the type ${job.type}`);
      const result = await handler.perform(job, context);
      verifyContent(result, "result");
      return { result };
    } catch (error) {
      if (error instanceof JobBusy) return { busy: error.message };
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      const fields = { job: job.id, type: job.type, table: job.table };
      if (!context.signal.aborted) this.#log.warn({ ...fields, reason: String(cause).slice(0, 500) }, "a job failed");
      return { failure: failureOf(error) };
    }
  }

  /** A job that was stopped before its end. */
  async #stopEarly(job: JobRecord, reason: StopReason): Promise<void> {
    const ends: Readonly<Record<StopReason, () => Promise<unknown>>> = {
      cancel: () => this.#end(job, "CANCELLED", {}),
      timeout: () =>
        this.#end(job, "TIMED_OUT", {
          failure: {
            phase: "run",
            message: `the job took more than ${Math.round(this.#limits.maxMs / 1000)} s; ask the operator to raise LAKEHEAD_JOBS_SECONDS`,
            retryable: true,
          },
        }),
      // No process takes it before it is resumed.
      pause: () => this.#change(job.id, this.#runner, { runner: "" }),
      shutdown: () => this.#release(job),
      lost: async () => undefined,
    };
    await ends[reason]();
  }

  /** Leaves a job to the next process. */
  async #release(job: JobRecord): Promise<void> {
    if (this.canPause(job.type)) {
      await this.#change(job.id, this.#runner, { runner: "" });
      return;
    }
    const failure = { phase: "run", message: "the service was stopped while it ran the job", retryable: true };
    await this.#end(job, "FAILED", { failure });
  }

  /** Stores how a job ended, as long as the store takes for it; not if another process has taken it over. */
  async #end(job: JobRecord, state: JobState, outcome: JobChange): Promise<void> {
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
    if (done && known !== undefined) this.#set({ ...known, ...values });
    return done;
  }

  #set(job: JobRecord): void {
    this.#changes++;
    this.#known.set(job.id, job);
    this.#count(job.id);
  }

  #count(id: string): void {
    const job = this.#known.get(id);
    if (job !== undefined && !isOpen(job) && this.#own.delete(id)) this.#onEnd(job);
  }

  /** Reads the records unless that was done lately. Calls at once share a read. @throws ServiceError code 17 */
  async #refresh(maxAgeMs: number): Promise<void> {
    if (this.#now() - this.#readAt < maxAgeMs) return;
    this.#reading ??= this.#read();
    const reading = this.#reading;
    await within(readMs, reading).finally(() => {
      // The next one does not wait for a read that hangs.
      if (this.#reading === reading) this.#reading = undefined;
    });
  }

  async #read(): Promise<void> {
    for (;;) {
      const [from, changes] = [this.#now(), this.#changes];
      const records = await this.#store.read();
      if (changes !== this.#changes && this.#now() - from < readMs) continue;
      this.#known = new Map(records.map((job) => [job.id, job]));
      this.#readAt = from;
      for (const id of this.#own) this.#count(id);
      return;
    }
  }
}
