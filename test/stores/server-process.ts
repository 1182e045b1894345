import { type ChildProcess, spawn } from "node:child_process";
import type { Responder } from "../support/object-store-protocol.ts";

/** A real store that runs as a process of its own, behind the count and the weather of ours; or why there is none. */
export type StoreServer =
  | { readonly name: string; readonly behind: Responder; stop(): Promise<void> }
  | { readonly missing: string };

export interface ServerProcess {
  /** What it printed first that the pattern fits. */
  readonly match: RegExpExecArray;
  stop(): Promise<void>;
}

/** Starts a server and waits for the line that says that it listens. @throws what it printed where it ended instead. */
export const startServer = async (
  program: string,
  args: readonly string[],
  pattern: RegExp,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> => {
  const child: ChildProcess = spawn(program, [...args], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // A run that is cut short leaves nothing behind.
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let output = "";
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output = `${output}${chunk.toString()}`.slice(-10_000);
      const found = pattern.exec(output);
      if (found !== null) resolve(found);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`${program} ended with ${code} before it listened:\n${output}`)));
  });
  return {
    match,
    stop: () => {
      process.off("exit", end);
      end();
      return gone;
    },
  };
};
