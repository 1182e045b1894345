import type { PlanNode, PlanTree } from "../../../plan-doctor/types.ts";
import { bytesRead, type Listed, listNodes } from "../plan/nodes.ts";

/** A row of the comparison: a node of both plans, or of one. */
export interface Pair {
  readonly before?: Listed;
  readonly after?: Listed;
  /** What differs: `attributes`, `rows`, `bytes`, `time`. Empty for nodes that are equal, and for those of one plan. */
  readonly differs: readonly Difference[];
}

export type Difference = "attributes" | "rows" | "bytes" | "time";

/** Lengths of the longest common subsequences of names, of all ends of both lists. */
const commonLengths = (before: readonly Listed[], after: readonly Listed[]): Uint16Array[] => {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--) {
      const same = before[i]?.node.name === after[j]?.node.name;
      const row = lengths[i] as Uint16Array;
      const below = lengths[i + 1] as Uint16Array;
      row[j] = same ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  return lengths;
};

/** Without the positions of columns (`place@2`), which change with every other column. */
const withoutPositions = (text: string): string => text.replace(/(?<=[\w"`])@\d+/g, "");

const attributesOf = ({ attributes }: PlanNode): string => withoutPositions(JSON.stringify(attributes));

/** Times vary from run to run: only a factor of 1.5, of at least a twentieth of the query, counts. */
const timeDiffers = (before: PlanNode, after: PlanNode): boolean => {
  if (before.own_ns === null || after.own_ns === null) return false;
  if (Math.max(before.share ?? 0, after.share ?? 0) < 0.05) return false;
  const [low, high] = [Math.min(before.own_ns, after.own_ns), Math.max(before.own_ns, after.own_ns)];
  return high > low * 1.5;
};

const differencesOf = (before: PlanNode, after: PlanNode): readonly Difference[] => [
  ...(attributesOf(before) === attributesOf(after) ? [] : (["attributes"] as const)),
  ...(before.rows_out === after.rows_out ? [] : (["rows"] as const)),
  ...(bytesRead(before) === bytesRead(after) ? [] : (["bytes"] as const)),
  ...(timeDiffers(before, after) ? (["time"] as const) : []),
];

/** Aligns two plans by the names of their nodes, in the order of the text. */
export const alignPlans = (before: PlanTree, after: PlanTree): readonly Pair[] => {
  const [left, right] = [listNodes(before), listNodes(after)];
  const lengths = commonLengths(left, right);
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [one, other] = [left[i], right[j]];
    if (one !== undefined && other !== undefined && one.node.name === other.node.name) {
      pairs.push({ before: one, after: other, differs: differencesOf(one.node, other.node) });
      i++;
      j++;
    } else if (other === undefined || (one !== undefined && (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))) {
      pairs.push({ ...(one === undefined ? {} : { before: one }), differs: [] });
      i++;
    } else {
      pairs.push({ after: other, differs: [] });
      j++;
    }
  }
  return pairs;
};

/** After as a factor of before: `0.25×`; undefined if one of them is not known or zero. */
export const factorOf = (before: number | null | undefined, after: number | null | undefined): number | undefined =>
  before === null || before === undefined || before === 0 || after === null || after === undefined
    ? undefined
    : after / before;

/** Attributes of two nodes of which one or both differ, by key. */
export const changedAttributes = (
  before: PlanNode,
  after: PlanNode,
): readonly (readonly [string, string, string])[] => {
  const text = ({ attributes }: PlanNode, key: string | null): string =>
    attributes
      .filter((attribute) => attribute.key === key)
      .map(({ value }) => withoutPositions(value))
      .join(", ");
  const keys = [...new Set([...before.attributes, ...after.attributes].map(({ key }) => key))];
  return keys
    .map((key) => [key ?? "", text(before, key), text(after, key)] as const)
    .filter(([, left, right]) => left !== right);
};
