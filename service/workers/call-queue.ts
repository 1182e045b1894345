import { ServiceError } from "../errors.ts";
import type { Call } from "./protocol.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** A worker that uses more than this share of its memory limit gets no call beside another one, and is replaced when idle. */
export const maxIdleShare = 0.75;

/** A call's second run needs a worker that uses at most this share of its memory limit. */
const maxSecondRunShare = 0.5;

/** A write takes so many times the memory of its rows: as sent, as a file, decoded, and encoded. */
const memoryOfRows = 4;

/** A call that waits for a worker process or runs on one. */
export interface Task {
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

/** Calls that wait for a worker process. */
export class CallQueue {
  readonly #tasks: Task[] = [];
  /** The last turn of each caller since a call waited. */
  readonly #turns = new Map<string | undefined, number>();
  readonly #maxWaitMs: number;
  #lastTurn = 0;

  /** @param maxWaitMs timeout of a call that waits for a worker to start, in milliseconds. */
  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs;
  }

  get size(): number {
    return this.#tasks.length;
  }

  add(task: Task): void {
    task.timer = setTimeout(() => {
      this.remove(task);
      task.settle(new ServiceError(17, { message: "no worker process is available; retry", retryAfter: 1 }));
    }, this.#maxWaitMs);
    if (task.alone) this.#tasks.unshift(task);
    else this.#tasks.push(task);
  }

  /** The call that must run alone, which no other overtakes, or the oldest of the caller whose turn was the longest ago. */
  get next(): Task | undefined {
    const [oldest] = this.#tasks;
    if (oldest === undefined || oldest.alone || this.#turns.size === 0) return oldest;
    const turnOf = ({ caller }: Task): number => this.#turns.get(caller) ?? 0;
    return this.#tasks.reduce((first, task) => (turnOf(task) < turnOf(first) ? task : first));
  }

  /** Removes a call that begins: it was its caller's turn. */
  begin(task: Task): void {
    this.remove(task);
    if (this.size === 0) this.#turns.clear();
    else this.#turns.set(task.caller, ++this.#lastTurn);
  }

  /** @returns whether the call waited. */
  remove(task: Task): boolean {
    clearTimeout(task.timer);
    const index = this.#tasks.indexOf(task);
    return index !== -1 && this.#tasks.splice(index, 1).length > 0;
  }

  settleAll(outcome: () => ServiceError): void {
    for (const task of this.#tasks.splice(0)) task.settle(outcome());
  }
}

type Tasks = ReadonlyMap<number, Task>;

/** The worker with the fewest calls; the first of them, so that few workers are used and their caches stay warm. */
export const workerFor = (
  { alone, bytes }: Task,
  workers: ReadonlyMap<WorkerProcess, Tasks>,
  memoryBytes: number,
  maxCalls: number,
): WorkerProcess | undefined => {
  const mayRun = ([worker, tasks]: [WorkerProcess, Tasks]): boolean => {
    const { residentBytes } = worker;
    if (!worker.ready) return false;
    // The memory that earlier calls left may be too much for this one.
    if (bytes > 0 && worker.completed > 0 && residentBytes + memoryOfRows * bytes > memoryBytes) return false;
    if (tasks.size === 0) return !alone || residentBytes <= memoryBytes * maxSecondRunShare;
    const isAlone = alone || tasks.values().some((other) => other.alone);
    return !isAlone && tasks.size < maxCalls && residentBytes <= memoryBytes * maxIdleShare;
  };
  const [found] = [...workers].filter(mayRun).toSorted(([, left], [, right]) => left.size - right.size);
  return found?.[0];
};
