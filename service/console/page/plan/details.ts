import { useEffect, useRef } from "preact/hooks";
import type { Metric, PlanNode } from "../../../plan-doctor/types.ts";
import { formatDuration, formatShare } from "../format.ts";
import { html } from "../html.ts";
import { meaningOf } from "./meanings.ts";

const metric = (entry: Metric) => html`<tr key=${entry.name}>
  <th scope="row">${entry.name}</th>
  <td class="number" title=${entry.rounded ? "rounded by the engine" : ""}>${entry.rounded ? "≈ " : ""}${entry.text}</td>
</tr>`;

/** All that the plan says about a node. */
export const NodeDetails = ({ node }: { node: PlanNode }) => html`<h2>${node.name}</h2>
  ${meaningOf(node.name) !== undefined && html`<p>${meaningOf(node.name)}</p>`}
  ${
    node.elapsed_ns !== null &&
    html`<p>
      ${formatDuration(node.own_ns)} own (${formatShare(node.share)}), ${formatDuration(node.elapsed_ns)} inclusive
    </p>`
  }
  ${
    node.attributes.length > 0 &&
    html`<dl class="attributes">
      ${node.attributes.map(({ key, value }, index) => html`<div key=${index}><dt>${key ?? ""}</dt><dd>${value}</dd></div>`)}
    </dl>`
  }
  ${node.metrics.length > 0 && html`<table class="metrics"><tbody>${node.metrics.map(metric)}</tbody></table>`}`;

/** The plan as the engine prints it, with the lines of the selected node marked. */
export const PlanText = ({ text, node }: { text: string; node?: PlanNode | undefined }) => {
  const box = useRef<HTMLPreElement>(null);
  const mark = useRef<HTMLElement>(null);
  useEffect(() => {
    if (box.current === null || mark.current === null) return;
    box.current.scrollTop = mark.current.offsetTop - box.current.clientHeight / 3;
  }, [node]);
  const at = node === undefined ? -1 : startOf(text, node);
  if (node === undefined || at === -1)
    return html`<pre class="plan-text" tabindex="0" aria-label="Plan as text">${text}</pre>`;
  const end = at + node.text.length;
  return html`<pre class="plan-text" ref=${box} tabindex="0" aria-label="Plan as text">${text.slice(0, at)}<mark ref=${mark}
      >${text.slice(at, end)}</mark
    >${text.slice(end)}</pre>`;
};

/** Where the text of a node begins: equal nodes are told apart by their number. */
const startOf = (text: string, node: PlanNode): number => {
  const lines = text.split("\n");
  let position = 0;
  const starts: number[] = [];
  for (const line of lines) {
    if (line.trimStart() !== "") starts.push(position + line.length - line.trimStart().length);
    position += line.length + 1;
  }
  const own = starts[node.id];
  // Line breaks inside literals shift the numbers.
  return own !== undefined && text.startsWith(node.text, own) ? own : text.indexOf(node.text);
};
