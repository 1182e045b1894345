import { useState } from "preact/hooks";
import { rules } from "../../../plan-doctor/diagnose.ts";
import type { Facts, Finding } from "../../../plan-doctor/types.ts";
import type { Query } from "../api.ts";
import { requestOf } from "../changes/changes.ts";
import { mayChange, SendButton, WhyNoChange } from "../changes/send-button.ts";
import { useSession } from "../context.ts";
import { formatCount } from "../format.ts";
import { html } from "../html.ts";
import { CopyButton, Tabs } from "../parts.ts";
import { openAndRun } from "../query/pending.ts";
import type { Run } from "../query/runs.ts";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Fields that the doctor prints in the form of another client, or not at all where they are long: no fix changes them. */
const kept = ["vector", "full_text_query"] as const;

const columnsOf = (columns: unknown): unknown =>
  isObject(columns) ? (columns.column_names ?? columns.column_aliases) : columns;

/**
 * The query of a fix that changes the query alone.
 * @param rest of the fix: method, path and body.
 * @param query of the run with the finding.
 * @returns undefined for a fix of another kind, and for one that the reader has to complete.
 */
const queryOfFix = (rest: string, query: Query): Query | undefined => {
  const [, json] = /^POST \S+\/query\n(\{.*\})$/s.exec(rest) ?? [];
  if (json === undefined) return undefined;
  try {
    const printed: unknown = JSON.parse(json);
    if (!isObject(printed) || typeof (printed.lower_bound ?? 0) !== "number") return undefined;
    const own = kept.flatMap((key) => (query[key] === undefined ? [] : [[key, query[key]] as const]));
    const columns = printed.columns === undefined ? {} : { columns: columnsOf(printed.columns) };
    return { ...printed, ...columns, ...Object.fromEntries(own) };
  } catch {
    return undefined;
  }
};

/** More than this many at once are not read. */
const maxShown = 3;

const languages = [
  ["python", "Python"],
  ["typescript", "TypeScript"],
  ["rest", "REST"],
] as const;

const FixView = ({ fix }: { fix: Finding["fix"] }) => {
  const [language, setLanguage] = useState<"python" | "typescript" | "rest">("python");
  return html`<p>${fix.summary}</p>
    <div class="code">
      <${Tabs} label="Language" options=${languages} chosen=${language} choose=${setLanguage} />
      <pre tabindex="0">${fix[language]}</pre>
      <${CopyButton} text=${fix[language]} />
    </div>`;
};

/** Sends the fix, if it is one request that the console knows, or another query. */
const Apply = ({ finding: { title, fix }, run }: { finding: Finding; run: Run }) => {
  const { me } = useSession();
  const request = requestOf(run.table, fix.write);
  const query = queryOfFix(fix.rest, run.query);
  if (request === undefined && query !== undefined && run.kind !== "rows") {
    const use = (): void => openAndRun({ table: run.table, kind: run.kind, query, compareWith: run.id });
    return html`<button type="button" onClick=${use}>Use this query</button>
      <span class="muted"> fills the form, runs it and compares</span>`;
  }
  if (request === undefined) return null;
  if (!mayChange(me)) return html`<${WhyNoChange} />`;
  return html`<${SendButton}
    label="Apply"
    description=${`Apply the fix: ${title}`}
    title=${`Apply the fix: ${title}`}
    request=${request}
    before=${{ id: run.id, kind: run.kind, query: run.query }}
  />`;
};

interface FindingsProps {
  /** The run whose findings they are; absent in a saved file, which sends nothing. */
  readonly run?: Run;
  readonly findings: readonly Finding[];
  readonly facts: Facts;
  readonly select: (node: number) => void;
}

export const Findings = ({ run, findings, facts, select }: FindingsProps) => {
  const [all, setAll] = useState(false);
  const shown = all ? findings : findings.slice(0, maxShown);
  return html`<section class="findings" aria-label="Findings">
    ${
      findings.length === 0 &&
      html`<details>
        <summary class="muted">No finding of ${rules.length} rules</summary>
        <ul class="muted">
          ${rules.map(({ code, title }) => html`<li key=${code}>${title}</li>`)}
        </ul>
      </details>`
    }
    ${shown.map((finding, index) => {
      const { code, severity, title, node, evidence, why, fix } = finding;
      return html`<details key=${`${code}-${node}-${index}`} class=${`finding ${severity}`} open=${index === 0 && severity === "warning"}>
        <summary>
          <span class="severity">${severity}</span> <strong>${title}</strong>
          <span class="evidence">${evidence.map(
            ({ name, value }) =>
              html`<span key=${name}>${name} <b>${typeof value === "number" ? formatCount(value) : value}</b></span>`,
          )}</span>
        </summary>
        <p>${why}</p>
        <${FixView} fix=${fix} />
        ${run !== undefined && html`<${Apply} finding=${finding} run=${run} />`}
        ${node !== null && html`<button type="button" class="quiet" onClick=${() => select(node)}>Show the node</button>`}
      </details>`;
    })}
    ${
      findings.length > maxShown &&
      html`<button type="button" class="quiet" onClick=${() => setAll(!all)}>
        ${all ? `Only the first ${maxShown}` : `${findings.length - maxShown} more`}
      </button>`
    }
    ${
      facts.missing.length > 0 &&
      html`<p class="muted">Judged without ${facts.missing.map(({ fact, reason }) => `${fact} (${reason})`).join(", ")}.</p>`
    }
  </section>`;
};
