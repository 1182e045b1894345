import { type ChildProcess, fork } from "node:child_process";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { DatabaseConfig } from "../lance/database.ts";
import { ExitErrorReader } from "./exit-error.ts";
import { type ExitReason, exitReason } from "./exit-reason.ts";
import { lowerPriority, type Priority } from "./priority.ts";
import type { Call, CallOutcome, FromWorker, ToWorker } from "./protocol.ts";
import { residentBytes } from "./resident-memory.ts";
import { temporaryDirectoryOf } from "./temporary-directory.ts";

export const workerEntry: string = fileURLToPath(new URL("./worker-entry.ts", import.meta.url));

export interface WorkerEvents {
  onReady(worker: WorkerProcess): void;
  /** The call may commit from now on. */
  onCommitting(worker: WorkerProcess, id: number): void;
  onOutcome(worker: WorkerProcess, id: number, outcome: CallOutcome): void;
  /** Called once, when the process has ended. */
  onExit(worker: WorkerProcess, exit: WorkerExit): void;
}

export interface WorkerExit {
  readonly reason: ExitReason;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The error that the process printed, if it was recognized. */
  readonly exitError: string | undefined;
}

/** A process that is not ready after so many milliseconds has failed to start. */
const startMs = 30_000;

/** Maximum number of changed tables that wait for the next call. */
const maxForgotten = 1000;

const removeTemporary = async (pid: number | undefined): Promise<void> => {
  if (pid !== undefined) await rm(temporaryDirectoryOf(pid), { recursive: true, force: true }).catch(() => undefined);
};

/** A worker process, from its supervisor's side. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #errors = new ExitErrorReader();
  readonly #startTimer: NodeJS.Timeout;
  /** Tables that others have changed since the last call. */
  readonly #forgotten = new Set<string>();
  #exitReason: ExitReason | undefined;
  #ready = false;
  #completed = 0;
  #residentBytes = 0;
  #peakBytes = 0;

  /** @param entry the program that runs in the process. */
  constructor(entry: string, database: DatabaseConfig, priority: Priority, events: WorkerEvents) {
    this.#child = fork(entry, [], {
      execArgv: [],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const child = this.#child;
    lowerPriority(child.pid, priority);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#startTimer = setTimeout(() => this.end("start"), startMs);
    child.stderr?.setEncoding("latin1").on("data", (chunk: string) => this.#errors.read(chunk));
    child.on("message", (message: FromWorker) => {
      if (message.kind === "ready") {
        clearTimeout(this.#startTimer);
        this.#ready = true;
        if (this.#exitReason === undefined) events.onReady(this);
        return;
      }
      if (message.kind === "committing") {
        events.onCommitting(this, message.id);
        return;
      }
      this.#completed++;
      events.onOutcome(this, message.id, message);
    });
    const onExit = (exitCode: number | null, signal: string | null): void => {
      clearTimeout(this.#startTimer);
      const reason = this.#exitReason ?? exitReason(this.#ready, exitCode, signal);
      void removeTemporary(child.pid).then(resolve);
      events.onExit(this, { reason, exitCode, signal, exitError: this.#errors.error });
    };
    // "close" follows all output and messages of the process. If it could not be started, there is only "error".
    child.once("close", onExit);
    child.on("error", () => {
      if (child.pid !== undefined) return;
      child.removeAllListeners("close");
      onExit(null, null);
    });
    this.#send({ kind: "open", database });
  }

  /** Settles when the process has ended and its temporary files are removed. */
  readonly ended: Promise<void>;

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether it accepts calls. */
  get ready(): boolean {
    return this.#ready && this.#exitReason === undefined && this.#child.connected;
  }

  /** Completed calls. */
  get completed(): number {
    return this.#completed;
  }

  /** Resident memory at the last measurement, in bytes. */
  get residentBytes(): number {
    return this.#residentBytes;
  }

  /** Maximum of all measurements, in bytes. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** @throws DOMException if the call cannot be cloned. */
  call(id: number, call: Call): void {
    this.#send({ kind: "call", id, call, forget: [...this.#forgotten] });
    this.#forgotten.clear();
  }

  /** Removes a table's cached handles before the next call. An idle worker is not woken for it. */
  forget(tableKey: string): void {
    this.#forgotten.add(tableKey);
    if (this.#forgotten.size < maxForgotten) return;
    this.#send({ kind: "forget", forget: [...this.#forgotten] });
    this.#forgotten.clear();
  }

  /** Measures resident memory, in bytes; 0 if the process has ended. */
  async measure(): Promise<number> {
    this.#residentBytes = (this.pid === undefined ? undefined : await residentBytes(this.pid)) ?? 0;
    this.#peakBytes = Math.max(this.#peakBytes, this.#residentBytes);
    return this.#residentBytes;
  }

  /** Kills the process: a write is committed completely or not at all. The first reason is the one that counts. */
  end(reason: ExitReason): void {
    this.#exitReason ??= reason;
    this.#child.kill("SIGKILL");
  }

  #send(message: ToWorker): void {
    // A closed channel means that the process has ended, which onExit handles.
    this.#child.send(message, () => undefined);
  }
}
