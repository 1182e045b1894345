import { useEffect } from "preact/hooks";
import type { Job, JobDetail, JobEventRow, RowErrors } from "./api.ts";
import { useSession } from "./context.ts";
import { formatCount, formatShare, formatTime } from "./format.ts";
import { html } from "./html.ts";
import { useAction, useLoad } from "./load.ts";
import { Failure, Panel } from "./parts.ts";
import { addressOf } from "./route.ts";

/** Milliseconds between two looks at jobs that are in progress. */
const pauseMs = 2000;

const words: Readonly<Record<string, string>> = {
  IN_PROGRESS: "in progress",
  DONE: "done",
  FAILED: "failed",
  CANCELLED: "cancelled",
  TIMED_OUT: "timed out",
};

const isOpen = (state: string): boolean => state === "IN_PROGRESS";

/** Looks again while something is in progress. */
const useAgain = (open: boolean, reload: () => void): void => {
  useEffect(() => {
    if (!open) return undefined;
    const timer = setInterval(reload, pauseMs);
    return () => clearInterval(timer);
  }, [open, reload]);
};

const tableLink = (table: string) =>
  table === "" ? "" : html`<a href=${addressOf({ view: "table", table })}>${table}</a>`;

/** What came of a job, or how far it is, in a few words. */
const Outcome = ({ job: { result, progress, failure, job_state: state } }: { job: JobDetail }) => {
  if (failure !== undefined)
    return html`<p>${failure.message}</p>
      <p class="muted">While it did: ${failure.phase}. ${failure.retryable ? "A retry may help." : "A retry does not help."}</p>`;
  if (progress !== undefined) {
    const { rows_done: done = 0, rows_total: total = 0, seconds_left: seconds } = progress;
    return html`<p>
      <progress value=${done} max=${Math.max(1, total)} aria-label="Rows">${formatShare(done / Math.max(1, total))}</progress>
      ${formatCount(done)} of ${formatCount(total)} rows${seconds !== undefined && `, about ${formatCount(seconds)} s left`}
    </p>`;
  }
  if (result === undefined)
    return html`<p class="muted">${isOpen(state) ? "It has not told how far it is." : "Nothing."}</p>`;
  return html`<dl class="facts">
    ${Object.entries(result).map(
      ([name, value]) =>
        html`<div class="fact" key=${name}><dt>${name.replaceAll("_", " ")}</dt><dd>${typeof value === "number" ? formatCount(value) : String(value)}</dd></div>`,
    )}
  </dl>`;
};

const Events = ({ events }: { events: readonly JobEventRow[] }) =>
  html`<div class="scroll tall" tabindex="0" role="region" aria-label="Events"><table>
    <thead><tr><th>Time</th><th>Step</th><th>Of</th><th class="number">Rows</th><th>Message</th></tr></thead>
    <tbody>
      ${events.map(
        (event, at) => html`<tr key=${at}>
          <td>${formatTime(event.at)}</td>
          <td>${event.state}</td>
          <td>${event.entity}</td>
          <td class="number">${event.rows === undefined ? "" : formatCount(event.rows)}</td>
          <td>${event.message}</td>
        </tr>`,
      )}
    </tbody>
  </table></div>`;

const Errors = ({ errors: { records, truncated } }: { errors: RowErrors }) =>
  records.length > 0 &&
  html`<h3>Rows without a value</h3>
    <div class="scroll tall" tabindex="0" role="region" aria-label="Rows without a value"><table>
      <thead><tr><th class="number">Fragment</th><th class="number">Row</th><th>Error</th></tr></thead>
      <tbody>
        ${records.map(
          (
            { fragment_id: fragment, row_offset: row, error_type: type, error_message: message },
            at,
          ) => html`<tr key=${at}>
            <td class="number">${fragment}</td>
            <td class="number">${row ?? ""}</td>
            <td><code>${type}</code> ${message}</td>
          </tr>`,
        )}
      </tbody>
    </table></div>
    ${truncated === true && html`<p class="muted">There are more.</p>`}`;

const Detail = ({ id, changed }: { id: string; changed: () => void }) => {
  const { api } = useSession();
  const loaded = useLoad((signal) => api.job(id, signal), [api, id]);
  const state = loaded.value?.detail.job_state;
  useAgain(state !== undefined && isOpen(state), loaded.reload);
  const { busy, error, run } = useAction();
  useEffect(changed, [state]);
  const cancel = (): void => {
    void run(async () => {
      await api.cancelJob(id);
      loaded.reload();
    });
  };
  const button =
    state !== undefined &&
    isOpen(state) &&
    html`<button type="button" disabled=${busy} onClick=${cancel}>Cancel the job</button>`;
  return html`<${Panel} title="Job" loaded=${loaded} extra=${button} wide>
    ${({ detail, events, errors }: { detail: JobDetail; events: readonly JobEventRow[]; errors: RowErrors }) => html`
      <p role="status"><code>${id}</code>: ${detail.job_type}, ${words[detail.job_state] ?? detail.job_state}.</p>
      ${error !== undefined && html`<${Failure} error=${error} />`}
      <${Outcome} job=${detail} />
      <${Errors} errors=${errors} />
      <h3>Events</h3>
      <${Events} events=${events} />
      <details><summary>What it was asked to do</summary><pre tabindex="0">${JSON.stringify(detail.spec, null, 2)}</pre></details>
    `}
  </${Panel}>`;
};

const List = ({ jobs, chosen }: { jobs: readonly Job[]; chosen: string | undefined }) =>
  jobs.length === 0
    ? html`<p>There is no job of yours, or of a table that you may manage.</p>`
    : html`<div class="scroll tall" tabindex="0" role="region" aria-label="Jobs"><table>
        <thead><tr><th>Job</th><th>Table</th><th>State</th><th>Started</th></tr></thead>
        <tbody>
          ${jobs.map(
            ({ job_id: id, job_type: type, table, state, created_at_millis: at }) => html`<tr key=${id}>
              <th scope="row">
                <a href=${addressOf({ view: "jobs", job: id })} aria-current=${id === chosen ? "true" : undefined}>${type}</a>
              </th>
              <td>${tableLink(table)}</td>
              <td>${words[state] ?? state}</td>
              <td>${formatTime(at)}</td>
            </tr>`,
          )}
        </tbody>
      </table></div>`;

/** Long work: what runs, how far it is, and what came of it. The service keeps it, so it is there after a reload. */
export const JobsView = ({ job }: { job: string | undefined }) => {
  const { api, me } = useSession();
  const served = me.writes === true;
  const list = useLoad((signal) => (served ? api.jobs(signal) : Promise.resolve<readonly Job[]>([])), [api, served]);
  useAgain(list.value?.some(({ state }) => isOpen(state)) ?? false, list.reload);
  return html`<h1 class="hidden">Jobs</h1>
    <${Panel} title="Jobs" loaded=${list} wide>
      ${(jobs: readonly Job[]) =>
        served
          ? html`<${List} jobs=${jobs} chosen=${job} />`
          : html`<p class="notice locked">This service takes no writes, so it has no jobs: <code>LAKEHEAD_WRITES=on</code> turns them on.</p>`}
    </${Panel}>
    ${served && job !== undefined && html`<${Detail} key=${job} id=${job} changed=${list.reload} />`}`;
};
