/** The difference of two plans of one stack: matched resources, their changes, and what follows from those. Pure. */

import { type Change, changesOf, compare, outline, type ResourceDiff } from "./changes.ts";
import { withConsequences } from "./consequences.ts";
import type { Plan, PlanEntry } from "./plan.ts";

export interface PlanDiff {
  readonly stack: string;
  /** Sorted by id; resources without a change are left out. */
  readonly resources: readonly ResourceDiff[];
  readonly unchanged: number;
  readonly outputs: readonly Change[];
}

export const emptyPlan = (stack: string): Plan => ({
  project: "",
  stack,
  entries: [],
  outputs: {},
  madeUp: [],
  notes: [],
  warnings: [],
});

/** Compares by id; a resource that names an earlier id as its alias is the same resource. */
export function diffPlans(before: Plan, after: Plan): PlanDiff {
  const old = new Map(before.entries.map((entry) => [entry.id, entry]));
  const matched = new Map<string, PlanEntry>();
  for (const entry of after.entries) {
    const same = old.get(entry.id);
    if (same !== undefined) matched.set(entry.id, same);
  }
  const taken = new Set([...matched.values()].map(({ id }) => id));
  for (const entry of after.entries) {
    if (matched.has(entry.id)) continue;
    const alias = entry.aliases.find((id) => old.has(id) && !taken.has(id));
    const earlier = alias === undefined ? undefined : old.get(alias);
    if (earlier === undefined) continue;
    matched.set(entry.id, earlier);
    taken.add(earlier.id);
  }
  const renamed = new Map(
    [...matched].flatMap(([id, earlier]) => (id === earlier.id ? [] : [[earlier.id, id] as const])),
  );
  const resources: ResourceDiff[] = [];
  for (const entry of after.entries) {
    const earlier = matched.get(entry.id);
    if (earlier === undefined) {
      resources.push({ ...outline(entry), op: "add", changes: [] });
      continue;
    }
    const changes = changesOf(earlier, entry, renamed);
    const moved = earlier.id === entry.id ? {} : { renamedFrom: earlier.id };
    const op = changes.some(({ replaces, ignored }) => replaces !== undefined && !ignored) ? "replace" : "change";
    if (changes.length > 0 || earlier.id !== entry.id) resources.push({ ...outline(entry), op, changes, ...moved });
  }
  for (const entry of before.entries)
    if (!taken.has(entry.id)) resources.push({ ...outline(entry), op: "remove", changes: [] });
  const all = withConsequences(after.entries, resources).sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return {
    stack: after.stack,
    resources: all,
    unchanged: after.entries.length - all.filter(({ op }) => op !== "remove").length,
    outputs: compare(before.outputs, after.outputs),
  };
}
