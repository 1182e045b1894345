import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { delimiter, dirname } from "node:path";

/** A search path that starts with the Node of this process: the pinned one, as in the base image. */
export const pinnedPath = [dirname(process.execPath), process.env.PATH ?? ""].join(delimiter);

export interface Ended {
  readonly code: number;
  readonly output: string;
}

/** A process, what it has printed so far, and how it ended (128 and more: by a signal). */
export interface Started {
  readonly child: ChildProcess;
  output(): string;
  readonly ended: Promise<Ended>;
}

export const start = (command: readonly string[], options: SpawnOptions = {}): Started => {
  const [program = "", ...rest] = command;
  const child = spawn(program, rest, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const add = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout?.on("data", add);
  child.stderr?.on("data", add);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 128, output }));
  });
  return { child, output: () => output, ended };
};

export const run = (command: readonly string[], options: SpawnOptions = {}): Promise<Ended> =>
  start(command, options).ended;

/** @throws Error with the end of what the program printed, when it fails. */
export const mustRun = async (command: readonly string[], options: SpawnOptions = {}): Promise<string> => {
  const { code, output } = await run(command, options);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${output.slice(-4000)}`);
  return output;
};

/** Whether a program exists and exits with 0. */
export const works = async (command: readonly string[]): Promise<boolean> => {
  try {
    return (await run(command)).code === 0;
  } catch {
    return false;
  }
};
