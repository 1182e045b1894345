import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The service as a user starts it: a process of its own, known by what it prints and answers. */
export interface Running {
  readonly child: ChildProcess;
  /** Everything that it printed so far. */
  output(): string;
  /** Resolves with the first match of what it prints. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code, or the signal that ended it. */
  exited(): Promise<number | NodeJS.Signals | null>;
}

export const startProcess = (entry: string, environment: Readonly<Record<string, string>>): Running => {
  const child = spawn(process.execPath, [entry], {
    env: { PATH: process.env.PATH ?? "", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      for (const listener of listeners) listener();
    });
  const exit = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal)),
  );
  return {
    child,
    output: () => text,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const match = pattern.exec(text);
          if (match === null) return;
          listeners.delete(check);
          resolve(match);
        };
        listeners.add(check);
        check();
        void exit.then((code) =>
          reject(new Error(`the process ended with ${code} before it printed ${pattern}:\n${text}`)),
        );
      }),
    exited: () => exit,
  };
};

/** A directory of its own, and every process started in it ended afterwards. */
export class Workplace {
  readonly #running: Running[] = [];
  home = "";

  async open(): Promise<void> {
    this.home = await mkdtemp(join(tmpdir(), "lakehead-acceptance-"));
  }

  /** `npm start` on ports that the system chooses. */
  start(environment: Readonly<Record<string, string>> = {}, entry = "service/quickstart/main.ts"): Running {
    const running = startProcess(entry, {
      LAKEHEAD_HOME: this.home,
      LAKEHEAD_PORT: "0",
      LAKEHEAD_OPERATIONS_PORT: "0",
      ...environment,
    });
    this.#running.push(running);
    return running;
  }

  async close(): Promise<void> {
    for (const { child } of this.#running) child.kill("SIGKILL");
    await Promise.all(this.#running.map((running) => running.exited()));
    await rm(this.home, { recursive: true, force: true });
  }
}
