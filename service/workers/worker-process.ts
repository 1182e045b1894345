import { type ChildProcess, fork } from "node:child_process";
import { rm } from "node:fs/promises";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { DatabaseConfig } from "../lance/database.ts";
import { LastWords } from "./exit-error.ts";
import { type EndReason, exitReason } from "./exit-reason.ts";
import type { Call, CallOutcome, FromWorker, ToWorker } from "./protocol.ts";
import { residentBytes } from "./resident-memory.ts";
import { temporaryDirectoryOf } from "./temporary-directory.ts";

export const workerEntry: string = fileURLToPath(new URL("./worker-entry.ts", import.meta.url));

export interface WorkerEvents {
  onReady(worker: WorkerProcess): void;
  onAnswer(worker: WorkerProcess, id: number, answer: CallOutcome): void;
  /** Once, when the process is gone. */
  onEnd(worker: WorkerProcess, end: WorkerEnd): void;
}

export interface WorkerEnd {
  readonly reason: EndReason;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** What could be recognized in what the process printed. */
  readonly lastWords: string | undefined;
}

/** A process that needs longer than this until it can take calls will never be ready. */
const startMs = 30_000;

/** What runs in a worker is bulk: probes, tags and plans of the main process go first where processors are short. */
const niceness = 10;

/** Before the process makes threads: on Linux only those that it makes afterwards follow. */
const yieldToOthers = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) setPriority(pid, niceness);
  } catch {
    // Ended already, or a system that does not let us: nothing depends on it.
  }
};

const removeTemporary = async (pid: number | undefined): Promise<void> => {
  if (pid !== undefined) await rm(temporaryDirectoryOf(pid), { recursive: true, force: true }).catch(() => undefined);
};

/** One worker process as its supervisor sees it. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #words = new LastWords();
  readonly #startTimer: NodeJS.Timeout;
  #endReason: EndReason | undefined;
  #ready = false;
  #completed = 0;
  #residentBytes = 0;
  #peakBytes = 0;

  /** @param entry the program that runs in the process. */
  constructor(entry: string, database: DatabaseConfig, events: WorkerEvents) {
    this.#child = fork(entry, [], {
      execArgv: [],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const child = this.#child;
    yieldToOthers(child.pid);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#startTimer = setTimeout(() => this.end("start"), startMs);
    child.stderr?.setEncoding("latin1").on("data", (chunk: string) => this.#words.read(chunk));
    child.on("message", (message: FromWorker) => {
      if (message.kind === "ready") {
        clearTimeout(this.#startTimer);
        this.#ready = true;
        if (this.#endReason === undefined) events.onReady(this);
        return;
      }
      this.#completed++;
      events.onAnswer(this, message.id, message);
    });
    const onGone = (exitCode: number | null, signal: string | null): void => {
      clearTimeout(this.#startTimer);
      const reason = this.#endReason ?? exitReason(this.#ready, exitCode, signal);
      void removeTemporary(child.pid).then(resolve);
      events.onEnd(this, { reason, exitCode, signal, lastWords: this.#words.found });
    };
    // "close" comes after all that the process has printed and answered; without a process there is only "error".
    child.once("close", onGone);
    child.on("error", () => {
      if (child.pid !== undefined) return;
      child.removeAllListeners("close");
      onGone(null, null);
    });
    this.#send({ kind: "open", database });
  }

  /** Settles when the process is gone, and its temporary files with it. */
  readonly ended: Promise<void>;

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether it takes calls. */
  get ready(): boolean {
    return this.#ready && this.#endReason === undefined && this.#child.connected;
  }

  /** Calls that it has answered. */
  get completed(): number {
    return this.#completed;
  }

  /** The memory that was seen last. */
  get residentBytes(): number {
    return this.#residentBytes;
  }

  /** The most memory that was seen so far. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** @throws what keeps the call from being cloned. */
  call(id: number, call: Call): void {
    this.#send({ kind: "call", id, call });
  }

  /** Looks at the memory of the process; 0 when it is gone. */
  async measure(): Promise<number> {
    this.#residentBytes = (this.pid === undefined ? undefined : await residentBytes(this.pid)) ?? 0;
    this.#peakBytes = Math.max(this.#peakBytes, this.#residentBytes);
    return this.#residentBytes;
  }

  /** Ends the process at once: it only reads, so it has nothing to finish. The first reason stands. */
  end(reason: EndReason): void {
    this.#endReason ??= reason;
    this.#child.kill("SIGKILL");
  }

  #send(message: ToWorker): void {
    // A channel that is closed belongs to a process that has ended: its end says the rest.
    this.#child.send(message, () => undefined);
  }
}
