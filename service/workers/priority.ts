import { setPriority } from "node:os";

/**
 * Priorities of processes, as niceness. The service's own process keeps 0, so that probes, tags and plans stay fast under load;
 * maintenance stands back behind the writes of workers. Appends are short, and do not wait for the CPUs behind builds of indices.
 */
export const niceness = { append: 5, worker: 10, maintenance: 15 } as const;

export type Priority = keyof typeof niceness;

/**
 * Lowers the priority of a process; 0 is this one. Called before the process creates threads: on Linux, existing threads keep
 * their priority.
 */
export const lowerPriority = (pid: number | undefined, of: Priority): void => {
  try {
    if (pid !== undefined) setPriority(pid, niceness[of]);
  } catch {
    // The process has ended, or the system does not permit it: nothing depends on it.
  }
};
