import { useEffect, useState } from "preact/hooks";
import type { MaintenanceFigures, MaintenanceResult } from "../../../query/answers.ts";
import { ApiError, UnreachableError } from "../api.ts";
import { useChanges, useSession } from "../context.ts";
import { formatBytes, formatCount } from "../format.ts";
import { html } from "../html.ts";
import { useAction } from "../load.ts";
import { Failure } from "../parts.ts";
import { storeRun } from "../query/runs.ts";
import { addressOf } from "../route.ts";
import { type Change, isRunning, stateText } from "./changes.ts";

/** Seconds since a change was sent, drawn anew each second. */
const Elapsed = ({ from }: { from: number }) => {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="muted">${formatCount(Math.max(0, Math.round((now - from) / 1000)))} s</span>`;
};

const milliseconds = (value: number | undefined): string => (value === undefined ? "–" : `${value.toFixed(1)} ms`);

type Row = readonly [name: string, read: (figures: MaintenanceFigures) => number | undefined | null, format: Format];
type Format = (value: number | undefined) => string;

const rows: readonly Row[] = [
  ["fragments", ({ fragments }) => fragments, formatCount],
  ["small fragments", ({ small_fragments: small }) => small, formatCount],
  ["deleted rows", ({ deleted_rows: deleted }) => deleted, formatCount],
  ["rows outside of indices", ({ unindexed_rows: unindexed }) => unindexed, formatCount],
  ["parts of an index", ({ deltas }) => deltas, formatCount],
  ["versions", ({ versions }) => versions, formatCount],
  ["bytes", ({ bytes }) => bytes, formatBytes],
  ["sample query, time", ({ sample_query: sample }) => sample?.milliseconds, milliseconds],
  ["sample query, bytes", ({ sample_query: sample }) => sample?.bytes, formatBytes],
  ["sample query, reads", ({ sample_query: sample }) => sample?.reads, formatCount],
];

const isResult = (answer: unknown): answer is MaintenanceResult =>
  typeof answer === "object" && answer !== null && "before" in answer && "after" in answer && "due" in answer;

/** What the maintenance of a table found and did. */
const Result = ({ result }: { result: MaintenanceResult }) => {
  const { due, remaining, conflicted, before, after } = result;
  if (due.length === 0) return html`<p>Nothing is due by the table's rule: the table is unchanged.</p>`;
  // What the table has not, says nothing: no index, no deleted row.
  const known = rows.filter(([, read]) => (read(before) ?? 0) > 0 || (read(after) ?? 0) > 0);
  return html`<p>It was due: ${due.join("; ")}.</p>
    <table class="sums">
      <thead><tr><td></td><th class="number">Before</th><th class="number">After</th></tr></thead>
      <tbody>
        ${known.map(
          ([name, read, format]) => html`<tr key=${name}>
            <th scope="row">${name}</th>
            <td class="number">${format(read(before) ?? undefined)}</td>
            <td class="number">${format(read(after) ?? undefined)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
    ${
      remaining.length > 0 &&
      html`<p>${conflicted ? "Left, because writers were faster" : "Still due"}: ${remaining.join("; ")}.</p>`
    }`;
};

/** The job that a request has started. */
const Started = ({ answer }: { answer: unknown }) => {
  const job = (answer as { job_id?: unknown } | undefined)?.job_id;
  if (typeof job !== "string") return null;
  return html`<p>It runs as a job: <a href=${addressOf({ view: "jobs", job })}>look at it</a>.</p>`;
};

const ChangeFailure = ({ error }: { error: unknown }) => html`<${Failure} error=${error} />
  ${error instanceof ApiError && html`<p class="muted">Status ${error.status}, request ${error.requestId}.</p>`}
  ${
    error instanceof UnreachableError &&
    html`<p>Whether the change was committed is not known: look at the table's versions before you send it again.</p>`
  }`;

/** Sends the query of the run before once more, and compares both. */
const Again = ({ change }: { change: Change }) => {
  const { api } = useSession();
  const { busy, error, run } = useAction();
  const { before, committed, request } = change;
  if (before === undefined || before.kind === "rows") return null;
  const { kind, query } = before;
  const again = (): void => {
    void run(async () => {
      const at = Date.now();
      const start = performance.now();
      const plan = await api.plan(request.table, kind, query, undefined, committed?.version);
      const tookMs = Math.round(performance.now() - start);
      const next = { id: crypto.randomUUID(), table: request.table, kind, query, at, tookMs, plan };
      storeRun(next);
      location.hash = addressOf({ view: "compare", before: before.id, after: next.id });
    });
  };
  return html`<button type="button" disabled=${busy} onClick=${again}>
      ${kind === "analyze" ? "Analyze" : "Explain"} again and compare
    </button>
    ${query.version !== undefined && html`<span class="muted">The query reads version ${String(query.version)}, which stays as it was.</span>`}
    ${error !== undefined && html`<${Failure} error=${error} />`}`;
};

const Entry = ({ change }: { change: Change }) => {
  const { changes } = useSession();
  const { request, title, from, committed, error } = change;
  const state = isRunning(change) ? "running" : committed === undefined ? "failed" : "done";
  return html`<li class=${state} aria-busy=${isRunning(change)}>
    <div class="change-head">
      <strong>${title}</strong>
      <a href=${addressOf({ view: "table", table: request.table })}>${request.table}</a>
      <span role="status">${stateText(change)}</span>
      ${isRunning(change) && html`<${Elapsed} from=${from} />`}
      ${
        !isRunning(change) &&
        html`<button type="button" class="quiet" aria-label=${`Remove from the list: ${title}, ${request.table}`} onClick=${() => changes.forget(change.id)}>×</button>`
      }
    </div>
    ${error !== undefined && html`<${ChangeFailure} error=${error} />`}
    ${committed !== undefined && html`<${Started} answer=${committed.answer} />`}
    ${committed !== undefined && isResult(committed.answer) && html`<${Result} result=${committed.answer} />`}
    ${committed !== undefined && html`<${Again} change=${change} />`}
  </li>`;
};

/** The changes that this tab has sent, in every view. */
export const ChangesList = () => {
  const list = useChanges();
  if (list.length === 0) return null;
  return html`<section class="changes" aria-label="Changes of tables">
    <ul>${list.map((change) => html`<${Entry} key=${change.id} change=${change} />`)}</ul>
  </section>`;
};
