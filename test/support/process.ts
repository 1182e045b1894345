import { type ChildProcess, spawn } from "node:child_process";

/** A child process, observed by its output and its end. */
export interface Running {
  readonly child: ChildProcess;
  /** Everything that it printed so far. */
  output(): string;
  /** Resolves with the first match in the output. @throws Error with the output when the process ends before */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Exit code, or the signal that ended it; null while it runs. */
  ended(): number | NodeJS.Signals | null;
  /** Resolves with the exit code, or the signal that ended it. */
  exited(): Promise<number | NodeJS.Signals | null>;
}

/** Where Node keeps compiled modules, if it does: see vitest.config.ts. */
const compileCache = (): Readonly<Record<string, string>> => {
  const { NODE_COMPILE_CACHE: directory } = process.env;
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: directory };
};

/**
 * Starts a program. It is killed when this process exits.
 * @param environment the whole environment, apart from `PATH` and Node's cache of compiled modules
 */
export const startProcess = (
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Running => {
  const child = spawn(program, [...args], {
    env: { PATH: process.env.PATH ?? "", ...compileCache(), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  let text = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      for (const listener of listeners) listener();
    });
  const exit = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once("error", (error) => {
      text += error.message;
      resolve(null);
    });
    child.once("close", (code, signal) => resolve(code ?? signal));
  }).finally(() => process.off("exit", kill));
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
          reject(new Error(`${program} ended with ${code} before it printed ${pattern}:\n${text}`)),
        );
      }),
    ended: () => child.exitCode ?? child.signalCode,
    exited: () => exit,
  };
};
