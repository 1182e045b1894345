import { useMemo, useState } from "preact/hooks";
import type { PlanTree } from "../../../plan-doctor/types.ts";
import { formatBytes, formatCount, formatDuration, formatTime } from "../format.ts";
import { html } from "../html.ts";
import { bytesRead, type Listed, totalsOf } from "../plan/nodes.ts";
import { TimeBars } from "../plan/tree.ts";
import { findRun, type Run, summaryOf } from "../query/runs.ts";
import { addressOf } from "../route.ts";
import { alignPlans, changedAttributes, factorOf, type Pair } from "./align.ts";

const factor = (before: number | null | undefined, after: number | null | undefined) => {
  const value = factorOf(before, after);
  if (value === undefined) return html`<td></td>`;
  const kind = value < 0.95 ? "less" : value > 1.05 ? "more" : "";
  return html`<td class=${`number ${kind}`}>${value.toFixed(2)}×</td>`;
};

const Head = ({ run, side }: { run: Run; side: string }) => html`<div>
  <h2>${side}</h2>
  <p>
    <a href=${addressOf({ view: "query", table: run.table, run: run.id })}>${run.kind} of ${run.table}</a>, ${formatTime(run.at)}
  </p>
  <p class="muted">${summaryOf(run)}</p>
</div>`;

const Sums = ({ before, after }: { before: PlanTree; after: PlanTree }) => {
  const [left, right] = [totalsOf(before), totalsOf(after)];
  const row = (
    name: string,
    format: (value: number | null | undefined) => string,
    one: number | null | undefined,
    other: number | null | undefined,
  ) =>
    html`<tr><th scope="row">${name}</th><td class="number">${format(one)}</td><td class="number">${format(other)}</td>${factor(one, other)}</tr>`;
  return html`<table class="sums">
    <thead><tr><td></td><th class="number">Before</th><th class="number">After</th><th class="number">Factor</th></tr></thead>
    <tbody>
      ${row("time", formatDuration, left.elapsed, right.elapsed)} <tr>
        <th scope="row">rows</th><td class="number">${formatCount(left.rows)}</td><td class="number">${formatCount(right.rows)}</td><td></td>
      </tr>
      ${row("read", formatBytes, left.bytes, right.bytes)} ${row("requests", formatCount, left.requests, right.requests)}
      <tr><th scope="row">nodes</th><td class="number">${left.nodes}</td><td class="number">${right.nodes}</td><td></td></tr>
    </tbody>
  </table>`;
};

const side = (listed: Listed | undefined, elapsed: number | null) =>
  listed === undefined
    ? html`<td class="absent" colspan="4">–</td>`
    : html`<td style=${{ paddingLeft: `${8 + Math.min(listed.depth, 12) * 10}px` }}>${listed.node.name}</td>
        <td class="number">${formatDuration(listed.node.own_ns)}<${TimeBars} node=${listed.node} elapsed=${elapsed} /></td>
        <td class="number">${formatCount(listed.node.rows_out)}</td>
        <td class="number">${formatBytes(bytesRead(listed.node))}</td>`;

const marks: Readonly<Record<string, string>> = {
  attributes: "attributes",
  rows: "rows",
  bytes: "bytes",
  time: "time",
};

const statusOf = ({ before, after, differs }: Pair): string => {
  if (before === undefined) return "only after";
  if (after === undefined) return "only before";
  return differs.map((difference) => marks[difference]).join(", ");
};

export const CompareView = ({ before: beforeId, after: afterId }: { before: string; after: string }) => {
  const [runs] = useState(() => [findRun(beforeId), findRun(afterId)]);
  const [before, after] = runs;
  const [differentOnly, setDifferentOnly] = useState(false);
  const [left, right] = [before?.plan?.tree, after?.plan?.tree];
  const pairs = useMemo(() => (left && right ? alignPlans(left, right) : []), [left, right]);
  if (before === undefined || after === undefined || left === undefined || right === undefined)
    return html`<p class="notice">
      One of the runs is no longer in this browser, or has no plan as data. <a href=${addressOf({ view: "history" })}>History</a>
    </p>`;
  const shown = differentOnly ? pairs.filter((pair) => statusOf(pair) !== "") : pairs;
  return html`<section class="panel wide">
    <header>
      <h1>Comparison</h1>
      <a class="button" href=${addressOf({ view: "compare", before: afterId, after: beforeId })}>Swap</a>
    </header>
    <div class="sides"><${Head} run=${before} side="Before" /><${Head} run=${after} side="After" /></div>
    <${Sums} before=${left} after=${right} />
    <label class="flag-field"
      ><input
        type="checkbox"
        checked=${differentOnly}
        onChange=${(event: Event) => setDifferentOnly((event.target as HTMLInputElement).checked)}
      />
      Only nodes that differ</label
    >
    <div class="scroll" tabindex="0" role="region" aria-label="Nodes of both plans"><table class="compare">
      <thead>
        <tr><th colspan="4" scope="colgroup">Before</th><th colspan="4" scope="colgroup">After</th><th>Differs</th></tr>
        <tr>
          <th>Node</th><th class="number">Own</th><th class="number">Rows</th><th class="number">Read</th><th>Node</th><th class="number">Own</th><th class="number">Rows</th><th class="number">Read</th><td></td>
        </tr>
      </thead>
      <tbody>
        ${shown.map((pair, index) => {
          const { before: one, after: other, differs } = pair;
          const status = statusOf(pair);
          return html`<tr key=${index} class=${status === "" ? "same" : one && other ? "changed" : "single"}>
            ${side(one, left.elapsed_ns)}${side(other, right.elapsed_ns)}
            <td>
              ${status}
              ${
                one !== undefined &&
                other !== undefined &&
                differs.includes("attributes") &&
                html`<dl class="attributes">
                  ${changedAttributes(one.node, other.node).map(
                    ([key, from, to]) =>
                      html`<div key=${key}><dt>${key}</dt><dd><del>${from || "–"}</del> <ins>${to || "–"}</ins></dd></div>`,
                  )}
                </dl>`
              }
            </td>
          </tr>`;
        })}
      </tbody>
    </table></div>
  </section>`;
};
