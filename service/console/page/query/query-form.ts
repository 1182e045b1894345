import type { JsonField, TagEntry, VersionEntry } from "../../../query/answers.ts";
import { textOf } from "../cell.ts";
import { useSession } from "../context.ts";
import { html } from "../html.ts";
import { useLoad } from "../load.ts";
import { readRows } from "../rows.ts";
import { vectorColumns } from "../schema.ts";
import { comparedColumn, completionsOf, didYouMean, placeholderOf } from "./complete.ts";
import { type Field, fieldGroups } from "./fields.ts";
import type { Form, Problem } from "./form.ts";
import { VectorField } from "./vector-field.ts";

/** What the form offers as suggestions. Parts that are not known yet are empty. */
export interface Suggestions {
  readonly columns: readonly JsonField[];
  readonly versions: readonly VersionEntry[];
  readonly tags: Readonly<Record<string, TagEntry>>;
}

/** Fields whose text the table's columns complete. */
const completed: readonly string[] = ["filter", "columns", "order_by"];

const sampledRows = 200;

/** Distinct values of a column in the first rows, as literals of an expression. */
const useColumnValues = (table: string, column: string | undefined): readonly string[] => {
  const { api, me } = useSession();
  const { value = [] } = useLoad<readonly string[]>(
    async (signal) => {
      if (column === undefined || !me.scopes.includes("read")) return [];
      const rows = await readRows(await api.rows(table, { k: sampledRows, columns: [column] }, signal));
      const cells = Array.from({ length: rows.length }, (_, row) => rows.cell(row, 0));
      const literals = cells
        .filter(({ kind }) => kind === "text" || kind === "number")
        .map((cell) => (cell.kind === "number" ? textOf(cell) : `'${textOf(cell).replaceAll("'", "''")}'`));
      return [...new Set(literals)];
    },
    [api, table, column],
  );
  return value;
};

interface QueryFormProps {
  readonly table: string;
  readonly form: Form;
  readonly problems: readonly Problem[];
  readonly suggestions: Suggestions;
  readonly change: (key: string, value: string) => void;
}

export const QueryForm = ({ table, form, problems, suggestions, change }: QueryFormProps) => {
  const vectors = vectorColumns(suggestions.columns);
  const compared = comparedColumn(form.filter ?? "", suggestions.columns)?.name;
  const values = useColumnValues(table, compared);
  const textOf = (event: Event): string => (event.target as HTMLInputElement).value;

  /** A table of several vector columns has no default: the first one is chosen where the reader can see it. */
  const changeVector = (value: string): void => {
    change("vector", value);
    const [first, ...others] = vectors;
    if (value !== "" && first !== undefined && others.length > 0 && !form.vector_column)
      change("vector_column", first.name);
  };

  const input = ({ key, kind, choices = [], placeholder = "" }: Field) => {
    const id = `field-${key}`;
    const value = form[key] ?? "";
    const options = key === "vector_column" ? vectors.map(({ name }) => name) : choices;
    if (options.length > 0)
      return html`<select id=${id} value=${value} onChange=${(event: Event) => change(key, textOf(event))}>
        <option value="">${key === "vector_column" && vectors.length === 1 ? vectors[0]?.name : "default"}</option>
        ${options.map((option) => html`<option key=${option} value=${option}>${option}</option>`)}
      </select>`;
    return html`<input
      id=${id}
      value=${value}
      inputmode=${kind === "count" ? "numeric" : "text"}
      spellcheck=${false}
      autocomplete="off"
      list=${key === "version" ? "versions" : completed.includes(key) ? `completions-${key}` : undefined}
      placeholder=${key === "k" ? "10" : (placeholderOf(key, suggestions.columns) ?? placeholder)}
      aria-invalid=${problems.some((problem) => problem.key === key)}
      onInput=${(event: Event) => change(key, textOf(event))}
    />`;
  };

  const field = (entry: Field) => {
    const { key, label, kind, placeholder = "" } = entry;
    const problem = problems.find((candidate) => candidate.key === key);
    const hint = didYouMean(key, form[key] ?? "", suggestions.columns);
    const content = () => {
      if (kind === "vector")
        return html`<${VectorField}
          table=${table}
          columns=${vectors}
          column=${form.vector_column ?? ""}
          value=${form.vector ?? ""}
          placeholder=${placeholder}
          change=${changeVector}
        />`;
      if (kind === "flag")
        return html`<label class="flag-field"
          ><input
            type="checkbox"
            checked=${form[key] === "true"}
            onChange=${(event: Event) => change(key, (event.target as HTMLInputElement).checked ? "true" : "")}
          />
          ${label}</label
        >`;
      return html`<label for=${`field-${key}`}>${label}</label>${input(entry)}`;
    };
    return html`<div key=${key} class=${`field ${kind}`}>
      ${content()}${hint !== undefined && html`<span class="muted" role="status">${hint}</span>`}${problem !== undefined && html`<span class="problem" role="alert">${problem.message}</span>`}
    </div>`;
  };

  const isSet = (group: readonly Field[]): boolean => group.some(({ key }) => (form[key] ?? "") !== "");
  const tagOf = (version: number): string =>
    Object.entries(suggestions.tags)
      .filter(([, tag]) => tag.version === version && tag.branch === undefined)
      .map(([name]) => name)
      .join(", ");
  return html`<datalist id="versions">
      ${suggestions.versions
        .toReversed()
        .slice(0, 100)
        .map(({ version }) => html`<option key=${version} value=${version}>${tagOf(version)}</option>`)}
    </datalist>
    ${completed.map(
      (key) => html`<datalist key=${key} id=${`completions-${key}`}>
        ${completionsOf(key, form[key] ?? "", suggestions.columns, values).map((text) => html`<option key=${text} value=${text} />`)}
      </datalist>`,
    )}
    ${fieldGroups.map(
      ({ title, open, fields }) => html`<details key=${title} class="group" open=${open || isSet(fields)}>
        <summary>${title}</summary>
        <div class="fields">${fields.map(field)}</div>
      </details>`,
    )}`;
};
