import { useEffect, useMemo, useRef } from "preact/hooks";
import type { PlanNode, PlanTree } from "../../../plan-doctor/types.ts";
import { formatBytes, formatCount, formatDuration } from "../format.ts";
import { html } from "../html.ts";
import { useFolding } from "./folding.ts";
import { type Card, cardSize, drawPlan, type Link, type RestCard } from "./layout.ts";
import { bytesRead, heatOf, type Listed, listNodes, subjectOf } from "./nodes.ts";
import { type Area, useVisibleArea } from "./visible.ts";
import { useZoom } from "./zoom.ts";

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

/** Below this scale, cards are colours: their text could not be read. */
const minReadable = 0.4;

const zoomStep = 1.25;

/** Scrolls the box alone, so that a card is in its visible part. */
const reveal = (box: HTMLElement, card: Element): void => {
  const [outer, inner] = [box.getBoundingClientRect(), card.getBoundingClientRect()];
  box.scrollLeft += Math.min(0, inner.left - outer.left) || Math.max(0, inner.right - outer.right);
  box.scrollTop += Math.min(0, inner.top - outer.top) || Math.max(0, inner.bottom - outer.bottom);
};

/**
 * The plan as a drawing. Arrow keys lead to the parent, the first child and the siblings; Space folds and unfolds; plus,
 * minus and 0 zoom. The content of a card is made when it is near the visible part.
 */
