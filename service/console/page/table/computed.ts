import { useState } from "preact/hooks";
import type { JsonField } from "../../../query/answers.ts";
import type { Description } from "../api.ts";
import { mayChange, SendButton } from "../changes/send-button.ts";
import { useSession } from "../context.ts";
import { html } from "../html.ts";
import { addressOf } from "../route.ts";

interface Refreshable {
  readonly table: string;
  readonly branch: string | undefined;
}

/** JSON that the service or the engine has written; undefined if it is none. */
const parsed = (text: string | undefined): Record<string, unknown> | undefined => {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** How the values of a column are computed: by SQL or a Function; undefined for a column that is not. */
export const computedBy = ({ metadata = {} }: JsonField): string | undefined => {
  const expression = metadata["computed_column.expression"];
  if (expression !== undefined) return expression;
  const bound = parsed(metadata["lakehead.function"])?.function as { id?: string[]; version?: number } | undefined;
  return bound?.id === undefined ? undefined : `Function ${bound.id.join("$")}, version ${bound.version}`;
};

/** How a column is computed, with the request that computes new and changed rows. */
export const Computed = ({ table, branch, field }: Refreshable & { field: JsonField }) => {
  const { me } = useSession();
  const by = computedBy(field);
  if (by === undefined) return null;
  const body = { column: field.name, ...(branch === undefined ? {} : { branch }) };
  return html`<code>${by}</code> ${
    mayChange(me, "write") &&
    html`<${SendButton}
      label="Refresh"
      description=${`Refresh ${field.name}`}
      title=${`Compute new and changed rows of ${field.name}`}
      request=${{ table, operation: "backfill_column", body }}
    />`
  }`;
};

/** Adds a column that SQL computes, after the request was shown. */
export const AddComputed = ({ table, branch }: Refreshable) => {
  const { me } = useSession();
  const [name, setName] = useState("");
  const [expression, setExpression] = useState("");
  if (!mayChange(me)) return null;
  const body = { new_columns: [{ name, computed: expression }], ...(branch === undefined ? {} : { branch }) };
  const input = (label: string, value: string, set: (value: string) => void, placeholder: string) =>
    html`<label>${label}<input value=${value} placeholder=${placeholder} onInput=${(event: Event) => set((event.target as HTMLInputElement).value)} /></label>`;
  return html`<details class="create-index">
    <summary>Add a computed column</summary>
    <div class="index-form" role="group" aria-label="Add a computed column">
      ${input("Name of the column", name, setName, "double")}
      ${input("SQL expression", expression, setExpression, "id * 2")}
      ${
        name !== "" &&
        expression !== "" &&
        html`<${SendButton}
          label="Add"
          description="Add the computed column"
          title=${`Add the computed column ${name}; Refresh then computes its rows`}
          request=${{ table, operation: "add_columns", body }}
        />`
      }
    </div>
  </details>`;
};

/** Of a materialized view: its source and its query, with the request that brings it up to date. */
export const ViewOf = ({ table, description }: { table: string; description: Description }) => {
  const { me } = useSession();
  const view = parsed(description.schema.metadata?.["mv.definition"]);
  if (view === undefined) return null;
  const source = String(view.source_table);
  const limits = [
    ...(typeof view.filter === "string" ? [`where ${view.filter}`] : []),
    ...(typeof view.limit === "number" ? [`limit ${view.limit}`] : []),
  ];
  return html`<p>
    A materialized view of <a href=${addressOf({ view: "table", table: source })}>${source}</a>
    ${limits.length > 0 && html` <code>${limits.join(" ")}</code>`}
    ${
      mayChange(me, "write") &&
      html` <${SendButton}
        label="Refresh"
        description=${`Refresh the view ${table}`}
        title="Bring the view up to date"
        request=${{ table, operation: "materialized_view/refresh", body: {} }}
      />`
    }
  </p>`;
};
