import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JsonField } from "../../../query/answers.ts";
import type { Api, Description } from "../api.ts";
import { numbersOf, textOf } from "../cell.ts";
import { useSession } from "../context.ts";
import { formatCount, formatShare } from "../format.ts";
import { html } from "../html.ts";
import { useLoad } from "../load.ts";
import { CopyButton, Panel } from "../parts.ts";
import { addressOf, parseRoute } from "../route.ts";
import { type Rows, readRows } from "../rows.ts";
import { RowsTable } from "../rows-table.ts";
import { type VectorColumn, vectorColumns } from "../schema.ts";
import { type Grouping, groupsOf } from "./groups.ts";
import { type Point, type Projection, principalAxes, project } from "./pca.ts";
import { type Plot, pointAt, usePlot } from "./plot.ts";
import { maxPoints, readSample, rowOf, type Sample } from "./sample.ts";

/** What the map shows, as the address keeps it. */
interface Shown {
  /** Empty for the first vector column. */
  readonly column: string;
  /** Column of the colours; empty without one. */
  readonly color: string;
  /** `_rowid` of the query; empty without one. */
  readonly row: string;
}

const shownOf = ({ column = "", color = "", row = "" }: Readonly<Record<string, string>> = {}): Shown => ({
  column,
  color,
  row: /^\d{1,20}$/.test(row) ? row : "",
});

const readShown = (): Shown => shownOf(parseRoute(location.hash).fields);

/** The state of the view, which its address names too. */
const useShown = (table: string) => {
  const [shown, setShown] = useState(readShown);
  useEffect(() => {
    const restore = (): void => setShown(readShown());
    addEventListener("hashchange", restore);
    return () => removeEventListener("hashchange", restore);
  }, []);
  const put = (changes: Partial<Shown>): void => {
    const next = { ...shown, ...changes };
    setShown(next);
    const fields = Object.fromEntries(Object.entries(next).filter(([, text]) => text !== ""));
    history.pushState(null, "", addressOf({ view: "map", table, fields }));
  };
  return [shown, put] as const;
};

interface VectorMap {
  readonly sample: Sample;
  readonly projection: Projection;
  readonly points: readonly Point[];
  readonly grouping: Grouping | undefined;
}

const loadMap = async (
  api: Api,
  table: string,
  description: Description,
  column: VectorColumn,
  color: string,
  mayCount: boolean,
  signal: AbortSignal,
): Promise<VectorMap> => {
  const { version } = description;
  const total = mayCount ? await api.countRows(table, "", { version }, signal) : undefined;
  const sample = await readSample(api, table, description, column, color, total, signal);
  const { values, dimensions } = sample.vectors;
  const projection = await principalAxes(sample.vectors, signal);
  const points = sample.ids.map((_, at) =>
    project(projection, values.subarray(at * dimensions, (at + 1) * dimensions)),
  );
  return { sample, projection, points, grouping: color === "" ? undefined : groupsOf(sample.cells) };
};

interface Found {
  readonly query: Point;
  readonly hits: readonly Point[];
  readonly rows: Rows;
}

const maxHits = 10;

/** A row of the table and the rows that are nearest to it. @throws Error if the row is not there, or has no vector. */
const loadHits = async (
  api: Api,
  table: string,
  { version }: Description,
  { name }: VectorColumn,
  { color, row }: Shown,
  projection: Projection,
  signal: AbortSignal,
): Promise<Found> => {
  const read = async (query: object): Promise<Rows> =>
    readRows(await api.rows(table, { ...query, version, with_row_id: true }, signal));
  const one = await read({ k: 1, filter: `_rowid = ${row}`, columns: [name] });
  const vector = one.length === 0 ? undefined : numbersOf(rowOf(one, name, 0));
  if (vector === undefined) throw new Error(`row ${row}: the table has no such row, or the row has no vector`);
  const columns = [...new Set([...(color === "" ? [] : [color]), name, "_distance"])];
  const rows = await read({ vector, vector_column: name, k: maxHits, prefilter: true, columns });
  const hits = Array.from({ length: rows.length }, (_, at) =>
    project(projection, numbersOf(rowOf(rows, name, at)) ?? []),
  );
  return { query: project(projection, vector), hits, rows };
};

/** The same as the picture, in words and numbers. */
const Summary = ({ map: { sample, projection, points, grouping }, color }: { map: VectorMap; color: string }) => {
  const { total, without } = sample;
  const [first, second] = projection.shares;
  const middle = (at: number): string => {
    const own = points.filter((_, point) => grouping?.of[point] === at);
    const mean = (axis: 0 | 1): number => own.reduce((sum, point) => sum + point[axis], 0) / Math.max(1, own.length);
    return `${Number(mean(0).toPrecision(3))}, ${Number(mean(1).toPrecision(3))}`;
  };
  return html`<p>
      ${formatCount(points.length)}${total !== undefined && total > points.length && ` of ${formatCount(total)}`} rows by their first two principal
      components, which have ${formatShare(first)} and ${formatShare(second)} of the variance.
      ${without > 0 && `${formatCount(without)} rows that were read have no vector.`}
    </p>
    ${
      grouping !== undefined &&
      html`<table class="sums">
        <caption class="hidden">Groups by ${color}</caption>
        <thead><tr><th>${color}</th><th class="number">Points</th><th class="number">Middle</th></tr></thead>
        <tbody>
          ${grouping.groups.map(
            ({ name, count }, at) => html`<tr key=${name}>
              <th scope="row" class=${`group-name group-${at}`}>${name}</th>
              <td class="number">${formatCount(count)}</td>
              <td class="number">${middle(at)}</td>
            </tr>`,
          )}
        </tbody>
      </table>`
    }`;
};