export const PlanDrawingView = ({ tree, selected, select, marked, whole = false }: TreeProps) => {
  const listed = useMemo(() => new Map(listNodes(tree).map((entry) => [entry.node.id, entry])), [tree]);
  const { folding, toggle, showChildren, showAll } = useFolding(listed, selected);
  const drawing = useMemo(() => drawPlan(tree, whole ? undefined : folding), [tree, folding]);
  const paths = useMemo(() => pathsOf(drawing.links), [drawing]);
  const box = useRef<HTMLDivElement>(null);
  const { scale, isPlaced, zoomBy, fit, handlers } = useZoom(box, drawing);
  const area = useVisibleArea(box, scale);
  const focusable = selected ?? drawing.cards[0]?.node.id;
  const cardOf = (id: number): HTMLElement | null => box.current?.querySelector(`[data-node="${id}"]`) ?? null;
  const revealed = useRef<number | "nothing yet" | undefined>("nothing yet");
  const focused = useRef<number | undefined>(undefined);
  useEffect(() => {
    const card = selected === undefined ? null : cardOf(selected);
    // A node that was folded away has its card in the next drawing.
    if (card === null || box.current === null || revealed.current === selected) return;
    // The first selection is the plan's own: it does not scroll the page.
    if (revealed.current === "nothing yet") reveal(box.current, card);
    else card.scrollIntoView({ block: "nearest", inline: "nearest" });
    revealed.current = selected;
    if (focused.current === selected) card.focus();
  }, [selected, drawing, isPlaced]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    if (target instanceof HTMLButtonElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const { node } = target.closest<HTMLElement>("[data-node]")?.dataset ?? {};
    if (node === undefined) return;
    const id = Number(node);
    const current = listed.get(id);
    const next = current && neighbour(event.key, current, tree.roots);
    const actions: Readonly<Record<string, () => void>> = {
      "+": () => zoomBy(zoomStep),
      "=": () => zoomBy(zoomStep),
      "-": () => zoomBy(1 / zoomStep),
      "0": fit,
      Enter: () => select(id),
      " ": () => toggle(id),
    };
    if (next !== undefined) {
      focused.current = next.id;
      select(next.id);
      cardOf(next.id)?.focus();
    } else actions[event.key]?.();
    if (next !== undefined || event.key in actions) event.preventDefault();
  };
  const isFolded = (id: number): boolean => !whole && folding.folded.has(id);
  const content = (node: PlanNode) => html`<strong>${node.name}</strong><span class="subject">${subjectOf(node)}</span>
    <span class="numbers">${numbers(node)}</span>
    ${tree.measured && html`<${TimeBars} node=${node} elapsed=${tree.elapsed_ns} />`}`;
  const fold = (node: PlanNode) => {
    const onClick = (event: Event): void => {
      event.stopPropagation();
      toggle(node.id);
    };
    const folded = isFolded(node.id);
    const title = `${folded ? "Unfold" : "Fold"} ${node.name}`;
    return html`<button type="button" class="fold" tabindex="-1" aria-label=${title} title=${title} onClick=${onClick}>
      ${folded ? `+${formatCount(listNodes({ ...tree, roots: node.children }).length)}` : "−"}
    </button>`;
  };
  const card = ({ node, x, y }: Card, drawn: boolean) => {
    const folds = drawn && !whole && node.children.length > 0;
    return html`<div
      key=${node.id}
      role="treeitem"
      aria-level=${(listed.get(node.id)?.depth ?? 0) + 1}
      aria-selected=${node.id === selected}
      aria-expanded=${node.children.length === 0 ? undefined : !isFolded(node.id)}
      aria-label=${drawn ? undefined : node.name}
      tabindex=${node.id === focusable ? 0 : -1}
      data-node=${node.id}
      class=${["card", heatOf(node.share), marked.has(node.id) && "marked", folds && "inner", scale < minReadable && "far"].filter(Boolean).join(" ")}
      style=${{ left: `${x}px`, top: `${y}px` }}
      onClick=${() => select(node.id)}
    >
      ${drawn && content(node)} ${folds && fold(node)}
    </div>`;
  };
  const rest = ({ parent, nodes, x, y }: RestCard) => {
    const most = nodes.reduce((time, node) => Math.max(time, node.elapsed_ns ?? 0), 0);
    return html`<div
      key=${`rest ${parent.id}`}
      role="treeitem"
      aria-level=${(listed.get(parent.id)?.depth ?? 0) + 2}
      tabindex="-1"
      class="card rest"
      style=${{ left: `${x}px`, top: `${y}px` }}
      onClick=${() => showChildren(parent.id)}
    >
      <strong>${formatCount(nodes.length)} more</strong>
      <span class="subject">${tree.measured ? `none above ${formatDuration(most)}` : ""}</span>
      <span class="numbers">Show them</span>
    </div>`;
  };
  const size = {
    width: `${drawing.width}px`,
    height: `${drawing.height}px`,
    transform: `scale(${scale})`,
    "--card-width": `${cardSize.width}px`,
    "--card-height": `${cardSize.height}px`,
  };
  const isDrawn = whole || isPlaced;
  const isAllShown = drawing.cards.length === listed.size;
  const bar = html`<div class="plan-bar" role="group" aria-label="Drawing">
    <button type="button" aria-label="Zoom out" onClick=${() => zoomBy(1 / zoomStep)}>−</button>
    <span class="number" role="status" aria-label="Zoom">${Math.round(scale * 100)} %</span>
    <button type="button" aria-label="Zoom in" onClick=${() => zoomBy(zoomStep)}>+</button>
    <button type="button" onClick=${fit}>Fit</button>
    ${!isAllShown && html`<button type="button" onClick=${showAll}>Show all ${formatCount(listed.size)} nodes</button>`}
  </div>`;
  return html`${!whole && bar}
    <div class="drawing" ref=${box} onKeyDown=${onKeyDown} ...${handlers}>
      <div style=${{ width: `${drawing.width * scale}px`, height: `${drawing.height * scale}px` }}>
        <div role="tree" aria-label="Plan" style=${size}>
          <svg width=${drawing.width} height=${drawing.height} aria-hidden="true">
            ${paths.map(([width, path]) => html`<path key=${width} d=${path} stroke-width=${width} />`)}
          </svg>
          ${isDrawn && drawing.cards.map((each) => card(each, whole || (scale >= minReadable && isIn(area, each))))}
          ${isDrawn && drawing.rests.map(rest)}
        </div>
      </div>
    </div>`;
};
