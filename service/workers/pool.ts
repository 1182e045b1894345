import { ServiceError } from "../errors.ts";
import type { DatabaseConfig } from "../lance/database.ts";
import { outcomeUnknown } from "../lance/errors/classify-write.ts";
import { currentCall } from "../operations/shared/current-call.ts";
import { CallQueue, maxIdleShare, type Task, workerFor } from "./call-queue.ts";
import { type ExitReason, exitToError, stopping, type WorkerLimits } from "./exit-reason.ts";
import type { Priority } from "./priority.ts";
import { type Call, type CallOutcome, fromFailure, type Method, type Result } from "./protocol.ts";
import { measureEveryMs } from "./resident-memory.ts";
import { type WorkerExit, WorkerProcess } from "./worker-process.ts";

/** Consecutive failed starts after which the pool is unavailable. */
const exhaustedAfter = 3;

/** Milliseconds before the next start: none after one failure, then 100, doubled after each up to 30 s. */
const delayAfter = (failures: number): number => (failures < 2 ? 0 : Math.min(30_000, 100 * 2 ** (failures - 2)));

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

/** Milliseconds without an end that several calls suffered, after which workers run several again. */
const apartMs = 60_000;

/**
 * Worker processes for one kind of call. It starts one worker in advance and more when calls wait, kills a worker whose
 * call exceeds its deadline or which exceeds its memory limit, and replaces each worker that has ended.
 */
export class Pool {
  readonly #config: PoolConfig;
  readonly #start: () => WorkerProcess;
  readonly #onExit: (report: ExitReport) => void;
  readonly #workers = new Map<WorkerProcess, Map<number, Task>>();
  readonly #queue: CallQueue;
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
  /** Consecutive starts that failed. */
  #failures = 0;
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(config: PoolConfig, entry: string, database: DatabaseConfig, onExit: (report: ExitReport) => void) {
    this.#config = config;
    this.#onExit = onExit;
    this.#queue = new CallQueue(config.maxWaitMs);
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
        clearTimeout(task.timer);
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
      this.#queue.add(task);
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
    return this.#failures < exhaustedAfter || [...this.#workers.keys()].some((worker) => worker.ready);
  }

  /** Kills all workers. Calls that run or wait fail with code 17. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#measuring);
    clearTimeout(this.#restart);
    this.#queue.settleAll(stopping);
    const workers = [...this.#workers.keys()];
    for (const worker of workers) worker.end("stopped");
    await Promise.all(workers.map((worker) => worker.ended));
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
      const bytes = dividedBytes(this.#config);
      this.#divided ||= [...this.#workers].every(
        ([{ residentBytes }, { size }]) => size <= 1 && residentBytes <= bytes,
      );
    } else if (this.#divided) {
      this.#target = Math.min(this.#target, workers);
      const surplus = [...this.#workers].slice(workers);
      for (const [worker, tasks] of surplus) if (tasks.size === 0) worker.end("recycled");
      this.#divided = surplus.length > 0;
    }
  }

  /** Assigns waiting calls to workers, in order. */
  #dispatch(): void {
    this.#divide();
    for (let task = this.#queue.next; task !== undefined; task = this.#queue.next) {
      const maxCalls = this.#apart || this.#divided ? 1 : this.#config.callsPerWorker;
      const worker = workerFor(task, this.#workers, this.#memoryBytes, maxCalls);
      if (worker === undefined) {
        if (task.alone || task.bytes > 0) this.#recycleIdle();
        this.#grow();
        return;
      }
      this.#queue.begin(task);
      this.#assign(task, worker);
      this.#grow();
    }
  }

  /** Starts workers until each call that runs or waits has one, up to the maximum. */
  #grow(): void {
    let calls = this.#queue.size;
    for (const tasks of this.#workers.values()) calls += tasks.size;
    const { workers, workersApart } = this.#config;
    const most = this.#divided && this.#apart ? workersApart : workers;
    if (calls <= this.#target || most <= this.#target) return;
    this.#target = Math.min(most, calls);
    this.#replenish();
  }

  /** Replaces an idle worker that uses too much memory for a call, unless another worker is starting. */
  #recycleIdle(): void {
    const workers = [...this.#workers];
    if (workers.every(([worker]) => worker.ready)) workers.find(([, tasks]) => tasks.size === 0)?.[0].end("recycled");
  }

  #assign(task: Task, worker: WorkerProcess): void {
    const id = ++this.#lastId;
    try {
      worker.call(id, task.call);
    } catch (cause) {
      task.settle(new ServiceError(18, { cause }));
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
    this.#failures = 0;
    task.settle(outcome.kind === "result" ? outcome.result : fromFailure(outcome.failure));
    this.#dispatch();
  }

  /** Ends a call that nobody waits for. */
  #abandon(task: Task): void {
    if (this.#queue.remove(task)) task.settle(this.#exitToError("abandoned", task));
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
    void worker.ended.then(() => task.settle(this.#exitToError(reason, task)));
  }

  #onWorkerExit(worker: WorkerProcess, exit: WorkerExit): void {
    const tasks = [...(this.#workers.get(worker)?.values() ?? [])];
    this.#workers.delete(worker);
    this.#unmeasured.delete(worker);
    const { pid, peakBytes, completed } = worker;
    const { reason } = exit;
    // The call that was ended is no longer among the tasks, but was running.
    const calls = tasks.length + (reason === "deadline" || reason === "abandoned" ? 1 : 0);
    this.#onExit({ ...exit, pid, peakBytes, calls });
    // It ended before it was ready, or without having run a call: no call can be the cause.
    const isUnused = completed === 0 && calls === 0 && (reason === "crash" || reason === "killed");
    if (reason === "start" || isUnused) this.#failures++;
    if (calls > 1) this.#apartUntil = performance.now() + apartMs;
    // The cause is unknown after several concurrent calls, after a kill, or if earlier calls may have left memory.
    const isUnknown = calls > 1 || reason === "killed" || (reason === "memory" && completed > 0);
    for (const task of tasks.reverse()) {
      clearTimeout(task.timer);
      if (isUnknown && !this.#closed && !task.alone && !task.mayHaveCommitted) {
        task.alone = true;
        this.#queue.add(task);
      } else task.settle(this.#exitToError(reason, task));
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
      const wait = delayAfter(this.#failures);
      if (wait === 0) this.#startOne();
      // While starts fail, one worker is started at a time.
      else
        this.#restart = setTimeout(() => {
          this.#restart = undefined;
          if (!this.#startOne()) this.#replenish();
        }, wait);
    }
  }

  /** @returns whether the process could be created. */
  #startOne(): boolean {
    try {
      this.#workers.set(this.#start(), new Map());
      return true;
    } catch (error) {
      // The system has reached its limit of processes or memory.
      this.#failures++;
      const exitError = error instanceof Error ? error.message : undefined;
      const none = { pid: undefined, peakBytes: 0, calls: 0, exitCode: null, signal: null };
      this.#onExit({ ...none, reason: "start", exitError });
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
