import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestService } from "../../support/service.ts";
import { dimensions } from "../../support/tables.ts";

const run = promisify(execFile);

export const vector = Array.from({ length: dimensions }, () => 0.5);

/** Timeouts of tests that start processes and load the engine in each: no test measures how long that takes. */
export const longTimeouts = { testTimeout: 150_000, hookTimeout: 150_000 } as const;

/** Part of every harmful query; it must not appear in logs or metrics. */
export const canary = "xyzzycanary";

/** Plans for minutes with little memory. */
export const slowToPlan = `levenshtein(repeat('ab', 100000), repeat('${canary}', 20000)) > 0`;

/** Plans at once and runs for minutes, because the repeated text is not a constant. */
export const slowToRun = `levenshtein(repeat(text, 1000), repeat('${canary}', 3000)) > 0`;

export const explain = (service: TestService, filter: string) =>
  service.call("explain_plan", "docs", { query: { k: 1, filter } });

export const analyze = (service: TestService, filter: string) => service.call("analyze_plan", "docs", { k: 1, filter });

/** Process ids of a supervisor's workers, read from the system. */
export const workersOf = async (supervisor: number | undefined = process.pid): Promise<number[]> => {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid=,args="]);
  return stdout
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match?.[2] === String(supervisor) && match[3]?.includes("workers/worker-entry") === true)
    .map((match) => Number(match?.[1]));
};

/** Process ids of a supervisor's workers, once there are so many. */
export const workersOnce = async (count: number, supervisor: number | undefined): Promise<number[]> => {
  let workers: number[] = [];
  await until(async () => {
    workers = await workersOf(supervisor);
    return workers.length === count;
  });
  return workers;
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

export interface ExitLine {
  readonly pool: string;
  readonly reason: string;
  readonly pid: number;
  readonly peakBytes: number;
  readonly calls: number;
  readonly exitError?: string;
}

/** The log lines of worker exits. */
export const exits = (service: TestService): ExitLine[] =>
  service.log.filter(({ msg }) => msg === "a worker process has ended") as unknown as ExitLine[];

export const get = async (service: TestService, path: string) => {
  const response = await fetch(`${service.operationsBase}${path}`);
  return { status: response.status, text: await response.text() };
};
