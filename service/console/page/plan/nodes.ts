import type { Metric, PlanNode, PlanTree } from "../../../plan-doctor/types.ts";

/** A node with its depth, 0 for a top node. */
export interface Listed {
  readonly node: PlanNode;
  readonly depth: number;
  readonly parent: PlanNode | undefined;
}

/** The nodes in the order of the text: a node before its children. */
export const listNodes = ({ roots }: PlanTree): readonly Listed[] => {
  const listed: Listed[] = [];
  // Without recursion: a plan can be deeper than the call stack allows.
  const open: Listed[] = roots.map((node) => ({ node, depth: 0, parent: undefined })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    listed.push(next);
    const { node, depth } = next;
    for (const child of node.children.toReversed()) open.push({ node: child, depth: depth + 1, parent: node });
  }
  return listed;
};

const wrappers: readonly string[] = ["AnalyzeExec", "TracedExec"];

/** The plan without the nodes on top that only measure the others. */
export const withoutWrappers = (tree: PlanTree): PlanTree => {
  const [root, ...others] = tree.roots;
  const [child, ...siblings] = root?.children ?? [];
  if (root === undefined || child === undefined || others.length + siblings.length > 0) return tree;
  const measures = wrappers.includes(root.name) && (root.own_ns ?? 0) === 0;
  return measures ? withoutWrappers({ ...tree, roots: [child] }) : tree;
};

export const metricOf = (node: PlanNode, name: string): Metric | undefined =>
  node.metrics.find((metric) => metric.name === name);

/** Bytes that a node read, else undefined. */
export const bytesRead = (node: PlanNode): number | undefined => metricOf(node, "bytes_read")?.value ?? undefined;

/** Requests of a node to the store, else undefined. */
export const requestsOf = (node: PlanNode): number | undefined => metricOf(node, "requests")?.value ?? undefined;

const sum = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
};

export interface Totals {
  readonly nodes: number;
  readonly elapsed: number | null;
  readonly rows: number | null;
  readonly bytes: number | undefined;
  readonly requests: number | undefined;
}

/** Numbers of a whole plan. Rows are those of the first node that counts them: the engine's outer nodes do not. */
export const totalsOf = (tree: PlanTree): Totals => {
  const nodes = listNodes(tree).map(({ node }) => node);
  return {
    nodes: nodes.length,
    elapsed: tree.elapsed_ns,
    rows: nodes.find(({ rows_out: rows }) => rows !== null)?.rows_out ?? null,
    bytes: sum(nodes.map(bytesRead)),
    requests: sum(nodes.map(requestsOf)),
  };
};

/** Share of own time as a colour, by the limits of depesz and pgAdmin. */
export const heatOf = (share: number | null): "none" | "low" | "medium" | "high" => {
  if (share === null || share < 0.1) return "none";
  if (share < 0.5) return "low";
  return share < 0.9 ? "medium" : "high";
};

/** What distinguishes a node from others of its name, in a few words. */
export const subjectOf = ({ attributes }: PlanNode): string => {
  const keys = ["name", "uri", "metric", "projection", "expr", "query", "column"];
  const found = keys
    .map((key) => attributes.find((attribute) => attribute.key === key))
    .find((attribute) => attribute !== undefined);
  const [first] = attributes;
  if (found !== undefined || first === undefined) return found?.value ?? "";
  return first.key === null ? first.value : `${first.key}=${first.value}`;
};
