import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface Outcome {
  readonly output: string;
  /** Each command that failed, with its exit code. */
  readonly failures: readonly string[];
}

/** A shell that keeps directory and variables from one block to the next, as a reader's does. */
export class Terminal {
  readonly #child: ChildProcess;
  readonly #mark = randomUUID();
  readonly #scratch: string;
  #text = "";
  #blocks = 0;
  #ended = false;
  #wake = (): void => {};

  /** @param scratch a folder for the blocks, which no block sees */
  constructor(folder: string, environment: Readonly<Record<string, string>>, scratch: string) {
    this.#scratch = scratch;
    // A group of its own, so that closing ends what a block started.
    this.#child = spawn("bash", ["--noprofile", "--norc"], {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: "pipe",
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        this.#text += chunk.toString();
        this.#wake();
      });
    this.#child.once("close", () => {
      this.#ended = true;
      this.#wake();
    });
    process.once("exit", this.close);
    this.#send(`exec 2>&1; set -E -o pipefail; trap 'echo "${this.#mark} $?: $BASH_COMMAND"' ERR`);
  }

  #send(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  async #until(found: () => boolean, seconds: number): Promise<void> {
    const end = performance.now() + seconds * 1000;
    while (!found()) {
      if (this.#ended) throw new Error(`the shell ended:\n${this.#text}`);
      const left = end - performance.now();
      if (left <= 0) throw new Error(`not done after ${seconds} s:\n${this.#text}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Sources the block from a file, so that its commands cannot read those after it. */
  async #begin(code: string): Promise<void> {
    this.#text = "";
    const file = join(this.#scratch, `${this.#mark}-${this.#blocks++}.sh`);
    await writeFile(file, code);
    this.#send(`. ${file} < /dev/null; echo "${this.#mark} end"`);
  }

  /** @throws Error with the output when the block does not end in time */
  async run(code: string, seconds: number): Promise<Outcome> {
    await this.#begin(code);
    const end = `${this.#mark} end\n`;
    await this.#until(() => this.#text.endsWith(end), seconds);
    const lines = this.#text.slice(0, -end.length).split("\n");
    const isFailure = (line: string): boolean => line.startsWith(this.#mark);
    return {
      output: lines.filter((line) => !isFailure(line)).join("\n"),
      failures: lines
        .filter((line) => isFailure(line) && !line.includes(this.#scratch))
        .map((line) => `exit code ${line.slice(this.#mark.length + 1)}`),
    };
  }

  /** Leaves a block running once it printed the text. @throws Error with the output when it does not print it in time */
  async leave(code: string, text: string, seconds: number): Promise<Outcome> {
    await this.#begin(code);
    const end = `${this.#mark} end\n`;
    await this.#until(() => this.#text.includes(text) || this.#text.endsWith(end), seconds);
    if (this.#text.endsWith(end)) return { output: this.#text.slice(0, -end.length), failures: ["it did not stay"] };
    return { output: this.#text, failures: [] };
  }

  readonly close = (): void => {
    process.off("exit", this.close);
    if (this.#child.pid === undefined || this.#ended) return;
    process.kill(-this.#child.pid, "SIGKILL");
  };
}
