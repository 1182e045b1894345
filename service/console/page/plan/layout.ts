import { hierarchy, tree } from "d3-hierarchy";
import type { PlanNode, PlanTree } from "../../../plan-doctor/types.ts";

export const cardSize = { width: 208, height: 62 } as const;
const gap = { x: 18, y: 26 } as const;

export interface Card {
  readonly node: PlanNode;
  /** Top left corner, in pixels. */
  readonly x: number;
  readonly y: number;
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
  readonly links: readonly Link[];
}

/** Line width of a link: 1 for no rows, one more for each tenfold. */
const linkWidth = (rows: number | null): number => (rows === null || rows < 1 ? 1 : 1 + Math.min(6, Math.log10(rows)));

/** Several top nodes hang on one that is not drawn. */
const top = Symbol("top");
type Drawn = PlanNode | { readonly [top]: true; readonly children: readonly PlanNode[] };
const isNode = (drawn: Drawn): drawn is PlanNode => !(top in drawn);

/** Places the nodes of a plan, the top node above its children. */
export const drawPlan = ({ roots }: PlanTree): PlanDrawing => {
  const root = hierarchy<Drawn>({ [top]: true, children: roots }, ({ children }) => [...children]);
  const placed = tree<Drawn>().nodeSize([cardSize.width + gap.x, cardSize.height + gap.y])(root);
  const nodes = placed.descendants().filter(({ data }) => isNode(data));
  if (nodes.length === 0) return { width: 0, height: 0, cards: [], links: [] };
  const left = Math.min(...nodes.map(({ x }) => x)) - cardSize.width / 2;
  const above = Math.min(...nodes.map(({ y }) => y));
  const cards = nodes.map(({ data, x, y }) => ({
    node: data as PlanNode,
    x: x - cardSize.width / 2 - left,
    y: y - above,
  }));
  const links = nodes.flatMap(({ data, x, y, parent }) => {
    if (parent === null || !isNode(parent.data)) return [];
    const [fromX, fromY] = [parent.x - left, parent.y - above + cardSize.height];
    const [toX, toY] = [x - left, y - above];
    const middle = (fromY + toY) / 2;
    const { id, rows_out: rows } = data as PlanNode;
    const path = `M${fromX} ${fromY}C${fromX} ${middle} ${toX} ${middle} ${toX} ${toY}`;
    return [{ path, width: linkWidth(rows), child: id }];
  });
  return {
    width: Math.max(...cards.map(({ x }) => x)) + cardSize.width,
    height: Math.max(...cards.map(({ y }) => y)) + cardSize.height,
    cards,
    links,
  };
};
