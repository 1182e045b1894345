import { setPriority } from "node:os";

/**
 * Priorities of processes, as niceness. The service's own process keeps 0, so that probes, tags and plans stay fast under load;
 * maintenance stands back behind the writes of workers.
 */
export const niceness = { worker: 10, maintenance: 15 } as const;

/**
 * Lowers the priority of a process; 0 is this one. Called before the process creates threads: on Linux, existing threads keep
 * their priority.
 */
export const lowerPriority = (pid: number | undefined, of: keyof typeof niceness): void => {
  try {
    if (pid !== undefined) setPriority(pid, niceness[of]);
  } catch {
    // The process has ended, or the system does not permit it: nothing depends on it.
  }
};
