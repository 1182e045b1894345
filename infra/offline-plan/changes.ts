/** The changes of one resource between two plans: its inputs leaf by leaf, its options. Pure. */

import { type Leaf, leaves, withoutIndexes } from "./leaves.ts";
import type { PlanEntry } from "./plan.ts";
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
   * Set when the cause is another resource, which no input of this one shows: the property that takes its value from that
   * resource, and that resource's id.
   */
  readonly follows?: { readonly property: string; readonly from: string };
  /** Effects that the inputs do not show. */
  readonly warnings?: readonly string[];
}

/** What identifies a resource in a diff. */
export const outline = ({ id, type, name, options }: PlanEntry) => ({
  id,
  type,
  name,
  protect: options.protect === true,
  retainOnDelete: options.retainOnDelete === true,
});

/** @param renamed - Ids before to ids after, of resources that an alias matched. */
export function changesOf(before: PlanEntry, after: PlanEntry, renamed: ReadonlyMap<string, string>): Change[] {
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

/** Compares leaf by leaf; an undefined tree has no leaves. */
export function compare(before: Plain | undefined, after: Plain | undefined, root = ""): Change[] {
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

/** Lists among the options are sets: their order has no meaning, and one more entry is one change. */
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
