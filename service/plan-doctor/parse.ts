import { durationOf, parseMetric } from "./metric.ts";
import type { Attribute, Metric, PlanNode, PlanTree } from "./types.ts";

/** Characters of a request's string that could be taken for the plan's own syntax. */
const structural = /["'()[\]{},=]/;

/** A line of a request's string that could be taken for a node. */
const nodeLike = /\n(?: {2})+[A-Z]/;

/** Strings of a request that are protected; a plan with more of them is still complete, but may be split wrongly. */
const maxProtected = 64;

/** What precedes a literal or a column name in a plan; `metrics=[` does not. */
const beforeString = /(?<!metrics=?)[\s("'[,=.]$/;

/**
 * A copy of the plan of the same length in which the request's own strings have no structural characters: the engine
 * prints literals and names as they are, without an escape.
 */
const protect = (plan: string, strings: readonly string[]): string => {
  // A line break of a string that cannot be taken for a node must not hide one of the plan's own.
  const parts = strings.flatMap((text) => (nodeLike.test(text) ? [text] : text.split("\n")));
  const wanted = [...new Set(parts)].filter(
    (text) => text.length > 1 && (structural.test(text) || nodeLike.test(text)),
  );
  if (wanted.length === 0) return plan;
  const longestFirst = wanted.sort((left, right) => right.length - left.length).slice(0, maxProtected);
  const pattern = new RegExp(longestFirst.map((text) => RegExp.escape(text)).join("|"), "g");
  return plan.replace(pattern, (found, at: number) =>
    beforeString.test(plan.slice(Math.max(0, at - 9), at)) ? "_".repeat(found.length) : found,
  );
};

/** `Name: …`, `Name, …`, `Name` alone, and `AnalyzeExec verbose=true, …`. */
const nodeName = /^([A-Z][A-Za-z0-9_]*)(?:: |:$|, |$| (?=verbose=))/;

const measuredEnd = /, metrics=\[.*\]$/s;

/** Where a node's text starts, without its indentation, and ends. */
interface Span {
  readonly depth: number;
  readonly from: number;
  to: number;
}

/**
 * Finds the nodes. A line is a node if its indentation fits the nodes above it and it begins with a node's name; every
 * other line belongs to the node above, because literals may have line breaks. In a measured plan, the node above must
 * also be complete: each ends with its metrics.
 */
const spansOf = (plan: string, guarded: string): readonly Span[] => {
  const spans: Span[] = [];
  const measured = guarded.startsWith("AnalyzeExec ");
  let above = "";
  for (let from = 0; from <= guarded.length; ) {
    const newline = guarded.indexOf("\n", from);
    const to = newline === -1 ? guarded.length : newline;
    const last = spans.at(-1);
    const line = guarded.slice(from, to);
    const indent = line.length - line.trimStart().length;
    const depth = indent / 2;
    if (last === undefined) spans.push({ depth: 0, from, to });
    else if (
      depth >= 1 &&
      Number.isInteger(depth) &&
      depth <= last.depth + 1 &&
      nodeName.test(line.slice(indent)) &&
      (!measured || measuredEnd.test(above))
    )
      spans.push({ depth, from: from + indent, to });
    else last.to = to;
    // As it is: a short string of the request may occur in it by chance.
    above = plan.slice(from, to);
    from = to + 1;
  }
  return spans;
};

const opening = "([{";
const closing = ")]}";

/** Positions of the commas that separate attributes: outside brackets and double quotes; undefined if those do not match. */
const separators = (guarded: string): readonly number[] | undefined => {
  const found: number[] = [];
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < guarded.length; at++) {
    const character = guarded.charAt(at);
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (opening.includes(character)) depth++;
    else if (closing.includes(character)) {
      if (depth-- === 0) return undefined;
    } else if (character === "," && depth === 0 && guarded.charAt(at + 1) === " ") found.push(at);
  }
  return depth === 0 && !quoted ? found : undefined;
};

/** Keys of the engine's attributes, for a text whose brackets do not match because a name or a literal has one. */
const knownKey =
  /, (?=(?:uri|projection|num_fragments|range_before|range_after|row_id|row_addr|full_filter|refine_filter|source|ordered|range|expr|preserve_partitioning|filter|fetch|metric|k|deltas|name|uuid|minimum_nprobes|maximum_nprobes|column|query|tokenized_query)=)/g;

const split = (text: string, guarded: string): readonly string[] => {
  if (text === "") return [];
  const cuts = separators(guarded) ?? [...guarded.matchAll(knownKey)].map(({ index }) => index);
  const starts = [0, ...cuts.map((at) => at + 2)];
  return starts.map((start, index) => text.slice(start, cuts[index] ?? text.length));
};

const toAttribute = (text: string): Attribute => {
  const [, key, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  return key === undefined || value === undefined ? { key: null, value: text } : { key, value };
};

/** The metrics of a text such as `output_rows=10, elapsed_compute=1.32ms`. */
const metricsOf = (text: string): readonly Metric[] =>
  text === ""
    ? []
    : text.split(", ").map((entry) => {
        const at = entry.indexOf("=");
        return parseMetric(at === -1 ? "" : entry.slice(0, at), entry.slice(at + 1));
      });

type Parts = Pick<PlanNode, "name" | "attributes" | "metrics" | "elapsed_ns">;

const partsOf = (text: string, guarded: string, measured: boolean): Parts => {
  const [prefix = "", name] = nodeName.exec(guarded) ?? [];
  if (name === undefined) return { name: text.split("\n", 1)[0] ?? "", attributes: [], metrics: [], elapsed_ns: null };
  const metricsAt = measured && measuredEnd.test(text) ? text.lastIndexOf(", metrics=[") : -1;
  const end = metricsAt === -1 ? text.length : metricsAt;
  const start = Math.min(prefix.length, end);
  const parts = split(text.slice(start, end), guarded.slice(start, end));
  // The time is the first attribute, except of the top node.
  const timeAt = measured ? parts.slice(0, 2).findIndex((part) => part.startsWith("elapsed=")) : -1;
  const elapsed = durationOf(parts[timeAt]?.slice("elapsed=".length) ?? "");
  return {
    name,
    attributes: parts.filter((_, index) => elapsed === undefined || index !== timeAt).map(toAttribute),
    metrics: metricsAt === -1 ? [] : metricsOf(text.slice(metricsAt + ", metrics=[".length, -1)),
    elapsed_ns: elapsed ?? null,
  };
};

/** A metric of a node; null if it has none of the name. */
export const metricValue = (metrics: readonly Metric[], wanted: string): number | null =>
  metrics.find(({ name }) => name === wanted)?.value ?? null;

const sumOf = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);

interface Draft extends Parts {
  readonly id: number;
  readonly text: string;
  readonly children: Draft[];
}

/** Adds what derives from the children. */
const complete = (draft: Draft, whole: number | null): PlanNode => {
  const children = draft.children.map((child) => complete(child, whole));
  const { elapsed_ns } = draft;
  const own_ns =
    elapsed_ns === null
      ? null
      : Math.max(0, elapsed_ns - Math.max(0, ...children.map((child) => child.elapsed_ns ?? 0)));
  return {
    ...draft,
    own_ns,
    share: own_ns === null || whole === null || whole === 0 ? null : own_ns / whole,
    rows_in: metricValue(draft.metrics, "rows_scanned") ?? sumOf(children.map(({ rows_out }) => rows_out)),
    rows_out: metricValue(draft.metrics, "output_rows"),
    children,
  };
};

/**
 * Parses the engine's text of a plan. Every character of it, up to one line break at the end, is in the tree:
 * {@link renderPlan} returns the same text.
 * @param strings literals and names of the request and the table, which the engine prints without quotation marks.
 */
export const parsePlan = (plan: string, strings: readonly string[] = []): PlanTree => {
  const content = plan.endsWith("\n") ? plan.slice(0, -1) : plan;
  if (content === "") return { measured: false, elapsed_ns: null, roots: [] };
  const guarded = protect(content, strings);
  const measured = guarded.startsWith("AnalyzeExec ");
  const roots: Draft[] = [];
  const path: Draft[] = [];
  for (const [id, { depth, from, to }] of spansOf(content, guarded).entries()) {
    const text = content.slice(from, to);
    const draft: Draft = { id, text, ...partsOf(text, guarded.slice(from, to), measured), children: [] };
    path.length = depth;
    (path.at(-1)?.children ?? roots).push(draft);
    path.push(draft);
  }
  const elapsed = roots[0]?.elapsed_ns ?? null;
  return { measured, elapsed_ns: elapsed, roots: roots.map((root) => complete(root, elapsed)) };
};

/** The nodes of a tree in the order of the text. */
export const nodesOf = ({ roots }: PlanTree): readonly PlanNode[] => {
  const nodes: PlanNode[] = [];
  const visit = (node: PlanNode): void => {
    nodes.push(node);
    node.children.forEach(visit);
  };
  roots.forEach(visit);
  return nodes;
};

/** The text that a tree came from, without the line break at its end. */
export const renderPlan = ({ roots }: PlanTree): string => {
  const lines: string[] = [];
  const visit = (node: PlanNode, depth: number): void => {
    lines.push("  ".repeat(depth) + node.text);
    for (const child of node.children) visit(child, depth + 1);
  };
  for (const root of roots) visit(root, 0);
  return lines.join("\n");
};
