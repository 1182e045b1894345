import { numbersOf } from "../cell.ts";
import { useSession } from "../context.ts";
import { html } from "../html.ts";
import { useAction } from "../load.ts";
import { Failure } from "../parts.ts";
import { readRows } from "../rows.ts";
import { Sparkline } from "../rows-table.ts";
import type { VectorColumn } from "../schema.ts";
import { parseVector, randomVector } from "./form.ts";

interface VectorFieldProps {
  readonly table: string;
  readonly columns: readonly VectorColumn[];
  /** Name of the chosen vector column; empty for the only one. */
  readonly column: string;
  readonly value: string;
  readonly placeholder: string;
  readonly change: (value: string) => void;
}

const preview = (text: string): readonly number[] | undefined => {
  try {
    const [first, ...others] = parseVector(text.trim());
    const isNumber = (value: unknown): value is number => typeof value === "number";
    return isNumber(first) && others.every(isNumber) ? [first, ...others] : undefined;
  } catch {
    return undefined;
  }
};

/** A vector: typed or pasted, of a row of the table, or random. */
export const VectorField = ({ table, columns, column, value, placeholder, change }: VectorFieldProps) => {
  const { api, me } = useSession();
  const { busy, error, run } = useAction();
  const chosen = columns.find(({ name }) => name === column) ?? columns[0];
  const fromRow = (): void => {
    if (chosen === undefined) return;
    void run(async () => {
      const offset = Math.floor(Math.random() * 100);
      const read = async (from: number) =>
        readRows(await api.rows(table, { k: 1, offset: from, columns: [chosen.name] }));
      const found = await read(offset);
      const rows = found.length > 0 ? found : await read(0);
      const numbers = rows.length === 0 ? undefined : numbersOf(rows.cell(0, 0));
      if (numbers === undefined)
        throw new Error(`this row of ${chosen.name} has no vector of finite numbers: try again`);
      change(JSON.stringify(numbers));
    });
  };
  const random = (): void => {
    if (chosen !== undefined) change(randomVector(chosen.dimensions));
  };
  const numbers = preview(value);
  return html`<label for="field-vector">Vector</label>
    <textarea
      id="field-vector"
      rows="2"
      spellcheck=${false}
      placeholder=${placeholder}
      value=${value}
      onInput=${(event: InputEvent) => change((event.target as HTMLTextAreaElement).value)}
    ></textarea>
    <div class="buttons">
      <button
        type="button"
        class="quiet"
        disabled=${chosen === undefined || busy || !me.scopes.includes("read")}
        title=${me.scopes.includes("read") ? "" : "Requires the scope read"}
        onClick=${fromRow}
      >
        From a row
      </button>
      <button type="button" class="quiet" disabled=${chosen === undefined} onClick=${random}>Random</button>
      ${value !== "" && html`<button type="button" class="quiet" onClick=${() => change("")}>None</button>`}
      ${numbers !== undefined && html`<${Sparkline} values=${numbers} /> <span class="muted">${numbers.length}</span>`}
      ${chosen !== undefined && numbers !== undefined && numbers.length !== chosen.dimensions && html`<span class="problem">${chosen.name} has ${chosen.dimensions}</span>`}
    </div>
    ${error !== undefined && html`<${Failure} error=${error} />`}`;
};
