import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Polls until an answer other than undefined comes. @throws Error that names what was waited for, and the last failure */
export async function until<Answer>(
  what: string,
  ask: () => Promise<Answer | undefined>,
  { seconds = 120, every = 250 }: { seconds?: number; every?: number } = {},
): Promise<Answer> {
  const end = Date.now() + seconds * 1000;
  let last: unknown;
  do {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      last = error;
    }
    await sleep(every);
  } while (Date.now() < end);
  const why = last instanceof Error ? `: ${last.message}` : "";
  throw new Error(`${what} did not come about within ${seconds} s${why}`);
}

export interface DaemonOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Where its output goes. */
  readonly logFile: string;
}

const running = new Set<ChildProcess>();
const folders = new Set<string>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/** A program that ends with the suite whatever happens. */
export function endingWithUs<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

/** A folder of its own that is gone with the suite whatever happens. */
export async function temporaryFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `lakehead-e2e-${name}-`));
  folders.add(folder);
  return folder;
}

/** A program that runs beside the suite, and is ended with it whatever happens. */
export class Daemon {
  readonly name: string;
  readonly #logFile: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  #over: string | undefined;

  constructor({ name, command, args, env, cwd, logFile }: DaemonOptions) {
    this.name = name;
    this.#logFile = logFile;
    const output = openSync(logFile, "a");
    const child = spawn(command, [...args], {
      stdio: ["ignore", output, output],
      ...(env === undefined ? {} : { env }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    closeSync(output);
    this.#child = endingWithUs(child);
    this.#ended = new Promise((resolve) => {
      const end = (how: string) => {
        this.#over = how;
        resolve(how);
      };
      child.once("error", (error) => end(error.message));
      child.once("close", (code, signal) => end(signal ?? `exit ${code}`));
    });
  }

  /** How it ended, or undefined while it runs. */
  get over(): string | undefined {
    return this.#over;
  }

  get ended(): Promise<string> {
    return this.#ended;
  }

  /** The end of what it has printed. */
  get lastWords(): string {
    return readFileSync(this.#logFile, "utf8").trim().split("\n").slice(-12).join("\n");
  }

  /** Polls like `until`, and gives up as soon as the program has ended. */
  async until<Answer>(what: string, ask: () => Promise<Answer | undefined>, seconds = 120): Promise<Answer> {
    return until(
      what,
      async () => {
        if (this.#over === undefined) return ask();
        return Promise.reject(new Error(`${this.name} ended (${this.#over}):\n${this.lastWords}`));
      },
      { seconds: seconds, every: 250 },
    );
  }

  /** Asks it to end, and makes it end after ten seconds. */
  async stop(): Promise<void> {
    if (this.#over !== undefined) return;
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    await this.#ended;
    clearTimeout(timer);
  }
}
