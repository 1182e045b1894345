import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ExitErrorReader } from "../workers/exit-error.ts";
import { lowerPriority } from "../workers/priority.ts";
import { measureEveryMs, residentBytes } from "../workers/resident-memory.ts";
import type { Step, WorkResult } from "./work.ts";
import type { FromWorker, Job } from "./worker-entry.ts";

const entry = fileURLToPath(new URL("./worker-entry.ts", import.meta.url));

/**
 * Memory of this size or more goes back to the system when it is freed. By default malloc keeps up to 32 MiB at a time, in
 * each thread: for large values that was half of the process.
 */
const returnedBytes = 2 ** 20;

/** The work ended early. What it committed by then stays. */
export class WorkEnded extends Error {
  /** Whether the message has the SDK's own words, which may name files. */
  readonly isNative: boolean;

  constructor(message: string, isNative: boolean) {
    super(message);
    this.isNative = isNative;
  }
}

export interface WorkerBounds {
  readonly memoryBytes: number;
  readonly seconds: number;
  /** Ends the process; its reason says why. */
  readonly signal: AbortSignal;
  readonly onStep: (step: Step) => void;
}

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)} MiB`;

/**
 * Works on a table in a process of its own, which can be ended at any moment: the SDK cannot cancel what it does, and its
 * memory has no bound.
 * @throws WorkEnded that says why.
 */
export const workInProcess = async (
  job: Omit<Job, "temporary">,
  { memoryBytes, seconds, signal, onStep }: WorkerBounds,
): Promise<WorkResult> => {
  const temporary = await mkdtemp(join(tmpdir(), "lakehead-maintenance-"));
  const child = fork(entry, [], {
    // biome-ignore lint/style/noProcessEnv: all that its parent has, and malloc's own variable
    env: { ...process.env, MALLOC_MMAP_THRESHOLD_: String(returnedBytes) },
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  lowerPriority(child.pid, "maintenance");
  const { promise, resolve, reject } = Promise.withResolvers<WorkResult>();
  const end = (reason: string): void => {
    reject(new WorkEnded(reason, false));
    child.kill("SIGKILL");
  };
  const errors = new ExitErrorReader();
  child.stderr?.setEncoding("latin1").on("data", (chunk: string) => errors.read(chunk));
  child.on("message", (message: FromWorker) => {
    if (message.kind === "step") onStep(message.step);
    else if (message.kind === "result") resolve(message.result);
    else reject(new WorkEnded(message.message, message.isNative));
  });
  const ended = new Promise<void>((settle) => {
    child.once("close", (code, killed) => {
      const cause = errors.error === undefined ? "" : `: ${errors.error}`;
      reject(new WorkEnded(`its process ended with ${killed ?? code}${cause}`, true));
      settle();
    });
    child.once("error", (error) => {
      reject(new WorkEnded(error.message, true));
      if (child.pid === undefined) settle();
    });
  });
  const deadline = setTimeout(
    () =>
      end(
        `it took more than ${seconds} s; raise LAKEHEAD_MAINTENANCE_TABLE_SECONDS, and for requests LAKEHEAD_WRITE_DEADLINE_SECONDS, if the next run does not end it`,
      ),
    seconds * 1000,
  );
  const measurement = setInterval(async () => {
    const bytes = child.pid === undefined ? undefined : await residentBytes(child.pid);
    if (bytes !== undefined && bytes > memoryBytes)
      end(`it took more than ${mebibytes(memoryBytes)} of memory; raise the memory of the job`);
  }, measureEveryMs);
  const abort = (): void => end(String(signal.reason));
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  child.send({ ...job, temporary }, () => undefined);
  try {
    return await promise;
  } finally {
    clearTimeout(deadline);
    clearInterval(measurement);
    signal.removeEventListener("abort", abort);
    await ended;
    await rm(temporary, { recursive: true, force: true });
  }
};
