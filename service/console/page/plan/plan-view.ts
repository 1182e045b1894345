import { useMemo, useState } from "preact/hooks";
import type { PlanTree } from "../../../plan-doctor/types.ts";
import type { Plan } from "../api.ts";
import { formatBytes, formatCount, formatDuration } from "../format.ts";
import { html } from "../html.ts";
import type { Run } from "../query/runs.ts";
import { NodeDetails, PlanText } from "./details.ts";
import { Findings } from "./findings.ts";
import { PlanGrid } from "./grid.ts";
import { listNodes, totalsOf, withoutWrappers } from "./nodes.ts";
import { PlanDrawingView } from "./tree.ts";

export const Totals = ({ tree }: { tree: PlanTree }) => {
  const { nodes, elapsed, rows, bytes, requests } = totalsOf(tree);
  const fact = (name: string, value: string) => html`<div class="fact"><dt>${name}</dt><dd>${value}</dd></div>`;
  return html`<dl class="facts">
    ${
      tree.measured
        ? html`${fact("time", formatDuration(elapsed))} ${fact("rows", formatCount(rows))} ${fact("read", formatBytes(bytes))}
            ${fact("requests", formatCount(requests))}`
        : fact("not run", "explain")
    }
    ${fact("nodes", formatCount(nodes))}
  </dl>`;
};

/** A plan: findings, drawing, grid and text, with one node selected in all of them. */
export const PlanView = ({ plan, run }: { plan: Plan; run: Run }) => {
  const tree = useMemo(() => plan.tree && withoutWrappers(plan.tree), [plan]);
  const [selected, setSelected] = useState(() => {
    const [worst] = plan.tree === undefined ? [] : plan.findings;
    return worst?.severity === "warning" ? (worst.node ?? undefined) : undefined;
  });
  const listed = useMemo(() => (tree === undefined ? [] : listNodes(tree)), [tree]);
  const marked = useMemo(
    () => new Set((plan.tree === undefined ? [] : plan.findings).flatMap(({ node }) => (node === null ? [] : [node]))),
    [plan],
  );
  if (plan.tree === undefined || tree === undefined) return html`<${PlanText} text=${plan.plan} />`;
  const { findings, facts } = plan;
  const node = listed.find((entry) => entry.node.id === selected)?.node;
  return html`<${Totals} tree=${tree} />
    <${Findings} run=${run} findings=${findings} facts=${facts} select=${setSelected} />
    <div class="plan">
      <div class="plan-main">
        <${PlanDrawingView} tree=${tree} selected=${selected} select=${setSelected} marked=${marked} />
        <${PlanGrid} tree=${tree} selected=${selected} select=${setSelected} />
      </div>
      <aside class="plan-side" aria-label="Selected node and text">
        ${node === undefined ? html`<p class="muted">Select a node to see its attributes and metrics.</p>` : html`<${NodeDetails} node=${node} />`}
        <h2>Text</h2>
        <${PlanText} text=${plan.plan} node=${node} />
      </aside>
    </div>`;
};
