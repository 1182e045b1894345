import { MissingPart } from "../../../tools/parts/control-plane/go.ts";

/** The suite's account to its reader: one line for each thing that was seen to hold, or that did not. */
export class Report {
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  readonly #summaries: string[] = [];
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void = (line) => process.stdout.write(`${line}\n`)) {
    this.#print = print;
  }

  /** Progress that is no result. */
  readonly log = (line: string): void => this.#print(`  … ${line}`);

  /**
   * Runs one check and prints its line. What it returns is added to the line.
   * @returns whether it held; later checks that need it go on without it
   */
  async check(title: string, run: () => Promise<string | undefined> | string | undefined): Promise<boolean> {
    const started = performance.now();
    const took = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
    try {
      const detail = await run();
      this.#passed++;
      this.#print(`ok   ${title}${detail === undefined ? "" : `: ${detail}`} (${took()})`);
      return true;
    } catch (error) {
      if (error instanceof MissingPart) throw error;
      this.#failed++;
      const words = error instanceof Error ? error.message : String(error);
      this.#print(`FAIL ${title} (${took()})\n${words.replaceAll(/^/gm, "       ")}`);
      return false;
    }
  }

  skip(what: string, why: string): void {
    this.#skipped++;
    this.#print(`skip ${what}: ${why}`);
  }

  /** A line for the end of the log. */
  summarize(line: string): void {
    this.#summaries.push(line);
  }

  /** Prints the end. @returns the process's exit code */
  end(): number {
    for (const line of this.#summaries) this.#print(line);
    this.#print(`${this.#passed} passed, ${this.#failed} failed, ${this.#skipped} skipped`);
    return this.#failed === 0 ? 0 : 1;
  }
}

/** @throws Error with the message where the condition does not hold */
export function holds(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
