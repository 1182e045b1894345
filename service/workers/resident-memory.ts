import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

const fromProc = async (pid: number): Promise<string | undefined> =>
  /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, "latin1"))?.[1];

const fromPs = async (pid: number): Promise<string | undefined> =>
  /\d+/.exec((await run("ps", ["-o", "rss=", "-p", String(pid)])).stdout)?.[0];

const read = process.platform === "linux" ? fromProc : fromPs;

/** Interval of measurements of one process, in milliseconds. A thread can allocate about 2 GB per second. */
export const measureEveryMs = process.platform === "linux" ? 50 : 500;

/**
 * Resident memory of another process, in bytes. The system reports it, because a process that is blocked in native code
 * cannot.
 * @returns undefined if the process has ended.
 */
export const residentBytes = async (pid: number): Promise<number | undefined> => {
  const kibibytes = await read(pid).catch(() => undefined);
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
};
