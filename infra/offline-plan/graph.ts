/** Draws the components of a plan and their dependencies as a Mermaid flowchart. Pure. */

import { type Plan, type PlanEntry, transitiveReduction } from "./plan.ts";
import { shortType } from "./tree.ts";

/**
 * - A node is an outermost component with resources of its own, with the number of all resources below it.
 * - A frame is a component of components only.
 * - A resource outside of every component is a node.
 * - An arrow points from a dependency to its dependent. Implied arrows and providers are left out.
 */
export function renderGraph(plan: Plan): string {
  const drawn = plan.entries.filter(({ type }) => !type.startsWith("pulumi:providers:"));
  const byId = new Map(drawn.map((entry) => [entry.id, entry]));
  const holders = new Set(
    drawn.flatMap(({ kind, parent }) => (kind === "component" || parent === undefined ? [] : [parent])),
  );
  /** From the outermost component down to the entry itself. */
  const path = (entry: PlanEntry): PlanEntry[] => {
    const parent = entry.parent === undefined ? undefined : byId.get(entry.parent);
    return parent === undefined ? [entry] : [...path(parent), entry];
  };
  const nodeOf = (entry: PlanEntry): PlanEntry => path(entry).find(({ id }) => holders.has(id)) ?? entry;
  const members = Map.groupBy(
    drawn.filter(({ kind }) => kind !== "component"),
    (entry) => nodeOf(entry).id,
  );
  const keys = new Map([...members.keys()].map((id, index) => [id, `n${index}`]));
  const node = (entry: PlanEntry): string => {
    const count = members.get(entry.id)?.length ?? 0;
    const size = entry.kind === "component" ? `<br/>${count} ${count === 1 ? "resource" : "resources"}` : "";
    return `${keys.get(entry.id)}["${quoted(`${entry.name}<br/>${shortType(entry.type)}`)}${size}"]`;
  };
  const nodes = drawn.filter(({ id }) => keys.has(id));
  const frames = Map.groupBy(nodes, (entry) =>
    path(entry)
      .slice(0, -1)
      .map(({ name }) => name)
      .join(" / "),
  );
  const lines = [...frames].flatMap(([title, inside], index) =>
    title === ""
      ? inside.map((entry) => `  ${node(entry)}`)
      : [`  subgraph f${index}["${quoted(title)}"]`, ...inside.map((entry) => `    ${node(entry)}`), "  end"],
  );
  const waits = new Map<string, Set<string>>([...keys.values()].map((key) => [key, new Set()]));
  for (const entry of drawn)
    for (const dependency of entry.dependsOn) {
      const source = byId.get(dependency);
      const from = source === undefined ? undefined : keys.get(nodeOf(source).id);
      const to = keys.get(nodeOf(entry).id);
      if (from !== undefined && to !== undefined && from !== to) waits.get(to)?.add(from);
    }
  const reduced = transitiveReduction(new Map([...waits].map(([to, from]) => [to, [...from]])));
  const arrows = [...reduced].flatMap(([to, sources]) => sources.map((from) => `  ${from} --> ${to}`));
  return `${["flowchart LR", ...lines, ...arrows.sort()].join("\n")}\n`;
}

const quoted = (text: string): string => text.replaceAll('"', "#quot;");
