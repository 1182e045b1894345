import { useMemo, useState } from "preact/hooks";
import type { PlanTree } from "../../../plan-doctor/types.ts";
import { formatBytes, formatCount, formatDuration, formatShare } from "../format.ts";
import { html } from "../html.ts";
import { bytesRead, type Listed, listNodes, requestsOf } from "./nodes.ts";
import { nextSort, type Sort, type SortKey, sortNodes } from "./sort.ts";
import { TimeBars } from "./tree.ts";

const columns: readonly (readonly [SortKey, string, string])[] = [
  ["order", "#", "Order of the text"],
  ["name", "Node", "Name"],
  ["own", "Own", "Time of the node itself: inclusive time less that of its slowest child"],
  ["inclusive", "Inclusive", "Time of the node with its children, which run at the same time"],
  ["rowsIn", "Rows in", "Rows that the children returned, or that the node read"],
  ["rowsOut", "Rows out", "Rows that the node returned"],
  ["bytes", "Read", "Bytes that the node read from the store"],
  ["requests", "Requests", "Requests of the node to the store"],
];

interface GridProps {
  readonly tree: PlanTree;
  readonly selected: number | undefined;
  readonly select: (id: number) => void;
}

/** The nodes as a table, sorted by any column. */
export const PlanGrid = ({ tree, selected, select }: GridProps) => {
  const [sort, setSort] = useState<Sort>({ key: "order", descending: false });
  const nodes = useMemo(() => sortNodes(listNodes(tree), sort), [tree, sort]);
  const header = ([key, text, meaning]: (typeof columns)[number]) => html`<th
    key=${key}
    scope="col"
    class=${key === "order" || key === "name" ? "" : "number"}
    title=${meaning}
    aria-sort=${sort.key === key ? (sort.descending ? "descending" : "ascending") : "none"}
  >
    <button type="button" onClick=${() => setSort(nextSort(sort, key))}>${text}</button>
  </th>`;
  const row = ({ node, depth }: Listed) => html`<tr
    key=${node.id}
    data-row=${node.id}
    aria-selected=${node.id === selected}
    onClick=${() => select(node.id)}
  >
    <td class="number muted">${node.id + 1}</td>
    <th scope="row">
      <button type="button" style=${{ paddingLeft: `${sort.key === "order" ? Math.min(depth, 40) * 12 : 0}px` }}>
        ${node.name}
      </button>
    </th>
    <td class="number">${formatDuration(node.own_ns)} <span class="muted">${formatShare(node.share)}</span></td>
    <td class="number">${formatDuration(node.elapsed_ns)}<${TimeBars} node=${node} elapsed=${tree.elapsed_ns} /></td>
    <td class="number">${formatCount(node.rows_in)}</td>
    <td class="number">${formatCount(node.rows_out)}</td>
    <td class="number">${formatBytes(bytesRead(node))}</td>
    <td class="number">${formatCount(requestsOf(node))}</td>
  </tr>`;
  return html`<div class="scroll tall" tabindex="0" role="region" aria-label="Nodes of the plan">
    <table class="grid">
      <thead><tr>${columns.map(header)}</tr></thead>
      <tbody>${nodes.map(row)}</tbody>
    </table>
  </div>`;
};
