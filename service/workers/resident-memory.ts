import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

const fromProc = async (pid: number): Promise<string | undefined> =>
  /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, "latin1"))?.[1];

const fromPs = async (pid: number): Promise<string | undefined> =>
  /\d+/.exec((await run("ps", ["-o", "rss=", "-p", String(pid)])).stdout)?.[0];

const read = process.platform === "linux" ? fromProc : fromPs;

/** Milliseconds between two looks at one process: a thread touches 2 GB of new memory in a second at the most. */
export const lookMs = process.platform === "linux" ? 50 : 500;

/**
 * Bytes of memory that another process has resident, seen from outside: one that is stuck in native code cannot tell.
 * @returns undefined where the process has ended.
 */
export const residentBytes = async (pid: number): Promise<number | undefined> => {
  const kibibytes = await read(pid).catch(() => undefined);
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
};
