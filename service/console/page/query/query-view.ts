import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JsonField } from "../../../query/answers.ts";
import type { Query } from "../api.ts";
import { numbersOf } from "../cell.ts";
import { useSession } from "../context.ts";
import { formatCount } from "../format.ts";
import { html } from "../html.ts";
import { useAction, useLoad } from "../load.ts";
import { CopyButton, Failure, MissingScope, Tabs } from "../parts.ts";
import { PlanView } from "../plan/plan-view.ts";
import { addressOf, parseRoute, type Route } from "../route.ts";
import { type Rows, readRows } from "../rows.ts";
import { RowsTable } from "../rows-table.ts";
import { vectorColumns } from "../schema.ts";
import { type Form, fromQuery, toQuery } from "./form.ts";
import { takePending } from "./pending.ts";
import { QueryForm, type Suggestions } from "./query-form.ts";
import { saveReport } from "./report.ts";
import { findRun, type Run, storedRuns, storeRun } from "./runs.ts";
import { type Request, type RunKind, snippets } from "./snippets.ts";
import { TryThese } from "./try-these.ts";

const languages = [
  ["curl", "curl"],
  ["python", "Python"],
  ["typescript", "TypeScript"],
] as const;

const CopyAs = ({ request }: { request: Request }) => {
  const [language, setLanguage] = useState<keyof typeof snippets>("curl");
  const text = snippets[language](request);
  return html`<details class="code">
    <summary>Copy as</summary>
    <${Tabs} label="Language" options=${languages} chosen=${language} choose=${setLanguage} />
    <pre tabindex="0">${text}</pre>
    <${CopyButton} text=${text} />
    <span class="muted">The token comes from the variable LAKEHEAD_TOKEN.</span>
  </details>`;
};

const kinds: readonly { readonly kind: RunKind; readonly scope: string; readonly label: string }[] = [
  { kind: "analyze", scope: "analyze", label: "Analyze" },
  { kind: "explain", scope: "plan", label: "Explain" },
  { kind: "rows", scope: "read", label: "Rows" },
];

/** Runs an action when the frame with the current changes is on the screen; a page that is not shown has no frames. */
const afterPaint = (action: () => void): void => {
  if (document.hidden) action();
  else requestAnimationFrame(() => setTimeout(action));
};

/** What LanceDB's clients send unless told otherwise. The REST API's own default is to filter after the search. */
const clientDefaults: Query = { prefilter: true };

const noColumns: readonly JsonField[] = [];

/** Why a search returned fewer rows than were asked for, if a filter after it may be the reason. */
const shortfall = ({ query }: Run, rows: number): string => {
  const isSearch = query.vector !== undefined || query.full_text_query !== undefined;
  const filteredAfter = isSearch && query.filter !== undefined && query.prefilter !== true;
  return filteredAfter && rows < Number(query.k)
    ? ` of ${formatCount(Number(query.k))} rows: filtered after the search`
    : " rows";
};

interface Result {
  readonly run: Run;
  readonly rows?: Rows;
}

interface State {
  readonly form: Form;
  readonly result: Result | undefined;
}

/** The form and the result that an address names. */
const stateOf = (route: Route): State => {
  const { run: id, fields } = route.view === "query" ? route : {};
  const run = findRun(id);
  return { form: fields ?? fromQuery(run?.query ?? clientDefaults), result: run && { run } };
};

/** The form and the result, which the address names too: Back, a reload and a copied link keep them. */
const useQueryState = (table: string) => {
  const [state, setState] = useState(() => stateOf(parseRoute(location.hash)));
  // Answers arrive after the form has changed: they must not bring its old text back.
  const latest = useRef(state);
  const put = (next: State): string => {
    latest.current = next;
    setState(next);
    const fields = Object.fromEntries(Object.entries(next.form).filter(([, text]) => text !== ""));
    return addressOf({ view: "query", table, run: next.result?.run.id, fields });
  };
  useEffect(() => {
    const restore = (): void => {
      const route = parseRoute(location.hash);
      if (route.view === "query" && route.table === table) put(stateOf(route));
    };
    addEventListener("hashchange", restore);
    return () => removeEventListener("hashchange", restore);
  }, [table]);
  const change = (changes: Form): void => {
    const { form, result } = latest.current;
    history.replaceState(null, "", put({ form: { ...form, ...changes }, result }));
  };
  const show = (result: Result): void => history.pushState(null, "", put({ ...latest.current, result }));
  return { ...state, change, show };
};

