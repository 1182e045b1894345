/** What changed between two plans of one stack, input by input. Pure. */

import { withConsequences } from "./consequences.ts";
import { type Leaf, leaves, withoutIndexes } from "./leaves.ts";
import type { Plan, PlanEntry } from "./plan.ts";
import { replacementSource } from "./replacements.ts";
import type { Plain } from "./values.ts";

export interface Change {
  /** Path of the input, or `options.<name>` for a resource option. */
  readonly path: string;
  /** Undefined where the input is new. */
  readonly before?: Leaf;
  /** Undefined where the input is gone. */
  readonly after?: Leaf;
  /** Why this change likely replaces the resource. */
  readonly replaces?: string;
  /** The resource ignores changes of this input. */
  readonly ignored?: true;
}

export interface ResourceDiff {
  readonly op: "add" | "remove" | "change" | "replace";
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly protect: boolean;
  readonly retainOnDelete: boolean;
  readonly changes: readonly Change[];
  /** The id before, where an alias ties the resource to another one. */
  readonly renamedFrom?: string;
  /**
   * The property that takes its value from another resource which is replaced, or gets another output by its own change,
   * and that one's id: a change that no input shows.
   */
  readonly follows?: { readonly property: string; readonly from: string };
  /** What the change does beyond what the inputs show. */
  readonly warnings?: readonly string[];
}

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
  const all = withConsequences(after.entries, resources, outline).sort((a, b) =>
    a.id < b.id ? -1 : a.id > b.id ? 1 : 0,
  );
  return {
    stack: after.stack,
    resources: all,
    unchanged: after.entries.length - all.filter(({ op }) => op !== "remove").length,
    outputs: compare(before.outputs, after.outputs),
  };
}

const outline = ({ id, type, name, options }: PlanEntry) => ({
  id,
  type,
  name,
  protect: options.protect === true,
  retainOnDelete: options.retainOnDelete === true,
});

function changesOf(before: PlanEntry, after: PlanEntry, renamed: ReadonlyMap<string, string>): Change[] {
  const ignores = after.options.ignoreChanges;
  const ignored = (Array.isArray(ignores) ? ignores : []).map(String);
  const forced = (Array.isArray(after.options.replaceOnChanges) ? after.options.replaceOnChanges : []).map(String);
  const inputs = compare(before.inputs, after.inputs).map((change): Change => {
    const path = withoutIndexes(change.path);
    const under = (property: string): boolean =>
      property === "*" || path === withoutIndexes(property) || path.startsWith(`${withoutIndexes(property)}.`);
    if (ignored.some(under)) return { ...change, ignored: true };
    const reason = forced.some(under) ? "replaceOnChanges" : replacementSource(after.type, path);
    return reason === undefined ? change : { ...change, replaces: reason };
  });
  const current = (id: string): string => renamed.get(id) ?? id;
  const options = compareOptions(
    { ...before.options, dependsOn: before.dependsOn.map(current), parent: current(before.parent ?? "") },
    { ...after.options, dependsOn: [...after.dependsOn], parent: after.parent ?? "" },
  );
  return [...inputs, ...options];
}

/** Compares leaf by leaf; undefined is no leaf at all. */
function compare(before: Plain | undefined, after: Plain | undefined, root = ""): Change[] {
  const list = (tree: Plain | undefined) =>
    new Map(tree === undefined ? [] : leaves(tree, root).filter(([path]) => path !== ""));
  const old = list(before);
  const now = list(after);
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((path): Change[] => {
    const a = old.get(path);
    const b = now.get(path);
    if (a === b) return [];
    return [{ path, ...(a === undefined ? {} : { before: a }), ...(b === undefined ? {} : { after: b }) }];
  });
}

/** Lists among the options are sets: their order says nothing, and one more entry is one change. */
function compareOptions(before: { [key: string]: Plain }, after: { [key: string]: Plain }): Change[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((option): Change[] => {
    const path = `options.${option}`;
    const [old = [], now = []] = [before[option], after[option]];
    if (!Array.isArray(old) || !Array.isArray(now)) return compare(before[option], after[option], path);
    const [had, has] = [old.map(String), now.map(String)];
    return [
      ...has.filter((item) => !had.includes(item)).map((item) => ({ path, after: item })),
      ...had.filter((item) => !has.includes(item)).map((item) => ({ path, before: item })),
    ];
  });
}
