import { useEffect, useRef } from "preact/hooks";
import { numbersOf, textOf } from "../cell.ts";
import { html } from "../html.ts";
import { useAction } from "../load.ts";
import { CopyButton, Failure } from "../parts.ts";
import { openAndRun } from "../query/pending.ts";
import type { Rows } from "../rows.ts";
import { CellView, DeferredCell, type DeferredColumn } from "../rows-table.ts";

interface Props {
  readonly table: string;
  readonly branch: string | undefined;
  readonly rows: Rows;
  readonly deferred: readonly DeferredColumn[];
  /** Names of the vector columns. */
  readonly vectors: readonly string[];
  readonly row: number;
  /** Number of the row among those of the filter, from 1. */
  readonly number: number;
  readonly close: () => void;
}

/** All values of a row in full. */
export const RowDrawer = ({ table, branch, rows, deferred, vectors, row, number, close }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const { busy, error, run } = useAction();
  useEffect(() => dialog.current?.showModal(), []);
  const similar = (name: string): void => {
    void run(async () => {
      const at = rows.columns.findIndex((column) => column.name === name);
      const cell = at === -1 ? await deferred.find((column) => column.name === name)?.load(row) : rows.cell(row, at);
      const numbers = cell && numbersOf(cell);
      if (numbers === undefined) throw new Error(`${name} of this row is no vector of finite numbers`);
      const query = { vector: numbers, vector_column: name, k: 10, prefilter: true, branch };
      openAndRun({ table, kind: "rows", query });
    });
  };
  const similarButton = (name: string) =>
    vectors.includes(name) &&
    html`<button type="button" disabled=${busy} onClick=${() => similar(name)}>Find similar</button>`;
  return html`<dialog class="drawer" ref=${dialog} aria-labelledby="drawer-title" onClose=${close}>
    <header>
      <h2 id="drawer-title">Row ${number}</h2>
      <button type="button" autofocus onClick=${() => dialog.current?.close()}>Close</button>
    </header>
    ${error !== undefined && html`<${Failure} error=${error} />`}
    <table class="rows whole">
      <tbody>
        ${rows.columns.map(({ name, type }, column) => {
          const cell = rows.cell(row, column);
          return html`<tr key=${name}>
            <th scope="row" title=${type}>${name}</th>
            <${CellView} cell=${cell} whole />
            <td class="buttons">
              ${cell.kind !== "null" && cell.kind !== "bytes" && html`<${CopyButton} text=${textOf(cell)} />`}
              ${similarButton(name)}
            </td>
          </tr>`;
        })}
        ${deferred.map(
          (column) => html`<tr key=${column.name}>
            <th scope="row" title=${column.type}>${column.name}</th>
            <${DeferredCell} row=${row} column=${column} />
            <td class="buttons">${similarButton(column.name)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </dialog>`;
};