export const QueryView = ({ table }: { table: string }) => {
  const { api, me } = useSession();
  const { form, result, change, show: showResult } = useQueryState(table);
  const { busy, error, run } = useAction();
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const { query, problems } = useMemo(() => toQuery(form), [form]);
  const suggestions = useLoad<Suggestions>(
    async (signal) => {
      const [description, versions, tags] = await Promise.all([
        api.describe(table, signal),
        api.versions(table, signal).catch(() => []),
        me.scopes.includes("tags:read") ? api.tags(table, signal).catch(() => ({})) : {},
      ]);
      return { columns: description.schema.fields, versions, tags };
    },
    [api, table],
  );

  const [folded, setFolded] = useState(false);
  const section = useRef<HTMLElement>(null);
  const show = (shown: Result): void => {
    showResult(shown);
    // Beside each other, form and result are both in view.
    if (matchMedia("(max-width: 1100px)").matches) {
      setFolded(true);
      section.current?.focus({ preventScroll: true });
      section.current?.scrollIntoView();
    }
    afterPaint(() => storeRun(shown.run));
  };

  const perform = (kind: RunKind, asked: Query = query, compareWith?: string): void => {
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    void run(async () => {
      const at = Date.now();
      const start = performance.now();
      const base = { id: crypto.randomUUID(), table, kind, query: asked, at };
      const tookMs = (): number => Math.round(performance.now() - start);
      if (kind === "rows") {
        const file = await api.rows(table, asked, controller.signal);
        const took = tookMs();
        const rows = await readRows(file);
        show({ run: { ...base, tookMs: took, rows: rows.length }, rows });
        return;
      }
      const plan = await api.plan(table, kind, asked, controller.signal);
      const shown = { ...base, tookMs: tookMs(), plan };
      show({ run: shown });
      if (compareWith === undefined) return;
      storeRun(shown);
      location.hash = addressOf({ view: "compare", before: compareWith, after: shown.id });
    });
  };

  // A button of this view or of another one asked for a run.
  useEffect(() => {
    const take = (): void => {
      const asked = takePending(table);
      if (asked !== undefined) perform(asked.kind, asked.query, asked.compareWith);
    };
    take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);

  const useVector = (rows: Rows) => {
    const [vector] = vectorColumns(suggestions.value?.columns ?? []);
    const at = rows.columns.findIndex(({ name }) => name === vector?.name);
    if (at === -1) return undefined;
    return {
      label: "Use vector",
      run: (row: number) => {
        const numbers = numbersOf(rows.cell(row, at));
        if (numbers !== undefined) change({ vector: JSON.stringify(numbers) });
      },
    };
  };

  // Once for each result: the form draws at each key.
  const previous = useMemo(() => {
    if (result?.run.plan === undefined) return undefined;
    return storedRuns().find(({ id, table: of, plan }) => id !== result.run.id && of === table && plan !== undefined);
  }, [result]);
  const plan = useMemo(
    () => result?.run.plan && html`<${PlanView} key=${result.run.id} plan=${result.run.plan} run=${result.run} />`,
    [result],
  );

  return html`<h1 class="hidden">Query ${table}</h1>
    <div class="query">
      <form
        class=${folded ? "query-form folded" : "query-form"}
        aria-label="Query"
        onSubmit=${(event: Event) => {
          event.preventDefault();
          perform("analyze");
        }}
      >
        <div class="run-buttons">
          ${kinds.map(
            ({ kind, scope, label }) => html`<button
              key=${kind}
              type=${kind === "analyze" ? "submit" : "button"}
              class=${kind === "analyze" ? "primary" : ""}
              disabled=${busy || problems.length > 0 || !me.scopes.includes(scope)}
              title=${me.scopes.includes(scope) ? "" : `Requires the scope ${scope}`}
              onClick=${kind === "analyze" ? undefined : () => perform(kind)}
            >
              ${label}
            </button>`,
          )}
          <button type="button" class="quiet edit" onClick=${() => setFolded(false)}>Edit the query</button>
          ${busy && html`<button type="button" class="quiet" onClick=${() => abort.current?.abort()}>Cancel</button>`}
        </div>
        ${kinds
          .filter(({ scope }) => !me.scopes.includes(scope))
          .map(({ kind, scope }) => html`<${MissingScope} key=${kind} scope=${scope} />`)}
        ${suggestions.error !== undefined && html`<${Failure} error=${suggestions.error} retry=${suggestions.reload} />`}
        <${QueryForm}
          table=${table}
          form=${form}
          problems=${problems}
          suggestions=${suggestions.value ?? { columns: [], versions: [], tags: {} }}
          change=${(key: string, value: string) => change({ [key]: value })}
        />
        <${CopyAs} request=${{ root: api.root, table, kind: result?.run.kind ?? "analyze", query }} />
      </form>
      <section class="result" ref=${section} tabindex="-1" aria-label="Result" aria-busy=${busy}>
        ${error !== undefined && html`<${Failure} error=${error} />`}
        ${
          result === undefined
            ? error === undefined &&
              html`<p class="muted empty">
                Analyze runs the query and measures each step. Explain shows the plan without running it. Rows returns the result.
              </p>
              <${TryThese} table=${table} columns=${suggestions.value?.columns ?? noColumns} />`
            : html`<div class="result-bar">
                <span role="status">${result.run.kind}, ${formatCount(result.run.tookMs)} ms with the network</span>
                ${
                  previous !== undefined &&
                  html`<a href=${addressOf({ view: "compare", before: previous.id, after: result.run.id })}>Compare with the run before</a>`
                }
                <${CopyButton} text=${location.href} label="Copy link" />
                ${
                  result.run.plan !== undefined &&
                  html`<button type="button" class="quiet" onClick=${() => saveReport(result.run)}>Save as HTML</button>`
                }
              </div>`
        }
        ${plan}
        ${
          result?.rows !== undefined &&
          html`<p class="muted">${formatCount(result.rows.length)}${shortfall(result.run, result.rows.length)}</p>
            <${RowsTable} rows=${result.rows} caption="Rows" action=${useVector(result.rows)} />`
        }
        ${
          result !== undefined &&
          result.run.kind === "rows" &&
          result.rows === undefined &&
          html`<p class="muted">The browser keeps no rows: run the query again.</p>`
        }
      </section>
    </div>`;
};
