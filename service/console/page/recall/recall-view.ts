import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Query } from "../api.ts";
import { numbersOf, textOf } from "../cell.ts";
import { useSession } from "../context.ts";
import { html } from "../html.ts";
import { useAction, useLoad } from "../load.ts";
import { CopyButton, Failure, MissingScope } from "../parts.ts";
import { readRows } from "../rows.ts";
import { vectorColumns } from "../schema.ts";
import { isSame } from "./axes.ts";
import { RecallChart } from "./chart.ts";
import { type Measured, measure, type Point, parseNumbers, smallest, sweep } from "./recall.ts";

interface Options {
  readonly column: string;
  readonly k: string;
  readonly vectors: string;
  readonly nprobes: string;
  readonly refine: string;
  readonly target: string;
  readonly distanceType: string;
  readonly filter: string;
}

const defaults: Options = {
  column: "",
  k: "10",
  vectors: "5",
  nprobes: "1, 2, 4, 8, 16, 32",
  refine: "none, 1, 5, 20",
  target: "0.95",
  distanceType: "",
  filter: "",
};

const labels: readonly (readonly [keyof Options, string])[] = [
  ["k", "k"],
  ["vectors", "Query vectors"],
  ["nprobes", "nprobes"],
  ["refine", "Refine factors"],
  ["target", "Target recall"],
  ["distanceType", "Distance (default: of the index)"],
  ["filter", "Filter"],
];

interface Progress {
  readonly points: readonly Point[];
  readonly exactMs: number;
  readonly total: number;
}

export const RecallView = ({ table }: { table: string }) => {
  const { api, me } = useSession();
  const [options, setOptions] = useState(defaults);
  const [progress, setProgress] = useState<Progress | undefined>();
  const { busy, error, run } = useAction();
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const columns = useLoad(
    async (signal) => vectorColumns((await api.describe(table, signal)).schema.fields),
    [api, table],
  );
  const target = Number(options.target);
  const best = useMemo(
    () => (progress === undefined ? undefined : smallest(progress.points, target)),
    [progress, target],
  );
  if (!me.scopes.includes("read")) return html`<h1>Recall of ${table}</h1><${MissingScope} scope="read" />`;
  const column = options.column || columns.value?.[0]?.name;

  const start = (): void => {
    if (column === undefined) return;
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    const { signal } = controller;
    const search = async (query: Query): Promise<Measured> => {
      const started = performance.now();
      const file = await api.rows(table, query, signal);
      const ms = performance.now() - started;
      const rows = await readRows(file);
      const at = rows.columns.findIndex(({ name }) => name === "_rowid");
      return { ids: Array.from({ length: rows.length }, (_, row) => textOf(rows.cell(row, at))), ms };
    };
    void run(async () => {
      setProgress(undefined);
      const k = Number(options.k);
      const settings = sweep(parseNumbers(options.nprobes).filter(Boolean), parseNumbers(options.refine));
      // Rows of the whole table would be better, but their number is not known without the scope stats.
      const count = Number(options.vectors);
      const sample = await readRows(await api.rows(table, { k: count * 20, columns: [column] }, signal));
      const step = Math.max(1, Math.floor(sample.length / count));
      const vectors = Array.from({ length: Math.min(count, sample.length) }, (_, index) =>
        numbersOf(sample.cell(index * step, 0)),
      ).filter((numbers) => numbers !== undefined);
      const wanted = { column, k, distanceType: options.distanceType.trim(), filter: options.filter.trim() };
      await measure(search, wanted, vectors, settings, (points, exactMs) =>
        setProgress({ points, exactMs, total: settings.length }),
      );
    });
  };

  const set = (key: keyof Options) => (event: Event) =>
    setOptions((current) => ({ ...current, [key]: (event.target as HTMLInputElement).value }));
  const { points = [], exactMs = 0, total = 0 } = progress ?? {};
  const bestQuery =
    best &&
    JSON.stringify({ nprobes: best.nprobes, ...(best.refineFactor === 0 ? {} : { refine_factor: best.refineFactor }) });
  return html`<div class="title"><h1>Recall of ${table}</h1></div>
    <form
      class="recall-form"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        start();
      }}
    >
      ${
        (columns.value ?? []).length > 1 &&
        html`<div class="field"><label for="recall-column">Vector column</label><select id="recall-column" value=${column} onChange=${set("column")}>
          ${columns.value?.map(({ name }) => html`<option key=${name} value=${name}>${name}</option>`)}
        </select></div>`
      }
      ${labels.map(
        ([key, label]) => html`<div class="field" key=${key}>
          <label for=${`recall-${key}`}>${label}</label>
          <input id=${`recall-${key}`} value=${options[key]} spellcheck=${false} onInput=${set(key)} />
        </div>`,
      )}
      <div class="run-buttons">
        <button type="submit" class="primary" disabled=${busy || column === undefined}>Measure</button>
        ${busy && html`<button type="button" onClick=${() => abort.current?.abort()}>Cancel</button>`}
      </div>
    </form>
    <p class="muted">
      The query vectors are rows of the table, which is easier for an index than vectors of your users. Each search runs twice, and the faster
      time counts.
    </p>
    ${columns.value?.length === 0 && html`<p class="notice">The table has no vector column.</p>`}
    ${columns.error !== undefined && html`<${Failure} error=${columns.error} retry=${columns.reload} />`}
    ${error !== undefined && html`<${Failure} error=${error} />`}
    ${busy && html`<p role="status">${points.length} of ${total || "…"} settings <progress value=${points.length} max=${total || 1}></progress></p>`}
    ${
      points.length > 0 &&
      html`<section class="panel wide" aria-label="Result">
        <header><h2>Recall@${options.k} against time</h2></header>
        <p class="comparison-summary">
          ${
            best === undefined
              ? `No setting reaches ${options.target} yet.`
              : html`Smallest setting that reaches ${options.target}: <b>nprobes ${best.nprobes}</b>,
                  ${" "}<b>refine factor ${best.refineFactor === 0 ? "none" : best.refineFactor}</b> (${best.recall.toFixed(3)} in ${best.ms.toFixed(1)} ms;
                  exact search ${exactMs.toFixed(1)} ms)`
          }
          ${bestQuery !== undefined && html` <${CopyButton} text=${bestQuery} label="Copy the fields" />`}
        </p>
        <div class="recall-result">
          <div><${RecallChart} points=${points} target=${target} chosen=${best} /></div>
          <div class="scroll tall" tabindex="0" role="region" aria-label="Settings"><table>
            <thead><tr><th class="number">nprobes</th><th class="number">Refine</th><th class="number">Recall</th><th class="number">ms</th></tr></thead>
            <tbody>
              ${points.map(
                (
                  point,
                ) => html`<tr key=${`${point.nprobes}/${point.refineFactor}`} aria-selected=${isSame(point, best)}>
                  <td class="number">${point.nprobes}</td>
                  <td class="number">${point.refineFactor === 0 ? "none" : point.refineFactor}</td>
                  <td class="number">${point.recall.toFixed(3)}</td>
                  <td class="number">${point.ms.toFixed(1)}</td>
                </tr>`,
              )}
            </tbody>
          </table></div>
        </div>
      </section>`
    }`;
};
