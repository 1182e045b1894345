import { useEffect, useState } from "preact/hooks";
import { type Cell, textOf } from "./cell.ts";
import { html } from "./html.ts";
import { useAction } from "./load.ts";
import { Failure } from "./parts.ts";
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

/** An image of a value, drawn at the reader's request. An `img` runs no script and loads nothing, whatever its bytes hold. */
const Thumbnail = ({ bytes, type, name }: { bytes: Uint8Array; type: string; name: string }) => {
  const [address, setAddress] = useState<string | undefined>();
  const [failed, setFailed] = useState(false);
  useEffect(() => () => (address === undefined ? undefined : URL.revokeObjectURL(address)), [address]);
  if (failed) return html`<span class="problem">no valid ${name}</span>`;
  if (address === undefined) {
    const show = (): void => setAddress(URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type })));
    return html`<button type="button" class="quiet" onClick=${show}>Show</button>`;
  }
  return html`<img class="thumbnail" src=${address} alt=${`${name} of this row`} onError=${() => setFailed(true)} />`;
};

const maxTextLength = 200;

const cut = (text: string): string => (text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text);

const classes: Readonly<Record<Cell["kind"], string>> = {
  null: "muted",
  number: "number",
  text: "",
  vector: "",
  bytes: "",
};

const content = (cell: Cell) => {
  if (cell.kind === "vector" && cell.numbers.length > 1) return html`<${Sparkline} values=${cell.numbers} />`;
  if (cell.kind === "bytes" && cell.media?.image !== undefined)
    return html`${textOf(cell)} <${Thumbnail} bytes=${cell.bytes} type=${cell.media.image} name=${cell.media.name} />`;
  return cut(textOf(cell));
};

export const CellView = ({ cell }: { cell: Cell }) => html`<td class=${classes[cell.kind]}>${content(cell)}</td>`;

/** A column whose values are fetched one by one. */
export interface DeferredColumn {
  readonly name: string;
  readonly type: string;
  readonly load: (row: number) => Promise<Cell>;
}

const DeferredCell = ({ row, column }: { row: number; column: DeferredColumn }) => {
  const [cell, setCell] = useState<Cell | undefined>();
  const { busy, error, run } = useAction();
  if (cell !== undefined) return html`<${CellView} cell=${cell} />`;
  const load = (): void => void run(async () => setCell(await column.load(row)));
  return html`<td>
    ${error === undefined ? html`<button type="button" class="quiet" disabled=${busy} aria-label=${`Load ${column.name} of row ${row + 1}`} onClick=${load}>Load</button>` : html`<${Failure} error=${error} />`}
  </td>`;
};

interface RowsTableProps {
  readonly rows: Rows;
  readonly deferred?: readonly DeferredColumn[];
  readonly caption: string;
  /** A button for each row. */
  readonly action?: { readonly label: string; readonly run: (row: number) => void } | undefined;
}

export const RowsTable = ({ rows, deferred = [], caption, action }: RowsTableProps) =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table class="rows">
      <caption class="hidden">${caption}</caption>
      <thead>
        <tr>
          ${action !== undefined && html`<th><span class="hidden">Action</span></th>`}
          ${[...rows.columns, ...deferred].map(({ name, type }) => html`<th key=${name} title=${type}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${Array.from(
          { length: rows.length },
          (_, row) => html`<tr key=${row}>
            ${
              action !== undefined &&
              html`<td><button type="button" class="quiet" onClick=${() => action.run(row)}>${action.label}</button></td>`
            }
            ${rows.columns.map(({ name }, column) => html`<${CellView} key=${name} cell=${rows.cell(row, column)} />`)}
            ${deferred.map((column) => html`<${DeferredCell} key=${column.name} row=${row} column=${column} />`)}
          </tr>`,
        )}
      </tbody>
    </table>
    ${rows.length === 0 && html`<p class="muted">No row.</p>`}
  </div>`;
