import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PlanTree } from "../../../plan-doctor/types.ts";
import { formatBytes, formatCount, formatDuration, formatShare } from "../format.ts";
import { html } from "../html.ts";
import { bytesRead, type Listed, listNodes, requestsOf } from "./nodes.ts";
import { nextSort, type Sort, type SortKey, sortNodes } from "./sort.ts";
import { TimeBars } from "./tree.ts";
import { useVisibleArea } from "./visible.ts";

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

/** Height of every row, in pixels: one line, a time bar and the padding. */
const rowHeight = 32;

/** Pixels for a level of the tree, for all levels of a deep one, and for a letter of a name. */
const indent = { step: 12, all: 144 } as const;
const letterWidth = 9;

/** Limits of the column of names, in pixels: the figures stay in view. */
const nameWidths = { min: 120, max: 400 } as const;

/** Pixels for each level. In a chain of hundreds they are a part of one. */
const indentStep = (nodes: readonly Listed[]): number =>
  Math.min(indent.step, indent.all / nodes.reduce((most, { depth }) => Math.max(most, depth), 1));

/** Width of the longest name with its indentation, in pixels: only some rows are in the page. */
const nameWidth = (nodes: readonly Listed[], step: number): number => {
  const widest = nodes.reduce<number>(
    (most, { node, depth }) => Math.max(most, depth * step + (node.name.length + 3) * letterWidth),
    nameWidths.min,
  );
  return Math.min(nameWidths.max, widest);
};

interface GridProps {
  readonly tree: PlanTree;
  readonly selected: number | undefined;
  readonly select: (id: number) => void;
  /** Whether rows outside of the visible part are drawn as well: for a page without scripts. */
  readonly whole?: boolean;
}

/** The nodes as a table, sorted by any column. */
export const PlanGrid = ({ tree, selected, select, whole = false }: GridProps) => {
  const [sort, setSort] = useState<Sort>({ key: "order", descending: false });
  const nodes = useMemo(() => sortNodes(listNodes(tree), sort), [tree, sort]);
  const step = useMemo(() => indentStep(nodes), [nodes]);
  const box = useRef<HTMLDivElement>(null);
  const { top, bottom } = useVisibleArea(box);
  const from = whole ? 0 : Math.min(nodes.length, Math.max(0, Math.floor(top / rowHeight)));
  const to = whole ? nodes.length : Math.min(nodes.length, Math.ceil(bottom / rowHeight));
  useEffect(() => {
    const at = nodes.findIndex(({ node }) => node.id === selected);
    const { current } = box;
    if (at === -1 || current === null) return;
    // The head hides the first row of the visible part.
    const [above, below] = [(at - 1) * rowHeight, (at + 2) * rowHeight - current.clientHeight];
    if (current.scrollTop > above) current.scrollTop = above;
    else if (current.scrollTop < below) current.scrollTop = below;
  }, [selected]);
  const header = ([key, text, meaning]: (typeof columns)[number]) => html`<th
    key=${key}
    scope="col"
    class=${key === "order" || key === "name" ? "" : "number"}
    title=${meaning}
    aria-sort=${sort.key === key ? (sort.descending ? "descending" : "ascending") : "none"}
  >
    <button type="button" onClick=${() => setSort(nextSort(sort, key))}>${text}</button>
  </th>`;
  const row = ({ node, depth }: Listed, index: number) => html`<tr
    key=${node.id}
    aria-rowindex=${from + index + 2}
    data-row=${node.id}
    aria-selected=${node.id === selected}
    onClick=${() => select(node.id)}
  >
    <td class="number muted">${node.id + 1}</td>
    <th scope="row" class="node" title=${node.name}>
      <button type="button" style=${{ paddingLeft: `${sort.key === "order" ? depth * step : 0}px` }}>
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
  const space = (rows: number) =>
    rows > 0 && html`<tbody aria-hidden="true" style=${{ height: `${rows * rowHeight}px` }}></tbody>`;
  return html`<div class="scroll tall" ref=${box} tabindex="0" role="region" aria-label="Nodes of the plan">
    <table class="grid" aria-rowcount=${nodes.length + 1} style=${{ "--row": `${rowHeight}px`, "--name": `${nameWidth(nodes, step)}px` }}>
      <thead><tr aria-rowindex="1">${columns.map(header)}</tr></thead>
      ${space(from)}
      <tbody>${nodes.slice(from, to).map(row)}</tbody>
      ${space(nodes.length - to)}
    </table>
  </div>`;
};
