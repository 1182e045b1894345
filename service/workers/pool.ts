import { ServiceError } from "../errors.ts";
import type { DatabaseConfig } from "../lance/database.ts";
import { outcomeUnknown } from "../lance/errors/classify-write.ts";
import { currentCall } from "../operations/shared/current-call.ts";
import { type ExitReason, exitToError, stopping, type WorkerLimits } from "./exit-reason.ts";
import type { Priority } from "./priority.ts";
import { type Call, type CallOutcome, fromFailure, type Method, type Result } from "./protocol.ts";
import { measureEveryMs } from "./resident-memory.ts";
import { type WorkerExit, WorkerProcess } from "./worker-process.ts";

const firstMs = 100;
const maxMs = 30_000;

/** Consecutive failed starts after which the pool is unavailable. */
const exhaustedAfter = 3;

/** The delay between failed starts: none after the first, then 100 ms, doubled after each failure up to 30 s. */
class Backoff {
  #failures = 0;

  get milliseconds(): number {
    return this.#failures < 2 ? 0 : Math.min(maxMs, firstMs * 2 ** (this.#failures - 2));
  }

  get exhausted(): boolean {
    return this.#failures >= exhaustedAfter;
  }

  failed(): void {
    this.#failures++;
  }

  succeeded(): void {
    this.#failures = 0;
  }
}

export interface PoolConfig extends WorkerLimits {
  /** Maximum number of worker processes. */
  readonly workers: number;
  /** Concurrency limit of one worker. A call is assigned beside others only while every worker has one. */
  readonly callsPerWorker: number;
  /** Maximum number of worker processes while each runs one call. They have the same memory together. */
  readonly workersApart: number;
  /** Timeout of a call that waits for a worker to start, in milliseconds. */
  readonly maxWaitMs: number;
  /** Default: that of all workers. */
  readonly priority?: Priority;
}

export interface PoolReading {
  readonly starting: number;
  readonly idle: number;
  readonly busy: number;
}

/** The exit of a worker process, for log and metrics. */
export interface ExitReport extends WorkerExit {
  readonly pid: number | undefined;
  readonly peakBytes: number;
  /** Calls that were running on it. */
  readonly calls: number;
}

interface Task {
  readonly call: Call;
  /** Callers take turns. */
  readonly caller: string | undefined;
  /** Bytes of the rows that it writes. */
  readonly bytes: number;
  /** A ServiceError fails the call; anything else is its result. */
  readonly settle: (outcome: unknown) => void;
  /**
   * Set for the second run of a call whose worker may have ended because of another call. It runs alone, on a worker
   * with most of its memory free, so that a second exit is certainly caused by this call.
   */
  alone: boolean;
  /** Whether it is a write that may have been committed. It never runs twice. */
  mayHaveCommitted: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** A worker that uses more than this share of its memory limit gets no call beside another one, and is replaced when idle. */
const maxIdleShare = 0.75;

/** Milliseconds without an end that several calls suffered, after which workers run several again. */
const apartMs = 60_000;

/** A write takes so many times the memory of its rows: as sent, as a file, decoded, and encoded. */
const memoryOfRows = 4;

/** A call's second run needs a worker that uses at most this share of its memory limit. */
const maxSecondRunShare = 0.5;

/**
 * Worker processes for one kind of call. It starts one worker in advance and more when calls wait, kills a worker whose
 * call exceeds its deadline or which exceeds its memory limit, and replaces each worker that has ended.
 */
export class Pool {
  readonly #config: PoolConfig;
  readonly #start: () => WorkerProcess;
  readonly #onExit: (report: ExitReport) => void;
  readonly #workers = new Map<WorkerProcess, Map<number, Task>>();
  readonly #waiting: Task[] = [];
  /** The last turn of each caller since a call waited. */
  readonly #turns = new Map<string | undefined, number>();
  #lastTurn = 0;
  readonly #backoff = new Backoff();
  /** Workers that ran calls since the last measurement of their memory. */
  readonly #unmeasured = new Set<WorkerProcess>();
  readonly #measuring: NodeJS.Timeout;
  /** Target number of workers; it grows with the number of concurrent calls. */
  #target = 1;
  /** Time of `performance.now()` until which each worker runs one call. */
  #apartUntil = Number.NEGATIVE_INFINITY;
  /** Whether the memory is divided among `workersApart`. */
  #divided = false;
  #lastId = 0;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(config: PoolConfig, entry: string, database: DatabaseConfig, onExit: (report: ExitReport) => void) {
    this.#config = config;
    this.#onExit = onExit;
    this.#start = () =>
      new WorkerProcess(entry, database, config.priority ?? "worker", {
        onReady: () => {
          this.#replenish();
          this.#dispatch();
        },
        onCommitting: (worker, id) => {
          const task = this.#workers.get(worker)?.get(id);
          if (task !== undefined) task.mayHaveCommitted = true;
        },
        onOutcome: (worker, id, outcome) => this.#complete(worker, id, outcome),
        onExit: (worker, exit) => this.#onWorkerExit(worker, exit),
      });
    this.#measuring = setInterval(() => this.#measureMemory(), measureEveryMs).unref();
    this.#replenish();
  }

