import { formatValue } from "./format.ts";
import { html } from "./html.ts";
import { sparklinePath } from "./sparkline.ts";

/** The rows of a query. */
export interface Rows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Values by row, in the order of the columns: vectors as arrays of numbers. */
  readonly rows: readonly (readonly unknown[])[];
}

/** Values as plain JavaScript: Arrow's vectors become arrays, its structures objects. */
const plain = (value: unknown): unknown => {
  if (value === null || typeof value !== "object") return value;
  if (value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<unknown>);
  if ("toArray" in value && typeof value.toArray === "function") return plain(value.toArray());
  if (Array.isArray(value)) return value.map(plain);
  if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON());
  return value;
};

const moment = /^(Date|Timestamp)/;

const shownValue = (value: unknown, type: string): unknown =>
  moment.test(type) && typeof value === "number" ? new Date(value) : plain(value);

/** @param file an Arrow IPC file. */
export const readRows = async (file: Uint8Array): Promise<Rows> => {
  const { tableFromIPC } = await import("apache-arrow");
  const table = tableFromIPC(file);
  const columns = table.schema.fields.map(({ name, type }) => ({ name, type: String(type) }));
  const vectors = columns.map((_, index) => table.getChildAt(index));
  const rows = Array.from({ length: table.numRows }, (_, row) =>
    vectors.map((vector, column) => shownValue(vector?.get(row), columns[column]?.type ?? "")),
  );
  return { columns, rows };
};

export const isVector = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 1 && value.every((entry) => typeof entry === "number");

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

const cell = (value: unknown) =>
  isVector(value)
    ? html`<td><${Sparkline} values=${value} /></td>`
    : html`<td class=${typeof value === "number" || typeof value === "bigint" ? "number" : value === null ? "muted" : ""}>
        ${formatValue(value)}
      </td>`;

interface RowsTableProps {
  readonly rows: Rows;
  readonly caption: string;
  /** A button for each row. */
  readonly action?: { readonly label: string; readonly run: (row: readonly unknown[]) => void } | undefined;
}

export const RowsTable = ({ rows: { columns, rows }, caption, action }: RowsTableProps) =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table class="rows">
      <caption class="hidden">${caption}</caption>
      <thead>
        <tr>
          ${action !== undefined && html`<th><span class="hidden">Action</span></th>`}
          ${columns.map(({ name, type }) => html`<th key=${name} title=${type}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row, index) => html`<tr key=${index}>
            ${
              action !== undefined &&
              html`<td><button type="button" class="quiet" onClick=${() => action.run(row)}>${action.label}</button></td>`
            }
            ${row.map(cell)}
          </tr>`,
        )}
      </tbody>
    </table>
    ${rows.length === 0 && html`<p class="muted">No row.</p>`}
  </div>`;
