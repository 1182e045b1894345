import { useEffect, useMemo, useRef } from "preact/hooks";
import type { PlanNode, PlanTree } from "../../../plan-doctor/types.ts";
import { formatBytes, formatCount, formatDuration } from "../format.ts";
import { html } from "../html.ts";
import { type Card, cardSize, drawPlan, type Link } from "./layout.ts";
import { bytesRead, heatOf, type Listed, listNodes, subjectOf } from "./nodes.ts";
import { type Area, useVisibleArea } from "./visible.ts";

const percent = (part: number | null, whole: number | null): string =>
  `${part === null || whole === null || whole === 0 ? 0 : Math.min(100, (part / whole) * 100)}%`;

/** Own time inside inclusive time, both as shares of the whole query. */
export const TimeBars = ({ node, elapsed }: { node: PlanNode; elapsed: number | null }) =>
  html`<span class="time-bars" aria-hidden="true"
    ><span class="inclusive" style=${{ width: percent(node.elapsed_ns, elapsed) }}></span
    ><span class=${`own ${heatOf(node.share)}`} style=${{ width: percent(node.own_ns, elapsed) }}></span
  ></span>`;

const numbers = (node: PlanNode): string => {
  const bytes = bytesRead(node);
  return [
    ...(node.own_ns === null ? [] : [formatDuration(node.own_ns)]),
    ...(node.rows_out === null ? [] : [`${formatCount(node.rows_out)} rows`]),
    ...(bytes === undefined ? [] : [formatBytes(bytes)]),
  ].join(" · ");
};

interface TreeProps {
  readonly tree: PlanTree;
  readonly selected: number | undefined;
  readonly select: (id: number) => void;
  /** Nodes with a finding. */
  readonly marked: ReadonlySet<number>;
  /** Whether cards outside of the visible part have their content as well: for a page without scripts. */
  readonly whole?: boolean;
}

const isIn = ({ left, top, right, bottom }: Area, { x, y }: Card): boolean =>
  x + cardSize.width >= left && x <= right && y + cardSize.height >= top && y <= bottom;

/** One path for all lines of about the same width. */
const pathsOf = (links: readonly Link[]): readonly (readonly [width: number, path: string])[] =>
  [...Map.groupBy(links, ({ width }) => Math.round(width * 2) / 2)].map(([width, group]) => [
    width,
    group.map(({ path }) => path).join(""),
  ]);

/** The node that an arrow key leads to. */
const neighbour = (key: string, { node, parent }: Listed, roots: readonly PlanNode[]): PlanNode | undefined => {
  const siblings = parent?.children ?? roots;
  const at = siblings.indexOf(node);
  if (key === "ArrowUp") return parent;
  if (key === "ArrowDown") return node.children[0];
  if (key === "ArrowLeft") return siblings[at - 1];
  if (key === "ArrowRight") return siblings[at + 1];
  return undefined;
};

/**
 * The plan as a drawing. Arrow keys lead to the parent, the first child and the siblings. Every node has its card; the content
 * of a card is made when it is near the visible part.
 */
export const PlanDrawingView = ({ tree, selected, select, marked, whole = false }: TreeProps) => {
  const drawing = useMemo(() => drawPlan(tree), [tree]);
  const paths = useMemo(() => pathsOf(drawing.links), [drawing]);
  const listed = useMemo(() => new Map(listNodes(tree).map((entry) => [entry.node.id, entry])), [tree]);
  const box = useRef<HTMLDivElement>(null);
  const area = useVisibleArea(box);
  const focusable = selected ?? drawing.cards[0]?.node.id;
  useEffect(() => {
    if (selected === undefined) return;
    box.current?.querySelector(`[data-node="${selected}"]`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [selected]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const current = focusable === undefined ? undefined : listed.get(focusable);
    const next = current && neighbour(event.key, current, tree.roots);
    if (next === undefined) return;
    event.preventDefault();
    select(next.id);
    box.current?.querySelector<HTMLElement>(`[data-node="${next.id}"]`)?.focus();
  };
  const content = (node: PlanNode) => html`<strong>${node.name}</strong><span class="subject">${subjectOf(node)}</span>
    <span class="numbers">${numbers(node)}</span>
    ${tree.measured && html`<${TimeBars} node=${node} elapsed=${tree.elapsed_ns} />`}`;
  const card = ({ node, x, y }: Card, drawn: boolean) => html`<div
    key=${node.id}
    role="treeitem"
    aria-level=${(listed.get(node.id)?.depth ?? 0) + 1}
    aria-selected=${node.id === selected}
    aria-label=${drawn ? undefined : node.name}
    tabindex=${node.id === focusable ? 0 : -1}
    data-node=${node.id}
    class=${`card ${heatOf(node.share)}${marked.has(node.id) ? " marked" : ""}`}
    style=${{ left: `${x}px`, top: `${y}px` }}
    onClick=${() => select(node.id)}
    onKeyDown=${(event: KeyboardEvent) => (event.key === "Enter" || event.key === " ") && select(node.id)}
  >
    ${drawn && content(node)}
  </div>`;
  const size = {
    width: `${drawing.width}px`,
    height: `${drawing.height}px`,
    "--card-width": `${cardSize.width}px`,
    "--card-height": `${cardSize.height}px`,
  };
  return html`<div class="drawing" ref=${box} onKeyDown=${onKeyDown}>
    <div role="tree" aria-label="Plan" style=${size}>
      <svg width=${drawing.width} height=${drawing.height} aria-hidden="true">
        ${paths.map(([width, path]) => html`<path key=${width} d=${path} stroke-width=${width} />`)}
      </svg>
      ${drawing.cards.map((each) => card(each, whole || isIn(area, each)))}
    </div>
  </div>`;
};
