import type { ArrowField, TagEntry, VersionEntry } from "../api.ts";
import { html } from "../html.ts";
import { vectorColumns } from "../schema.ts";
import { type Field, fieldGroups } from "./fields.ts";
import type { Form, Problem } from "./form.ts";
import { VectorField } from "./vector-field.ts";

/** What the form offers as suggestions. Parts that are not known yet are empty. */
export interface Suggestions {
  readonly columns: readonly ArrowField[];
  readonly versions: readonly VersionEntry[];
  readonly tags: Readonly<Record<string, TagEntry>>;
}

interface QueryFormProps {
  readonly table: string;
  readonly form: Form;
  readonly problems: readonly Problem[];
  readonly suggestions: Suggestions;
  readonly change: (key: string, value: string) => void;
}

export const QueryForm = ({ table, form, problems, suggestions, change }: QueryFormProps) => {
  const vectors = vectorColumns(suggestions.columns);
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
      list=${key === "version" ? "versions" : undefined}
      placeholder=${key === "k" ? "10" : placeholder}
      aria-invalid=${problems.some((problem) => problem.key === key)}
      onInput=${(event: Event) => change(key, textOf(event))}
    />`;
  };

  const field = (entry: Field) => {
    const { key, label, kind, placeholder = "" } = entry;
    const problem = problems.find((candidate) => candidate.key === key);
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
      ${content()}${problem !== undefined && html`<span class="problem" role="alert">${problem.message}</span>`}
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
    ${fieldGroups.map(
      ({ title, open, fields }) => html`<details key=${title} class="group" open=${open || isSet(fields)}>
        <summary>${title}</summary>
        <div class="fields">${fields.map(field)}</div>
      </details>`,
    )}`;
};