  /**
   * @param bytes of the rows that the call writes.
   * @throws ServiceError the worker's error, or that of its exit.
   */
  run<M extends Method>(call: Call<M>, bytes = 0): Promise<Result<M>> {
    if (this.#closed) return Promise.reject(stopping());
    const { caller, stop } = currentCall.getStore() ?? {};
    return new Promise((resolve, reject) => {
      const settle = (outcome: unknown): void => {
        stop?.removeEventListener("abort", end);
        if (outcome instanceof ServiceError) reject(outcome);
        else resolve(outcome as Result<M>);
      };
      const task: Task = {
        call: call as Call,
        caller,
        bytes,
        settle,
        alone: false,
        mayHaveCommitted: false,
        timer: undefined,
      };
      const end = (): void => this.#abandon(task);
      stop?.addEventListener("abort", end, { once: true });
      this.#enqueue(task, "last");
      this.#dispatch();
    });
  }

  /** Removes a table's cached handles in every worker, before any later call. */
  forget(tableKey: string): void {
    for (const worker of this.#workers.keys()) worker.forget(tableKey);
  }

  get reading(): PoolReading {
    const reading = { starting: 0, idle: 0, busy: 0 };
    for (const [worker, tasks] of this.#workers)
      reading[tasks.size > 0 ? "busy" : worker.ready ? "idle" : "starting"]++;
    return reading;
  }

  /** Memory of all workers at their last measurements, in bytes. */
  get residentBytes(): number {
    return [...this.#workers.keys()].reduce((total, { residentBytes }) => total + residentBytes, 0);
  }

  /** Whether the pool can take calls. The exit of a worker after a call does not change that: it is replaced at once. */
  get available(): boolean {
    return !this.#backoff.exhausted || [...this.#workers.keys()].some((worker) => worker.ready);
  }

  /** Kills all workers. Calls that run or wait fail with code 17. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#measuring);
    clearTimeout(this.#restart);
    for (const task of this.#waiting.splice(0)) this.#settle(task, stopping());
    const workers = [...this.#workers.keys()];
    for (const worker of workers) worker.end("stopped");
    await Promise.all(workers.map((worker) => worker.ended));
  }

  #enqueue(task: Task, position: "first" | "last"): void {
    task.timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(task), 1);
      const message = "no worker process is available; retry";
      this.#settle(task, new ServiceError(17, { message, retryAfter: 1 }));
    }, this.#config.maxWaitMs);
    if (position === "first") this.#waiting.unshift(task);
    else this.#waiting.push(task);
  }

  #settle(task: Task, outcome: unknown): void {
    clearTimeout(task.timer);
    task.settle(outcome);
  }

  get #apart(): boolean {
    return performance.now() <= this.#apartUntil;
  }

  /** Memory at which a worker is ended, in bytes. */
  get #memoryBytes(): number {
    return this.#divided ? dividedBytes(this.#config) : this.#config.memoryBytes;
  }

  /** Divides the memory among more workers when each may run one call, and ends the surplus of them afterwards. */
  #divide(): void {
    const { workers } = this.#config;
    if (this.#apart) {
      const fits = ([worker, tasks]: [WorkerProcess, ReadonlyMap<number, Task>]): boolean =>
        tasks.size <= 1 && worker.residentBytes <= dividedBytes(this.#config);
      this.#divided ||= [...this.#workers].every(fits);
    } else if (this.#divided) {
      this.#target = Math.min(this.#target, workers);
      const surplus = [...this.#workers].slice(workers);
      for (const [worker, tasks] of surplus) if (tasks.size === 0) worker.end("recycled");
      this.#divided = surplus.length > 0;
    }
  }

  /** The waiting call that must run alone, or the oldest of the caller whose turn was the longest ago. */
  #next(): Task | undefined {
    const [oldest] = this.#waiting;
    if (oldest === undefined || oldest.alone || this.#turns.size === 0) return oldest;
    const turnOf = ({ caller }: Task): number => this.#turns.get(caller) ?? 0;
    return this.#waiting.reduce((first, task) => (turnOf(task) < turnOf(first) ? task : first));
  }

  /** Assigns waiting calls to workers, in order: no call overtakes one that must run alone. */
  #dispatch(): void {
    this.#divide();
    for (let task = this.#next(); task !== undefined; task = this.#next()) {
      const worker = this.#findWorker(task);
      if (worker === undefined) {
        if (task.alone || task.bytes > 0) this.#recycleIdle();
        this.#grow();
        return;
      }
      this.#waiting.splice(this.#waiting.indexOf(task), 1);
      if (this.#waiting.length === 0) this.#turns.clear();
      else this.#turns.set(task.caller, ++this.#lastTurn);
      this.#assign(task, worker);
      this.#grow();
    }
  }

  /** Starts workers until each call that runs or waits has one, up to the maximum. */
  #grow(): void {
    let calls = this.#waiting.length;
    for (const tasks of this.#workers.values()) calls += tasks.size;
    const { workers, workersApart } = this.#config;
    const most = this.#divided && this.#apart ? workersApart : workers;
    if (calls <= this.#target || most <= this.#target) return;
    this.#target = Math.min(most, calls);
    this.#replenish();
  }

  /** The worker with the fewest calls; the first of them, so that few workers are used and their caches stay warm. */
  #findWorker(task: Task): WorkerProcess | undefined {
    let found: WorkerProcess | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [worker, tasks] of this.#workers)
      if (tasks.size < fewest && this.#mayRun(task, worker, tasks)) {
        found = worker;
        fewest = tasks.size;
      }
    return found;
  }

  #mayRun({ alone, bytes }: Task, worker: WorkerProcess, tasks: ReadonlyMap<number, Task>): boolean {
    const memoryBytes = this.#memoryBytes;
    if (!worker.ready) return false;
    // The memory that earlier calls left may be too much for this one.
    if (bytes > 0 && worker.completed > 0 && worker.residentBytes + memoryOfRows * bytes > memoryBytes) return false;
    if (alone) return tasks.size === 0 && worker.residentBytes <= memoryBytes * maxSecondRunShare;
    if (tasks.size === 0) return true;
    return (
      tasks.size < this.#config.callsPerWorker &&
      worker.residentBytes <= memoryBytes * maxIdleShare &&
      !this.#apart &&
      !this.#divided &&
      ![...tasks.values()].some((other) => other.alone)
    );
  }

  /** Replaces an idle worker that uses too much memory for a call, unless another worker is starting. */
  #recycleIdle(): void {
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
    this.#unmeasured.add(worker);
    task.timer = setTimeout(() => this.#end(worker, id, task, "deadline"), this.#config.deadlineSeconds * 1000);
  }

  #complete(worker: WorkerProcess, id: number, outcome: CallOutcome): void {
    const tasks = this.#workers.get(worker);
    const task = tasks?.get(id);
    if (tasks === undefined || task === undefined) return;
    tasks.delete(id);
    // The next large write depends on it.
    if (task.bytes > 0) void worker.measure();
    this.#backoff.succeeded();
    this.#settle(task, outcome.kind === "result" ? outcome.result : fromFailure(outcome.failure));
    this.#dispatch();
  }

  /** Ends a call that nobody waits for. */
  #abandon(task: Task): void {
    const index = this.#waiting.indexOf(task);
    if (index !== -1) {
      this.#waiting.splice(index, 1);
      this.#settle(task, this.#exitToError("abandoned", task));
      return;
    }
    for (const [worker, tasks] of this.#workers)
      for (const [id, each] of tasks) if (each === task) this.#end(worker, id, task, "abandoned");
  }

  /** Ends a call. It settles when its worker has ended, because until then it uses resources. */
  #end(worker: WorkerProcess, id: number, task: Task, reason: "deadline" | "abandoned"): void {
    clearTimeout(task.timer);
    const tasks = this.#workers.get(worker);
    tasks?.delete(id);
    // The other calls of the worker run again with a new deadline, so the current one must not expire meanwhile.
    for (const other of tasks?.values() ?? []) clearTimeout(other.timer);
    worker.end(reason);
    void worker.ended.then(() => this.#settle(task, this.#exitToError(reason, task)));
  }

  #onWorkerExit(worker: WorkerProcess, exit: WorkerExit): void {
    const tasks = [...(this.#workers.get(worker)?.values() ?? [])];
    this.#workers.delete(worker);
    this.#unmeasured.delete(worker);
    const { pid, peakBytes } = worker;
    // The call that was ended is no longer among the tasks, but was running.
    const calls = tasks.length + (exit.reason === "deadline" || exit.reason === "abandoned" ? 1 : 0);
    this.#onExit({ ...exit, pid, peakBytes, calls });
    if (isFailedStart(exit.reason, worker.completed, calls)) this.#backoff.failed();
    if (calls > 1) this.#apartUntil = performance.now() + apartMs;
    // The cause is unknown after several concurrent calls, after a kill, or if earlier calls may have left memory.
    const { reason } = exit;
    const isUnknown = calls > 1 || reason === "killed" || (reason === "memory" && worker.completed > 0);
    for (const task of tasks.reverse()) {
      clearTimeout(task.timer);
      if (isUnknown && !this.#closed && !task.alone && !task.mayHaveCommitted) {
        task.alone = true;
        this.#enqueue(task, "first");
      } else this.#settle(task, this.#exitToError(reason, task));
    }
    this.#replenish();
    this.#dispatch();
  }

  #exitToError(reason: ExitReason, { call, mayHaveCommitted }: Task): ServiceError {
    const { deadlineSeconds } = this.#config;
    const limits = { deadlineSeconds, memoryBytes: this.#memoryBytes };
    return mayHaveCommitted ? outcomeUnknown() : exitToError(reason, limits, call.method);
  }

  #replenish(): void {
    while (!this.#closed && this.#restart === undefined && this.#workers.size < this.#target) {
      const wait = this.#backoff.milliseconds;
      if (wait === 0) this.#startOne();
      else this.#restart = setTimeout(() => this.#restartOne(), wait);
    }
  }

  /** While starts fail, one worker is started at a time. */
  #restartOne(): void {
    this.#restart = undefined;
    if (!this.#startOne()) this.#replenish();
  }

  /** @returns whether the process could be created. */
  #startOne(): boolean {
    try {
      this.#workers.set(this.#start(), new Map());
      return true;
    } catch (error) {
      // The system has reached its limit of processes or memory.
      this.#backoff.failed();
      const exitError = error instanceof Error ? error.message : undefined;
      this.#onExit({
        reason: "start",
        pid: undefined,
        peakBytes: 0,
        calls: 0,
        exitCode: null,
        signal: null,
        exitError,
      });
      return false;
    }
  }

  #measureMemory(): void {
    const memoryBytes = this.#memoryBytes;
    for (const worker of this.#unmeasured) {
      const idle = (): boolean => (this.#workers.get(worker)?.size ?? 0) === 0;
      if (idle()) this.#unmeasured.delete(worker);
      void worker.measure().then((bytes) => {
        if (bytes > memoryBytes) worker.end("memory");
        else if (bytes > memoryBytes * maxIdleShare && idle()) worker.end("recycled");
      });
    }
  }
}

/** Memory of one of `workersApart`, in bytes. */
const dividedBytes = ({ memoryBytes, workers, workersApart }: PoolConfig): number =>
  Math.floor((memoryBytes * workers) / workersApart);

/** Whether a worker ended before it was ready, or without having run a call: no call can be the cause. */
const isFailedStart = (reason: ExitReason, completed: number, calls: number): boolean =>
  reason === "start" || (completed === 0 && calls === 0 && (reason === "crash" || reason === "killed"));
