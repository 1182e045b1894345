import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A container's first process may not collect the ends of others, which then still have their ids. */
const hasEnded = (pid: number): boolean => {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !hasEnded(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** Directories that this process made: a container's process often has the id of the one before it. */
const made = new Set<string>();

const tryRemove = (path: string): void => {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It is of another user.
  }
};

/** Removes the directories of processes that were killed, whose names are the prefix and a process id. */
export const removeStale = (parent: string, prefix: string): void => {
  for (const name of readdirSync(parent).filter((each) => each.startsWith(prefix))) {
    const path = join(parent, name);
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    const isStale = pid === process.pid ? !made.has(path) : pid > 0 && !isRunning(pid);
    if (isStale) tryRemove(path);
  }
};

/** Makes a directory of this process alone, for instance for the bodies of requests. @throws Error of the file system. */
export const makeUploadDirectory = (parent: string, prefix = "lakehead-uploads-"): string => {
  removeStale(parent, prefix);
  const path = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  made.add(path);
  return path;
};
