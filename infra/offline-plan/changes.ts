/** The changes of one resource between two plans: its inputs leaf by leaf, its options. Pure. */

import { joinPath, type Leaf, leaves, withoutIndexes } from "./leaves.ts";
import type { PlanEntry } from "./plan.ts";
import { growsInPlace, keepsWithout, replacementSource } from "./replacements.ts";
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
  /** The resource ignores changes of this input, or its provider does. */
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
    const property = path.split(".")[0] ?? "";
    if (!(property in after.inputs) && keepsWithout(after.type, property)) return { ...change, ignored: true };
    if (growsInPlace(after.type, path, change.before, change.after)) return change;
    const changed = change.before !== undefined && change.after !== undefined;
    const reason = forced.some(under) ? "replaceOnChanges" : replacementSource(after.type, path, changed);
    return reason === undefined ? change : { ...change, replaces: reason };
  });
  const current = (id: string): string => renamed.get(id) ?? id;
  const options = compareOptions(
    { ...before.options, dependsOn: before.dependsOn.map(current), parent: current(before.parent ?? "") },
    { ...after.options, dependsOn: [...after.dependsOn], parent: after.parent ?? "" },
  );
  return [...inputs, ...options];
}

/**
 * Compares leaf by leaf; an undefined tree has no leaves. Items of a list are matched by the key that identifies them, and
 * where they have none, by the longest common subsequence of equal items.
 */
export function compare(before: Plain | undefined, after: Plain | undefined, path = ""): Change[] {
  if (before === undefined && after === undefined) return [];
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(before, after, path);
  if (isMap(before) && isMap(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      compare(before[key], after[key], joinPath(path, key)),
    );
  const list = (tree: Plain | undefined) => new Map(tree === undefined ? [] : leaves(tree, path));
  const [old, now] = [list(before), list(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((leaf): Change[] => {
    const [a, b] = [old.get(leaf), now.get(leaf)];
    if (a === b || leaf === "") return [];
    return [{ path: leaf, ...(a === undefined ? {} : { before: a }), ...(b === undefined ? {} : { after: b }) }];
  });
}

function compareLists(before: readonly Plain[], after: readonly Plain[], path: string): Change[] {
  const key = identifyingKey(before, after);
  if (key === undefined) return compareSequences(before, after, path);
  const name = (item: Plain): string => String(isMap(item) ? item[key] : item);
  const [old, now] = [before, after].map((items) => new Map(items.map((item) => [name(item), item])));
  const names = [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])];
  const order = (items: readonly Plain[], other: ReadonlyMap<string, Plain> | undefined) =>
    `[${items
      .map(name)
      .filter((item) => other?.has(item))
      .join(", ")}]`;
  const [was, is] = [order(before, now), order(after, old)];
  return [
    ...names.flatMap((item) => compare(old?.get(item), now?.get(item), `${path}[${key}=${item}]`)),
    ...(was === is ? [] : [{ path, before: was, after: is }]),
  ];
}

/** Inputs that identify an item of a list, in the clouds' and Kubernetes' objects. */
const identifying = ["Sid", "sid", "name", "key", "groupName", "cidrBlock", "id", "containerPort", "port"];

/** The first of them that every item has, with values that are unique in each list and fit into a path. */
function identifyingKey(...lists: readonly (readonly Plain[])[]): string | undefined {
  return identifying.find((key) =>
    lists.every((items) => {
      const values = items.map((item) => (isMap(item) ? item[key] : undefined));
      return (
        new Set(values).size === items.length &&
        values.every((value) => /^[^[\]\s]+$/.test(typeof value === "number" ? String(value) : String(value ?? "")))
      );
    }),
  );
}

/** Between two equal items, a removed and an added one at the same place are one changed item. */
function compareSequences(before: readonly Plain[], after: readonly Plain[], path: string): Change[] {
  const [old, now] = [before, after].map((items) => items.map((item) => JSON.stringify(item)));
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  for (const [a, b] of [...commonSubsequence(old ?? [], now ?? []), [before.length, after.length] as const]) {
    for (; i < a || j < b; i++, j++) {
      const [had, has] = [i < a ? before[i] : undefined, j < b ? after[j] : undefined];
      changes.push(...compare(had, has, `${path}[${has === undefined ? i : j}]`));
      if (had === undefined) i = a - 1;
      if (has === undefined) j = b - 1;
    }
    [i, j] = [a + 1, b + 1];
  }
  return changes;
}

/** Pairs of indexes of the longest common subsequence, ascending. */
function commonSubsequence(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

const isMap = (value: Plain | undefined): value is { [key: string]: Plain } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