const Picture = ({ plot, label, choose }: { plot: Plot; label: string; choose: (point: number) => void }) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  usePlot(canvas, plot);
  const onClick = (event: MouseEvent): void => {
    const point = canvas.current === null ? undefined : pointAt(canvas.current, plot, event.offsetX, event.offsetY);
    if (point !== undefined) choose(point);
  };
  return html`<canvas class="map" role="img" aria-label=${label} ref=${canvas} onClick=${onClick}></canvas>`;
};

/** Whether points can be coloured by a column. */
const hasColors = ({ type: { type } }: JsonField): boolean => !/list|struct|map|binary|blob/.test(type);

const Choices = ({
  fields,
  vectors,
  column,
  shown,
  put,
}: {
  fields: readonly JsonField[];
  vectors: readonly VectorColumn[];
  column: string;
  shown: Shown;
  put: (changes: Partial<Shown>) => void;
}) => {
  const [row, setRow] = useState(shown.row);
  useEffect(() => setRow(shown.row), [shown.row]);
  const value = (event: Event): string => (event.target as HTMLSelectElement | HTMLInputElement).value;
  const mark = (event: Event): void => {
    event.preventDefault();
    put({ row: shownOf({ row: row.trim() }).row });
  };
  return html`<form class="rows-bar" onSubmit=${mark}>
    <label class="flag-field"
      >Vectors
      <select value=${column} onChange=${(event: Event) => put({ column: value(event), row: "" })}>
        ${vectors.map(({ name }) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select></label
    >
    <label class="flag-field"
      >Colours
      <select value=${shown.color} onChange=${(event: Event) => put({ color: value(event) })}>
        <option value="">one</option>
        ${fields.filter(hasColors).map(({ name }) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select></label
    >
    <label class="flag-field"
      >Row id
      <input class="number-input" inputmode="numeric" autocomplete="off" value=${row} onInput=${(event: Event) => setRow(value(event))} /></label
    >
    <button type="submit">Mark it and its nearest</button>
    ${shown.row !== "" && html`<button type="button" class="quiet" onClick=${() => put({ row: "" })}>No mark</button>`}
  </form>`;
};

/** The vectors of a table on a plane. */
export const MapView = ({ table }: { table: string }) => {
  const { api, me } = useSession();
  const [shown, put] = useShown(table);
  const { color, row } = shown;
  const description = useLoad((signal) => api.describe(table, signal), [api, table]);
  const fields = description.value?.schema.fields;
  const vectors = useMemo(() => vectorColumns(fields ?? []), [fields]);
  const column = vectors.find(({ name }) => name === shown.column) ?? vectors[0];
  const map = useLoad<VectorMap | undefined>(
    async (signal) =>
      description.value === undefined || column === undefined || !me.scopes.includes("read")
        ? undefined
        : loadMap(api, table, description.value, column, color, me.scopes.includes("stats"), signal),
    [api, table, description.value, column?.name, color],
  );
  const found = useLoad<Found | undefined>(
    async (signal) =>
      description.value === undefined || column === undefined || map.value === undefined || row === ""
        ? undefined
        : loadHits(api, table, description.value, column, shown, map.value.projection, signal),
    [map.value, row],
  );
  const plot = useMemo(
    (): Plot => ({
      points: map.value?.points ?? [],
      groups: map.value?.grouping?.of,
      query: row === "" ? undefined : found.value?.query,
      hits: row === "" ? [] : (found.value?.hits ?? []),
    }),
    [map.value, found.value, row],
  );
  const whole = {
    ...map,
    loading: map.loading || description.loading,
    error: description.error ?? map.error ?? found.error,
  };
  const reload = (): void => (description.error === undefined ? map.reload() : description.reload());
  const link = html`<${CopyButton} text=${location.href} label="Copy link" />`;
  return html`<h1 class="hidden">Map of ${table}</h1>
    <${Panel} title="Map" scope="read" loaded=${{ ...whole, reload }} extra=${link} wide>
      ${(value: VectorMap) => html`
        <${Choices} fields=${fields ?? []} vectors=${vectors} column=${column?.name ?? ""} shown=${shown} put=${put} />
        <${Picture}
          plot=${plot}
          label=${`${formatCount(value.points.length)} points of ${column?.name ?? ""} on a plane; the text below says the same`}
          choose=${(point: number) => put({ row: value.sample.ids[point] ?? "" })}
        />
        <${Summary} map=${value} color=${color} />
        <p class="muted">A click on a point marks its row with a cross and the ${maxHits} nearest rows with rings. At most ${formatCount(maxPoints)} rows are read.</p>
        ${
          row !== "" &&
          found.value !== undefined &&
          html`<h2>Nearest to row ${row}</h2>
            <${RowsTable} rows=${found.value.rows} caption="Nearest rows" action=${{ label: "Mark", run: (at: number) => put({ row: textOf(rowOf(found.value?.rows as Rows, "_rowid", at)) }) }} />`
        }
      `}
    </${Panel}>
    ${description.value !== undefined && vectors.length === 0 && html`<p class="notice">The table has no column of vectors.</p>`}`;
};
