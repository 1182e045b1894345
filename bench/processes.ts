import { readFileSync } from "node:fs";

/** Resources that a process has used, from `/proc`. */
export interface Usage {
  readonly pid: number;
  readonly cpuSeconds: number;
  /** Resident memory; shared pages count for each process. */
  readonly residentBytes: number;
}

const ticksPerSecond = 100;
const pageBytes = 4096;

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // The process has ended, or the system has no /proc.
    return undefined;
  }
};

const usageOf = (pid: number): Usage | undefined => {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [user = 0, system = 0] = fields.slice(11);
  return { pid, cpuSeconds: (user + system) / ticksPerSecond, residentBytes: (fields[21] ?? 0) * pageBytes };
};

/** A process and the running children of its main thread; empty without `/proc`. */
export const family = (pid: number): readonly Usage[] => {
  const children = (read(`/proc/${pid}/task/${pid}/children`) ?? "").split(" ").filter(Boolean).map(Number);
  return [pid, ...children].map(usageOf).filter((usage) => usage !== undefined);
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

export const cpuSecondsOf = (usages: readonly Usage[]): number => sum(usages.map(({ cpuSeconds }) => cpuSeconds));

export const residentBytesOf = (usages: readonly Usage[]): number =>
  sum(usages.map(({ residentBytes }) => residentBytes));
