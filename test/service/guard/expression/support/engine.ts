import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Trial {
  readonly expression: string;
  readonly as: "filter" | "alias";
}

export type Outcome =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "died"; readonly signal: string };

/** One engine process at a time; after a crash, a new one. */
export class Engine {
  readonly #directories: string[] = [];
  #child: ChildProcess | undefined;

  /** Explains and runs the expression on a table of 200 rows. */
  async try(trial: Trial): Promise<Outcome> {
    this.#child ??= await this.#start();
    const child = this.#child;
    const answer = this.#answer(child);
    child.send(trial);
    const outcome = await answer;
    if (outcome.kind === "died") this.#child = undefined;
    return outcome;
  }

  async close(): Promise<void> {
    this.#child?.removeAllListeners();
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
    await Promise.all(this.#directories.map((directory) => rm(directory, { recursive: true, force: true })));
  }

  async #start(): Promise<ChildProcess> {
    const directory = await mkdtemp(join(tmpdir(), "lakehead-expressions-"));
    this.#directories.push(directory);
    // The engine writes a stack trace of every caught panic to the standard error.
    const child = fork(join(import.meta.dirname, "engine-child.ts"), [directory], { stdio: "ignore" });
    const ready: { readonly kind: string } = await this.#answer(child);
    if (ready.kind !== "ready") throw new Error(`the engine process did not start: ${JSON.stringify(ready)}`);
    return child;
  }

  #answer(child: ChildProcess): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const onMessage = (message: unknown) => settle(message as Outcome);
    const onExit = (code: number | null, signal: string | null) =>
      settle({ kind: "died", signal: signal ?? `exit ${code}` });
    const settle = (outcome: Outcome) => {
      child.off("message", onMessage);
      child.off("exit", onExit);
      resolve(outcome);
    };
    child.on("message", onMessage);
    child.on("exit", onExit);
    return promise;
  }
}
