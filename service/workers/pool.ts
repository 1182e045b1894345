import { ServiceError } from "../errors.ts";
import type { DatabaseConfig } from "../lance/database.ts";
import { Backoff } from "./backoff.ts";
import { type EndReason, verdict, type WorkerLimits } from "./exit-reason.ts";
import { type Call, type CallOutcome, fromFailure, type Method, type Result } from "./protocol.ts";
import { lookMs } from "./resident-memory.ts";
import { type WorkerEnd, WorkerProcess } from "./worker-process.ts";

export interface PoolConfig extends WorkerLimits {
  /** Worker processes at the most. */
  readonly workers: number;
  /** Calls that one worker makes at once. */
  readonly callsPerWorker: number;
  /** Milliseconds that a call waits for a worker, which happens only while one starts. */
  readonly maxWaitMs: number;
}

export interface PoolReading {
  readonly starting: number;
  readonly idle: number;
  readonly busy: number;
}

/** The end of one worker process, for log and metrics. */
export interface EndReport extends WorkerEnd {
  readonly pid: number | undefined;
  readonly peakBytes: number;
  /** Calls that it ran when it ended. */
  readonly calls: number;
}

interface Task {
  readonly call: Call;
  /** A ServiceError fails the call; anything else is its result. */
  readonly settle: (outcome: unknown) => void;
  /**
   * Set for the second run of a call whose worker's end may have been another's fault: with a worker to itself that has
   * most of its memory free, so that another end shows whose fault it is.
   */
  alone: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** Memory that an idle worker keeps beyond this share of its limit is freed by replacing it. */
const keepShare = 0.75;

/** Memory that a worker may already have, as a share of its limit, if a call's second run is to be a fair trial. */
const fairShare = 0.5;

/**
 * Worker processes for one kind of call. Starts one ahead of need and more when calls wait for them, ends one whose
 * call outlives its deadline or which outgrows its memory, and replaces every one that has ended.
 */
export class Pool {
  readonly #config: PoolConfig;
  readonly #start: () => WorkerProcess;
  readonly #onEnd: (report: EndReport) => void;
  readonly #workers = new Map<WorkerProcess, Map<number, Task>>();
  readonly #waiting: Task[] = [];
  readonly #backoff = new Backoff();
  /** Workers that have had calls since their memory was last looked at. */
  readonly #unseen = new Set<WorkerProcess>();
  readonly #watch: NodeJS.Timeout;
  /** Workers that the calls so far have made necessary. */
  #wanted = 1;
  #lastId = 0;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(config: PoolConfig, entry: string, database: DatabaseConfig, onEnd: (report: EndReport) => void) {
    this.#config = config;
    this.#onEnd = onEnd;
    this.#start = () =>
      new WorkerProcess(entry, database, {
        onReady: () => {
          this.#replenish();
          this.#dispatch();
        },
        onAnswer: (worker, id, answer) => this.#answered(worker, id, answer),
        onEnd: (worker, end) => this.#ended(worker, end),
      });
    this.#watch = setInterval(() => this.#lookAtMemory(), lookMs).unref();
    this.#replenish();
  }

