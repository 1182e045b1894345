import { useEffect, useRef } from "preact/hooks";
import type { Metric, PlanNode } from "../../../plan-doctor/types.ts";
import { formatDuration, formatShare } from "../format.ts";
import { html } from "../html.ts";

/** What the nodes of LanceDB's plans do, by their names. */
const meanings: Readonly<Record<string, string>> = {
  AggregateExec: "Computes counts, sums or groups of its input.",
  ANNIvfPartition: "Chooses the partitions of the vector index that are nearest to the query: nprobes of them.",
  ANNSubIndex: "Searches the chosen partitions of the vector index, by compressed vectors where the index has them.",
  BoostQuery: "Lowers the scores of rows that match the negative part of a full-text query.",
  BooleanQuery: "Combines full-text clauses: must, should and must not.",
  CoalesceBatchesExec: "Joins small batches of rows into larger ones.",
  CoalescePartitionsExec: "Brings the rows of parallel parts together.",
  CooperativeExec: "Lets other queries run between its batches.",
  EmptyExec: "Returns no row: the filter can never be true.",
  FilterExec: "Keeps the rows for which the condition is true.",
  FlatMatchQuery: "Searches the text of rows that no full-text index covers, one by one.",
  GlobalLimitExec: "Stops after the rows that were asked for.",
  HashJoinExec: "Joins two inputs by equal values.",
  KNNVectorDistance: "Computes the distance of every row of its input to the query vector.",
  LanceRead: "Reads columns from the table's files, with the part of the filter that it can apply while it reads.",
  LanceScan: "Reads columns from the table's files.",
  LocalLimitExec: "Stops each parallel part after the rows that were asked for.",
  MatchQuery: "Looks words up in the full-text index.",
  MaterializeIndex: "Turns the row ids that a scalar index found into rows.",
  MultiMatchQuery: "Looks words up in the full-text indices of several columns.",
  PhraseQuery: "Looks a phrase up in the full-text index, which needs positions.",
  ProjectionExec: "Chooses, computes and names columns.",
  RepartitionExec: "Spreads rows over parallel parts.",
  ScalarIndexQuery: "Asks scalar indices which rows match the filter.",
  SortExec: "Sorts rows; with a fetch, it keeps the best ones only.",
  SortPreservingMergeExec: "Merges sorted parallel parts.",
  Take: "Fetches more columns of the rows that were found, by their row ids.",
  UnionExec: "Puts the rows of several inputs together, such as indexed and unindexed ones.",
};

/** @param name as a plan prints it. @returns undefined for a node that this version does not know. */
const meaningOf = (name: string): string | undefined => (Object.hasOwn(meanings, name) ? meanings[name] : undefined);

const metric = (entry: Metric) => html`<tr key=${entry.name}>
  <th scope="row">${entry.name}</th>
  <td class="number" title=${entry.rounded ? "rounded by the engine" : ""}>${entry.rounded ? "≈ " : ""}${entry.text}</td>
</tr>`;

/** All that the plan says about a node. */
export const NodeDetails = ({ node }: { node: PlanNode }) => html`<h2>${node.name}</h2>
  ${meaningOf(node.name) !== undefined && html`<p>${meaningOf(node.name)}</p>`}
  ${
    node.elapsed_ns !== null &&
    html`<p>
      ${formatDuration(node.own_ns)} own (${formatShare(node.share)}), ${formatDuration(node.elapsed_ns)} inclusive
    </p>`
  }
  ${
    node.attributes.length > 0 &&
    html`<dl class="attributes">
      ${node.attributes.map(({ key, value }, index) => html`<div key=${index}><dt>${key ?? ""}</dt><dd>${value}</dd></div>`)}
    </dl>`
  }
  ${node.metrics.length > 0 && html`<table class="metrics"><tbody>${node.metrics.map(metric)}</tbody></table>`}`;

/** The plan as the engine prints it, with the lines of the selected node marked. */
export const PlanText = ({ text, node }: { text: string; node?: PlanNode | undefined }) => {
  const box = useRef<HTMLPreElement>(null);
  const mark = useRef<HTMLElement>(null);
  useEffect(() => {
    if (box.current === null || mark.current === null) return;
    box.current.scrollTop = mark.current.offsetTop - box.current.clientHeight / 3;
  }, [node]);
  const at = node === undefined ? -1 : startOf(text, node);
  if (node === undefined || at === -1)
    return html`<pre class="plan-text" tabindex="0" aria-label="Plan as text">${text}</pre>`;
  const end = at + node.text.length;
  return html`<pre class="plan-text" ref=${box} tabindex="0" aria-label="Plan as text">${text.slice(0, at)}<mark ref=${mark}
      >${text.slice(at, end)}</mark
    >${text.slice(end)}</pre>`;
};

/** Where the text of a node begins: equal nodes are told apart by their number. */
const startOf = (text: string, node: PlanNode): number => {
  const lines = text.split("\n");
  let position = 0;
  const starts: number[] = [];
  for (const line of lines) {
    if (line.trimStart() !== "") starts.push(position + line.length - line.trimStart().length);
    position += line.length + 1;
  }
  const own = starts[node.id];
  // Line breaks inside literals shift the numbers.
  return own !== undefined && text.startsWith(node.text, own) ? own : text.indexOf(node.text);
};
