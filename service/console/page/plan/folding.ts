import { useEffect, useMemo, useState } from "preact/hooks";
import type { PlanNode } from "../../../plan-doctor/types.ts";
import type { Listed } from "./nodes.ts";

/** Which children of the nodes the drawing shows. */
export interface Folding {
  /** Nodes whose children are hidden. */
  readonly folded: ReadonlySet<number>;
  /** Nodes of which every child is shown, however many there are; undefined: all nodes. */
  readonly whole: ReadonlySet<number> | undefined;
  /** The selected node and those above it, which are shown in any case. */
  readonly path: ReadonlySet<number>;
}

const none: ReadonlySet<number> = new Set();

export const allShown: Folding = { folded: none, whole: undefined, path: none };

/** Of more children than this, the slowest are shown, and the others share a card. */
const maxChildren = 12;

/** The children of a node with a card of their own, in the order of the text, and those without. */
export const shownChildren = (
  { id, children }: PlanNode,
  { folded, whole, path }: Folding,
): { readonly shown: readonly PlanNode[]; readonly rest: readonly PlanNode[] } => {
  if (folded.has(id)) return { shown: [], rest: [] };
  if (children.length <= maxChildren || whole === undefined || whole.has(id)) return { shown: children, rest: [] };
  const slowest = children.toSorted((left, right) => (right.elapsed_ns ?? 0) - (left.elapsed_ns ?? 0));
  const chosen = new Set(slowest.slice(0, maxChildren - 1).map((child) => child.id));
  const isShown = (child: PlanNode): boolean => chosen.has(child.id) || path.has(child.id);
  return { shown: children.filter(isShown), rest: children.filter((child) => !isShown(child)) };
};

const toggled = (ids: ReadonlySet<number>, id: number): ReadonlySet<number> =>
  ids.has(id) ? new Set([...ids].filter((other) => other !== id)) : new Set([...ids, id]);

/** Folds and unfolds nodes. A node that is selected elsewhere is unfolded. */
export const useFolding = (listed: ReadonlyMap<number, Listed>, selected: number | undefined) => {
  const [folded, setFolded] = useState(none);
  const [whole, setWhole] = useState(none);
  const path = useMemo(() => {
    const ids = new Set<number>();
    for (let at = selected; at !== undefined; at = listed.get(at)?.parent?.id) ids.add(at);
    return ids;
  }, [listed, selected]);
  useEffect(() => {
    // The node itself may stay folded.
    if ([...folded].some((id) => id !== selected && path.has(id)))
      setFolded(new Set([...folded].filter((id) => id === selected || !path.has(id))));
  }, [path]);
  // An ordinary plan is not placed again for each node that is selected.
  const isWide = useMemo(() => [...listed.values()].some(({ node }) => node.children.length > maxChildren), [listed]);
  const shownPath = isWide ? path : none;
  const folding = useMemo((): Folding => ({ folded, whole, path: shownPath }), [folded, whole, shownPath]);
  return {
    folding,
    toggle: (id: number): void => setFolded(toggled(folded, id)),
    showChildren: (id: number): void => setWhole(new Set([...whole, id])),
    showAll: (): void => {
      setFolded(none);
      setWhole(new Set(listed.keys()));
    },
  };
};