  /** @throws ServiceError what the worker answers, or what its end means for this call. */
  run<M extends Method>(call: Call<M>): Promise<Result<M>> {
    if (this.#closed) return Promise.reject(verdict("stopped", this.#config, call.method));
    return new Promise((resolve, reject) => {
      const settle = (outcome: unknown): void =>
        outcome instanceof ServiceError ? reject(outcome) : resolve(outcome as Result<M>);
      this.#enqueue({ call: call as Call, settle, alone: false, timer: undefined }, "last");
      this.#dispatch();
    });
  }

  get reading(): PoolReading {
    const reading = { starting: 0, idle: 0, busy: 0 };
    for (const [worker, tasks] of this.#workers)
      reading[tasks.size > 0 ? "busy" : worker.ready ? "idle" : "starting"]++;
    return reading;
  }

  /** Memory of all workers together, each as it was last seen. */
  get residentBytes(): number {
    return [...this.#workers.keys()].reduce((total, { residentBytes }) => total + residentBytes, 0);
  }

  /** Whether calls find workers. One that was just ended by its query changes nothing: its successor is on the way. */
  get available(): boolean {
    return !this.#backoff.hopeless || [...this.#workers.keys()].some((worker) => worker.ready);
  }

  /** Ends all workers. Calls that still run or wait are answered with code 17. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    clearTimeout(this.#restart);
    for (const task of this.#waiting.splice(0)) this.#settle(task, verdict("stopped", this.#config, task.call.method));
    const workers = [...this.#workers.keys()];
    for (const worker of workers) worker.end("stopped");
    await Promise.all(workers.map((worker) => worker.ended));
  }

  #enqueue(task: Task, place: "first" | "last"): void {
    task.timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(task), 1);
      const message = "no process can run the query at the moment; retry";
      this.#settle(task, new ServiceError(17, { message, retryAfter: 1 }));
    }, this.#config.maxWaitMs);
    if (place === "first") this.#waiting.unshift(task);
    else this.#waiting.push(task);
  }

  #settle(task: Task, outcome: unknown): void {
    clearTimeout(task.timer);
    task.settle(outcome);
  }

  /** Gives waiting calls to workers, in order: a call that needs a worker to itself is not overtaken. */
  #dispatch(): void {
    for (let task = this.#waiting[0]; task !== undefined; task = this.#waiting[0]) {
      const worker = this.#findWorker(task);
      if (worker === undefined) {
        if (task.alone) this.#makeRoom();
        this.#wanted = Math.min(this.#config.workers, Math.max(this.#wanted, this.#needed()));
        this.#replenish();
        return;
      }
      this.#waiting.shift();
      this.#assign(task, worker);
    }
  }

  /** Workers for all that run or wait. */
  #needed(): number {
    let running = 0;
    for (const tasks of this.#workers.values()) running += tasks.size;
    return Math.ceil((running + this.#waiting.length) / this.#config.callsPerWorker);
  }

  /** The first that has room: the same few workers are used again, so that their caches stay warm. */
  #findWorker({ alone }: Task): WorkerProcess | undefined {
    for (const [worker, tasks] of this.#workers) {
      const occupied = [...tasks.values()].some((task) => task.alone);
      const room = alone
        ? tasks.size === 0 && worker.residentBytes <= this.#config.memoryBytes * fairShare
        : tasks.size < this.#config.callsPerWorker && !occupied;
      if (worker.ready && room) return worker;
    }
    return undefined;
  }

  /** Replaces an idle worker whose memory is too full for a fair trial, unless another worker is on its way. */
  #makeRoom(): void {
    const workers = [...this.#workers];
    if (workers.every(([worker]) => worker.ready)) workers.find(([, tasks]) => tasks.size === 0)?.[0].end("recycled");
  }

  #assign(task: Task, worker: WorkerProcess): void {
    clearTimeout(task.timer);
    const id = ++this.#lastId;
    try {
      worker.call(id, task.call);
    } catch (cause) {
      this.#settle(task, new ServiceError(18, { cause }));
      return;
    }
    this.#workers.get(worker)?.set(id, task);
    this.#unseen.add(worker);
    task.timer = setTimeout(() => this.#expire(worker, id, task), this.#config.deadlineSeconds * 1000);
  }

  #answered(worker: WorkerProcess, id: number, answer: CallOutcome): void {
    const tasks = this.#workers.get(worker);
    const task = tasks?.get(id);
    if (tasks === undefined || task === undefined) return;
    tasks.delete(id);
    this.#backoff.succeeded();
    this.#settle(task, answer.kind === "result" ? answer.result : fromFailure(answer.failure));
    this.#dispatch();
  }

  /** The deadline of one call: it is answered when its worker is gone, because only then it has stopped costing. */
  #expire(worker: WorkerProcess, id: number, task: Task): void {
    const tasks = this.#workers.get(worker);
    tasks?.delete(id);
    // Who only shared the worker runs again with all its time: its own deadline must not fall due while this one's ends.
    for (const other of tasks?.values() ?? []) clearTimeout(other.timer);
    worker.end("deadline");
    void worker.ended.then(() => this.#settle(task, verdict("deadline", this.#config, task.call.method)));
  }

  #ended(worker: WorkerProcess, end: WorkerEnd): void {
    const tasks = [...(this.#workers.get(worker)?.values() ?? [])];
    this.#workers.delete(worker);
    this.#unseen.delete(worker);
    const { pid, peakBytes } = worker;
    // The call whose deadline ended the worker is not among the tasks any more, but ran on it.
    const calls = tasks.length + (end.reason === "deadline" ? 1 : 0);
    this.#onEnd({ ...end, pid, peakBytes, calls });
    if (isFailedStart(end.reason, worker.completed, calls)) this.#backoff.failed();
    // Of several nobody knows which; a kill is nobody's fault; memory may have been kept from calls before.
    const before = worker.completed > 0;
    const unclear = !this.#closed && (calls > 1 || end.reason === "killed" || (end.reason === "memory" && before));
    for (const task of tasks.reverse()) {
      clearTimeout(task.timer);
      if (unclear && !task.alone) {
        task.alone = true;
        this.#enqueue(task, "first");
      } else this.#settle(task, verdict(end.reason, this.#config, task.call.method));
    }
    this.#replenish();
    this.#dispatch();
  }

  #replenish(): void {
    while (!this.#closed && this.#restart === undefined && this.#workers.size < this.#wanted) {
      const wait = this.#backoff.milliseconds;
      if (wait === 0) this.#startOne();
      else this.#restart = setTimeout(() => this.#restartOne(), wait);
    }
  }

  /** One try at a time as long as starts fail: the next follows when this one has failed or is ready. */
  #restartOne(): void {
    this.#restart = undefined;
    if (!this.#startOne()) this.#replenish();
  }

  /** @returns whether there is a process now. */
  #startOne(): boolean {
    try {
      this.#workers.set(this.#start(), new Map());
      return true;
    } catch (error) {
      // No process could be made at all: the system is out of them, or of memory.
      this.#backoff.failed();
      const lastWords = error instanceof Error ? error.message : undefined;
      this.#onEnd({ reason: "start", pid: undefined, peakBytes: 0, calls: 0, exitCode: null, signal: null, lastWords });
      return false;
    }
  }

  #lookAtMemory(): void {
    const { memoryBytes } = this.#config;
    for (const worker of this.#unseen) {
      const idle = (): boolean => (this.#workers.get(worker)?.size ?? 0) === 0;
      if (idle()) this.#unseen.delete(worker);
      void worker.measure().then((bytes) => {
        if (bytes > memoryBytes) worker.end("memory");
        else if (bytes > memoryBytes * keepShare && idle()) worker.end("recycled");
      });
    }
  }
}

/** A worker that ends before it is ready, or without ever having had a call, has failed for a reason of its own. */
const isFailedStart = (reason: EndReason, completed: number, calls: number): boolean =>
  reason === "start" || (completed === 0 && calls === 0 && (reason === "crash" || reason === "killed"));
