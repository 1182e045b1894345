import { useEffect, useRef, useState } from "preact/hooks";
import { type Cell, textOf } from "./cell.ts";
import { html } from "./html.ts";
import { useAction } from "./load.ts";
import { MediaView } from "./media-view.ts";
import { Failure } from "./parts.ts";
import { useVisibleArea } from "./plan/visible.ts";
import type { Rows } from "./rows.ts";
import { sparklinePath } from "./sparkline.ts";

const sparklineSize = { width: 120, height: 18 } as const;

/** A vector as a line, with its numbers as text for screen readers and as a title. */
export const Sparkline = ({ values }: { values: readonly number[] }) => {
  const { width, height } = sparklineSize;
  const text = `${values.length} numbers: ${values.slice(0, 8).join(", ")}${values.length > 8 ? ", …" : ""}`;
  return html`<svg class="spark" role="img" aria-label=${text} viewBox=${`-1 -1 ${width + 2} ${height + 2}`} width=${width} height=${height}>
    <title>${text}</title>
    <path d=${sparklinePath(values, width, height)} />
  </svg>`;
};

const maxTextLength = 200;

const cut = (text: string): string => (text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text);

const classes: Readonly<Record<Cell["kind"], string>> = {
  null: "muted",
  number: "number",
  text: "",
  vector: "",
  bytes: "",
  blob: "",
};

const content = (cell: Cell, whole: boolean) => {
  if (cell.kind === "vector" && cell.numbers.length > 1) return html`<${Sparkline} values=${cell.numbers} />`;
  if (cell.kind === "bytes" || cell.kind === "blob") return html`${textOf(cell)} <${MediaView} cell=${cell} />`;
  return whole ? textOf(cell) : cut(textOf(cell));
};

/** @param whole a long text in full. */
export const CellView = ({ cell, whole = false }: { cell: Cell; whole?: boolean }) =>
  html`<td class=${classes[cell.kind]}>${content(cell, whole)}</td>`;

/** A column whose values are fetched one by one. */
export interface DeferredColumn {
  readonly name: string;
  readonly type: string;
  readonly load: (row: number) => Promise<Cell>;
}

export const DeferredCell = ({ row, column }: { row: number; column: DeferredColumn }) => {
  const [cell, setCell] = useState<Cell | undefined>();
  const { busy, error, run } = useAction();
  if (cell !== undefined) return html`<${CellView} cell=${cell} />`;
  const load = (): void => void run(async () => setCell(await column.load(row)));
  return html`<td>
    ${error === undefined ? html`<button type="button" class="quiet" disabled=${busy} aria-label=${`Load ${column.name} of row ${row + 1}`} onClick=${load}>Load</button>` : html`<${Failure} error=${error} />`}
  </td>`;
};

interface Sort {
  /** Empty for the order in which the rows came. */
  readonly column: string;
  readonly descending: boolean;
  /** Those that can be sorted by. */
  readonly columns: readonly string[];
  readonly by: (column: string) => void;
}

interface RowsTableProps {
  readonly rows: Rows;
  readonly deferred?: readonly DeferredColumn[];
  readonly caption: string;
  /** A button for each row. */
  readonly action?: { readonly label: string; readonly run: (row: number) => void } | undefined;
  readonly sort?: Sort;
}

/** Of more rows, only those near the visible part are in the page. */
const maxDrawn = 100;

/** Height of every row of many, in pixels. */
const rowHeight = 28;

/** Width of a column of many rows, in pixels: it must not depend on the rows that happen to be drawn. */
const widthOf = (type: string): number => (/^(Utf8|LargeUtf8|Struct|List|Map|Dictionary)/.test(type) ? 280 : 150);

export const RowsTable = ({ rows, deferred = [], caption, action, sort }: RowsTableProps) => {
  const box = useRef<HTMLDivElement>(null);
  const { top, bottom } = useVisibleArea(box);
  const isLong = rows.length > maxDrawn;
  const from = isLong ? Math.min(rows.length, Math.floor(top / rowHeight)) : 0;
  const to = isLong ? Math.min(rows.length, Math.ceil(bottom / rowHeight)) : rows.length;
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = 0;
  }, [rows]);
  const columns = [...rows.columns, ...deferred];
  const header = ({ name, type }: { name: string; type: string }) => {
    if (sort?.columns.includes(name) !== true) return html`<th key=${name} scope="col" title=${type}>${name}</th>`;
    const direction = sort.column !== name ? "none" : sort.descending ? "descending" : "ascending";
    return html`<th key=${name} scope="col" title=${type} aria-sort=${direction}>
      <button type="button" onClick=${() => sort.by(name)}>${name}</button>
    </th>`;
  };
  const row = (at: number) => html`<tr key=${at} aria-rowindex=${at + 2}>
    ${
      action !== undefined &&
      html`<td><button type="button" class="quiet" aria-label=${`${action.label}: row ${at + 1}`} onClick=${() => action.run(at)}>${action.label}</button></td>`
    }
    ${rows.columns.map(({ name }, column) => html`<${CellView} key=${name} cell=${rows.cell(at, column)} />`)}
    ${deferred.map((column) => html`<${DeferredCell} key=${column.name} row=${at} column=${column} />`)}
  </tr>`;
  const space = (count: number) =>
    count > 0 && html`<tbody aria-hidden="true" style=${{ height: `${count * rowHeight}px` }}></tbody>`;
  const widths = [...(action === undefined ? [] : [100]), ...columns.map(({ type }) => widthOf(type))];
  const total = widths.reduce((sum, width) => sum + width, 0);
  return html`<div class=${isLong ? "scroll many" : "scroll"} ref=${box} tabindex="0" role="region" aria-label=${caption}>
    <table class="rows" aria-rowcount=${rows.length + 1} style=${isLong ? { width: `${total}px`, "--row": `${rowHeight}px` } : {}}>
      <caption class="hidden">${caption}</caption>
      ${isLong && html`<colgroup>${widths.map((width, at) => html`<col key=${at} style=${{ width: `${width}px` }} />`)}</colgroup>`}
      <thead>
        <tr aria-rowindex="1">
          ${action !== undefined && html`<th scope="col"><span class="hidden">Action</span></th>`}
          ${columns.map(header)}
        </tr>
      </thead>
      ${space(from)}
      <tbody>${Array.from({ length: Math.max(0, to - from) }, (_, at) => row(from + at))}</tbody>
      ${space(rows.length - to)}
    </table>
    ${rows.length === 0 && html`<p class="muted">No row.</p>`}
  </div>`;
};
