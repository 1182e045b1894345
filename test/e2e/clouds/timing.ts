/** What the journal of a stand-in says of an operation: how long it took, and what waited without need. Pure. */

import type { Entry } from "../providers/journal.ts";

export interface Wait {
  readonly urn: string;
  /** Milliseconds between the end of the last thing it waited for and its own beginning. */
  readonly milliseconds: number;
}

export interface Timing {
  /** From the first beginning to the last end. */
  readonly milliseconds: number;
  /** The longest waits first. */
  readonly waits: readonly Wait[];
}

/** @param after - What each resource waits for. What the journal does not know counts as existing. */
export function timingOf(entries: readonly Entry[], after: ReadonlyMap<string, readonly string[]>): Timing {
  const begun = new Map<string, number>();
  const done = new Map<string, number>();
  for (const { urn, phase, at } of entries) (phase === "begun" ? begun : done).set(urn, at);
  const first = Math.min(...begun.values());
  const waits = [...begun].map(([urn, at]) => {
    const ready = Math.max(first, ...(after.get(urn) ?? []).flatMap((needed) => done.get(needed) ?? []));
    return { urn, milliseconds: at - ready };
  });
  return {
    milliseconds: entries.length === 0 ? 0 : Math.max(...done.values()) - first,
    waits: waits.sort((a, b) => b.milliseconds - a.milliseconds),
  };
}
