import { hierarchy, tree } from "d3-hierarchy";
import type { PlanNode, PlanTree } from "../../../plan-doctor/types.ts";
import { allShown, type Folding, shownChildren } from "./folding.ts";

export const cardSize = { width: 208, height: 62 } as const;
const gap = { x: 18, y: 26 } as const;

interface Place {
  /** Top left corner, in pixels. */
  readonly x: number;
  readonly y: number;
}

export interface Card extends Place {
  readonly node: PlanNode;
}

/** Children of a node that share one card, because there are many of them. */
export interface RestCard extends Place {
  readonly parent: PlanNode;
  readonly nodes: readonly PlanNode[];
}

export interface Link {
  /** Path from the parent's bottom to the child's top. */
  readonly path: string;
  /** In pixels, by the rows that the child returned. */
  readonly width: number;
  readonly child: number;
}

export interface PlanDrawing {
  readonly width: number;
  readonly height: number;
  readonly cards: readonly Card[];
  readonly rests: readonly RestCard[];
  readonly links: readonly Link[];
}

/** Line width of a link: 1 for no rows, one more for each tenfold. */
const linkWidth = (rows: number | null): number => (rows === null || rows < 1 ? 1 : 1 + Math.min(6, Math.log10(rows)));

type Drawn =
  /** Several top nodes hang on one that is not drawn. */
  | { readonly kind: "top"; readonly roots: readonly PlanNode[] }
  | { readonly kind: "node"; readonly node: PlanNode }
  | { readonly kind: "rest"; readonly parent: PlanNode; readonly nodes: readonly PlanNode[] };

const drawnNode = (node: PlanNode): Drawn => ({ kind: "node", node });

const below = (drawn: Drawn, folding: Folding): Drawn[] => {
  if (drawn.kind === "rest") return [];
  if (drawn.kind === "top") return drawn.roots.map(drawnNode);
  const { shown, rest } = shownChildren(drawn.node, folding);
  const more: Drawn[] = rest.length === 0 ? [] : [{ kind: "rest", parent: drawn.node, nodes: rest }];
  return [...shown.map(drawnNode), ...more];
};

/** Places the nodes of a plan, the top node above its children. */
export const drawPlan = ({ roots }: PlanTree, folding: Folding = allShown): PlanDrawing => {
  const root = hierarchy<Drawn>({ kind: "top", roots }, (drawn) => below(drawn, folding));
  const placed = tree<Drawn>().nodeSize([cardSize.width + gap.x, cardSize.height + gap.y])(root);
  const drawn = placed.descendants().filter(({ data }) => data.kind !== "top");
  if (drawn.length === 0) return { width: 0, height: 0, cards: [], rests: [], links: [] };
  const left = drawn.reduce((least, { x }) => Math.min(least, x), Number.POSITIVE_INFINITY) - cardSize.width / 2;
  const above = drawn.reduce((least, { y }) => Math.min(least, y), Number.POSITIVE_INFINITY);
  const cards: Card[] = [];
  const rests: RestCard[] = [];
  const links: Link[] = [];
  for (const { data, x, y, parent } of drawn) {
    const place = { x: x - cardSize.width / 2 - left, y: y - above };
    if (data.kind === "node") cards.push({ node: data.node, ...place });
    if (data.kind === "rest") rests.push({ parent: data.parent, nodes: data.nodes, ...place });
    if (parent === null || parent.data.kind === "top") continue;
    const [fromX, fromY] = [parent.x - left, parent.y - above + cardSize.height];
    const [toX, toY] = [x - left, y - above];
    const middle = (fromY + toY) / 2;
    const path = `M${fromX} ${fromY}C${fromX} ${middle} ${toX} ${middle} ${toX} ${toY}`;
    const [rows, child] = data.kind === "node" ? [data.node.rows_out, data.node.id] : [null, -1];
    links.push({ path, width: linkWidth(rows), child });
  }
  const places: readonly Place[] = [...cards, ...rests];
  return {
    width: places.reduce((most, { x }) => Math.max(most, x), 0) + cardSize.width,
    height: places.reduce((most, { y }) => Math.max(most, y), 0) + cardSize.height,
    cards,
    rests,
    links,
  };
};
