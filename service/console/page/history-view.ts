import { useState } from "preact/hooks";
import { formatCount, formatDuration, formatTime } from "./format.ts";
import { html } from "./html.ts";
import { forgetRuns, storedRuns, summaryOf } from "./query/runs.ts";
import { addressOf } from "./route.ts";

/** The runs of this browser. Two of them with a plan can be compared. */
export const HistoryView = () => {
  const [runs, setRuns] = useState(storedRuns);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const toggle = (id: string): void =>
    setChosen((ids) => (ids.includes(id) ? ids.filter((other) => other !== id) : [...ids, id].slice(-2)));
  const clear = (): void => {
    forgetRuns();
    setRuns([]);
  };
  // The older one is before.
  const [after, before] = runs.filter(({ id }) => chosen.includes(id)).map(({ id }) => id);
  return html`<section class="panel wide">
    <header>
      <h1>History</h1>
      ${before !== undefined && after !== undefined && html`<a class="button" href=${addressOf({ view: "compare", before, after })}>Compare both</a>`}
      ${runs.length > 0 && html`<button type="button" class="quiet" onClick=${clear}>Forget all</button>`}
    </header>
    <p class="muted">Queries and plans that this browser keeps. Choose two plans to compare them.</p>
    ${runs.length === 0 && html`<p>No query yet.</p>`}
    ${
      runs.length > 0 &&
      html`<div class="scroll" tabindex="0" role="region" aria-label="Runs"><table>
        <thead>
          <tr><th>Compare</th><th>Time</th><th>Table</th><th>Kind</th><th>Query</th><th class="number">Took</th><th class="number">Findings</th></tr>
        </thead>
        <tbody>
          ${runs.map(
            (run) => html`<tr key=${run.id}>
              <td>
                <input
                  type="checkbox"
                  aria-label=${`Compare the run of ${formatTime(run.at)}`}
                  disabled=${run.plan === undefined}
                  checked=${chosen.includes(run.id)}
                  onChange=${() => toggle(run.id)}
                />
              </td>
              <td>${formatTime(run.at)}</td>
              <td>${run.table}</td>
              <td>${run.kind}</td>
              <td><a href=${addressOf({ view: "query", table: run.table, run: run.id })}>${summaryOf(run)}</a></td>
              <td class="number">
                ${run.plan?.measured === true ? formatDuration(run.plan.elapsed_ns) : `${formatCount(run.tookMs)} ms`}
              </td>
              <td class="number">${run.plan?.findings}</td>
            </tr>`,
          )}
        </tbody>
      </table></div>`
    }
  </section>`;
};
