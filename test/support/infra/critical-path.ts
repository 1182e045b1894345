/** How long a stack takes when every resource takes what its cloud typically takes and nothing else waits. Pure. */

export interface Task {
  readonly urn: string;
  readonly minutes: number;
  /** URNs of what must be done before this begins. */
  readonly after: readonly string[];
}

export interface Path {
  readonly minutes: number;
  /** From the first to the last; what takes no time is left out. */
  readonly steps: readonly { readonly urn: string; readonly minutes: number }[];
}

/**
 * The chain that decides when the last task is done.
 * @throws RangeError when tasks wait for each other in a circle
 */
export function longestPath(tasks: readonly Task[]): Path {
  const byUrn = new Map(tasks.map((task) => [task.urn, task]));
  const done = new Map<string, { readonly end: number; readonly previous: string | undefined }>();
  const open = new Set<string>();
  const finish = (urn: string): number => {
    const known = done.get(urn);
    if (known !== undefined) return known.end;
    const task = byUrn.get(urn);
    if (task === undefined) return 0;
    if (open.has(urn)) throw new RangeError(`${urn} waits for itself`);
    open.add(urn);
    let [start, previous]: [number, string | undefined] = [0, undefined];
    for (const needed of task.after) {
      const end = finish(needed);
      if (byUrn.has(needed) && (end > start || previous === undefined)) [start, previous] = [end, needed];
    }
    open.delete(urn);
    done.set(urn, { end: start + task.minutes, previous });
    return start + task.minutes;
  };
  let last: string | undefined;
  let minutes = -1;
  for (const { urn } of tasks) {
    const end = finish(urn);
    if (end > minutes) [minutes, last] = [end, urn];
  }
  const steps: { urn: string; minutes: number }[] = [];
  for (let urn = last; urn !== undefined; urn = done.get(urn)?.previous) {
    const task = byUrn.get(urn);
    if (task !== undefined && task.minutes > 0) steps.unshift({ urn, minutes: task.minutes });
  }
  return { minutes: Math.max(0, minutes), steps };
}

/** The same tasks on the way down: everything goes before what it waited for. */
export function reversed(tasks: readonly Task[]): Task[] {
  const waiting = new Map<string, string[]>();
  for (const { urn, after } of tasks)
    for (const needed of after) waiting.set(needed, [...(waiting.get(needed) ?? []), urn]);
  return tasks.map((task) => ({ ...task, after: waiting.get(task.urn) ?? [] }));
}
