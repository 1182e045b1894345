import { useEffect } from "preact/hooks";
import type { MaintenanceState } from "../../query/answers.ts";
import type { MaintenanceList } from "./api.ts";
import { isRunning } from "./changes/changes.ts";
import { mayChange, SendButton, WhyNoChange } from "./changes/send-button.ts";
import { useChanges, useSession } from "./context.ts";
import { formatCount, formatTime } from "./format.ts";
import { html } from "./html.ts";
import { useLoad } from "./load.ts";
import { Panel } from "./parts.ts";
import { addressOf } from "./route.ts";

/** Tables that a reader should look at. */
const isNotable = ({ due, holder, problem, left }: MaintenanceState): boolean =>
  due.length > 0 || holder !== undefined || problem !== undefined || left !== undefined;

const lines = (texts: readonly string[]) =>
  texts.length > 0 && html`<ul class="plain">${texts.map((text) => html`<li key=${text}>${text}</li>`)}</ul>`;

const tableLink = (id: string) => html`<a href=${addressOf({ view: "table", table: id })}>${id}</a>`;

const Due = ({ state }: { state: MaintenanceState }) => {
  const { due, notes, problem, has_rule: hasRule } = state;
  return html`${lines(due)}
    ${due.length === 0 && hasRule && problem === undefined && html`<span class="muted">nothing</span>`}
    ${!hasRule && html`<span class="muted">no rule has a pattern for it</span>`}
    ${problem !== undefined && html`<p>It could not be judged: ${problem}</p>`}
    ${notes.length > 0 && html`<div class="muted">${lines(notes)}</div>`}`;
};

const LastRun = ({ state: { finished_at_millis: at, left } }: { state: MaintenanceState }) => html`
  ${at === undefined ? html`<span class="muted">none on record</span>` : formatTime(at)}
  ${left !== undefined && html`<p>Left: ${left}</p>`}`;

const Action = ({ state }: { state: MaintenanceState }) => {
  const { me } = useSession();
  const { id, holder, due } = state;
  if (holder !== undefined)
    return html`<p>
      <code>${holder.owner}</code> works on it. Its lease ends at ${formatTime(holder.expires_at_millis)} unless it is renewed.
    </p>`;
  if (due.length === 0 || !mayChange(me)) return null;
  return html`<${SendButton}
    label="Maintain"
    description=${`Maintain ${id}`}
    title="Maintain the table"
    request=${{ table: id, operation: "maintain", body: {} }}
  />`;
};

const row = (state: MaintenanceState) => html`<tr key=${state.id}>
  <th scope="row">${tableLink(state.id)}</th>
  <td><${Due} state=${state} /></td>
  <td>${state.due_since_millis === undefined ? "" : formatTime(state.due_since_millis)}</td>
  <td><${LastRun} state=${state} /></td>
  <td><${Action} state=${state} /></td>
</tr>`;

const table = (
  states: readonly MaintenanceState[],
) => html`<div class="scroll" tabindex="0" role="region" aria-label="Maintenance of tables"><table class="maintenance">
  <thead>
    <tr><th>Table</th><th>Due</th><th>Found due by a run</th><th>Last run</th><th>Now</th></tr>
  </thead>
  <tbody>${states.map(row)}</tbody>
</table></div>`;

const Tables = ({ list: { tables, total } }: { list: MaintenanceList }) => {
  const notable = tables.filter(isNotable);
  const others = tables.filter((state) => !isNotable(state));
  const due = tables.filter((state) => state.due.length > 0).length;
  return html`<p class="muted" role="status">
      ${formatCount(due)} due of ${formatCount(tables.length)} tables${
        tables.length < total &&
        `. Only the first ${formatCount(tables.length)} of ${formatCount(total)} tables were judged; npm run maintain -- --dry-run judges all`
      }.
    </p>
    ${due > 0 && html`<${WhyNoChange} />`}
    ${notable.length > 0 && table(notable)}
    ${
      others.length > 0 &&
      html`<details open=${notable.length === 0}>
        <summary>${formatCount(others.length)} tables with nothing due</summary>
        ${table(others)}
      </details>`
    }
    ${total === 0 && html`<p>There is no table that your credentials permit.</p>`}`;
};

/** What is due for the tables, and what runs of the maintenance did. */
export const MaintenanceView = () => {
  const { api, me } = useSession();
  const permitted = me.scopes.includes("stats");
  const list = useLoad(
    (signal) => (permitted ? api.maintenance(signal) : new Promise<MaintenanceList>(() => {})),
    [api, permitted],
  );
  const running = useChanges().filter(isRunning).length;
  useEffect(() => {
    if (running === 0 && list.value !== undefined) list.reload();
  }, [running]);
  const jobs = html`<a class="button" href=${addressOf({ view: "jobs" })}>Jobs</a>`;
  const reload = html`<button type="button" disabled=${list.loading} onClick=${list.reload}>Look again</button>`;
  return html`<h1 class="hidden">Maintenance</h1>
    <${Panel} title="Maintenance" scope="stats" loaded=${list} extra=${html`${jobs}${permitted && reload}`} wide>
      ${(value: MaintenanceList) => html`<${Tables} list=${value} />`}
    </${Panel}>`;
};
