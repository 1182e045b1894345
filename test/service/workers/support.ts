import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestService } from "../../support/service.ts";
import { dimensions } from "../../support/tables.ts";

const run = promisify(execFile);

export const vector = Array.from({ length: dimensions }, () => 0.5);

/** A word that stands in every killer and must not come out anywhere. */
export const canary = "xyzzycanary";

/** Runs for minutes in a few megabytes, at planning. */
export const slowToPlan = `levenshtein(repeat('ab', 100000), repeat('${canary}', 20000)) > 0`;

/** Plans at once and runs for minutes: what it repeats is known only row by row. */
export const slowToRun = `levenshtein(repeat(text, 1000), repeat('${canary}', 3000)) > 0`;

export const explain = (service: TestService, filter: string) =>
  service.call("explain_plan", "docs", { query: { k: 1, filter } });

export const analyze = (service: TestService, filter: string) => service.call("analyze_plan", "docs", { k: 1, filter });

/** Process ids of the workers of a supervisor, as the system sees them. */
export const workersOf = async (supervisor: number | undefined = process.pid): Promise<number[]> => {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid=,args="]);
  return stdout
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match?.[2] === String(supervisor) && match[3]?.includes("workers/worker-entry") === true)
    .map((match) => Number(match?.[1]));
};

export const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

export const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
};

export interface EndLine {
  readonly pool: string;
  readonly reason: string;
  readonly pid: number;
  readonly peakBytes: number;
  readonly calls: number;
}

/** What the log says about ended workers. */
export const ends = (service: TestService): EndLine[] =>
  service.log.filter(({ msg }) => msg === "a worker process has ended") as unknown as EndLine[];

export const get = async (service: TestService, path: string) => {
  const response = await fetch(`${service.operationsBase}${path}`);
  return { status: response.status, text: await response.text() };
};
