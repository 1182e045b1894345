/** Draws the components of a plan and what they wait for, as a Mermaid flowchart. Pure. */

import { type Plan, type PlanEntry, transitiveReduction } from "./plan.ts";
import { shortType } from "./tree.ts";

/**
 * One node for each outermost component that holds resources itself, with the number of all that are under it; components
 * that only hold components are frames around their nodes; resources outside of any component stand for themselves. An
 * arrow points from what comes first to what waits for it; one that others imply is left out, and so are providers, on
 * which everything depends.
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
