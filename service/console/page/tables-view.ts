import { useMemo, useState } from "preact/hooks";
import { useSession } from "./context.ts";
import { html } from "./html.ts";
import { useLoad } from "./load.ts";
import { Panel } from "./parts.ts";
import { addressOf } from "./route.ts";
import { groupByNamespace, matching } from "./table-names.ts";

/** Names that are drawn at once: more would slow down typing. */
const maxShown = 500;

export const TablesView = () => {
  const { api } = useSession();
  const tables = useLoad((signal) => api.tables(signal), [api]);
  const [filter, setFilter] = useState("");
  const found = useMemo(() => matching(tables.value ?? [], filter), [tables.value, filter]);
  const groups = useMemo(() => groupByNamespace(found.slice(0, maxShown)), [found]);
  const filterBox = html`<input
    type="search"
    placeholder="Filter"
    aria-label="Filter tables by name"
    value=${filter}
    onInput=${(event: InputEvent) => setFilter((event.target as HTMLInputElement).value)}
  />`;
  return html`<h1 class="hidden">Tables</h1>
    <${Panel} title="Tables" loaded=${tables} extra=${filterBox} wide>
      ${(all: readonly string[]) => html`
        <p class="muted" role="status">
          ${found.length === all.length ? `${all.length} tables` : `${found.length} of ${all.length} tables`}
          ${found.length > maxShown && `, the first ${maxShown} are shown: narrow the filter`}
        </p>
        ${all.length === 0 && html`<p>There is no table that your credentials permit.</p>`}
        <div class="namespaces">
          ${groups.map(
            ({ namespace, tables }) => html`<section key=${namespace.join("$")}>
              <h3>${namespace.length === 0 ? "root" : namespace.join(" / ")} <span class="muted">${tables.length}</span></h3>
              <ul>
                ${tables.map(
                  ({ id, name }) =>
                    html`<li key=${id}><a href=${addressOf({ view: "table", table: id })}>${name}</a></li>`,
                )}
              </ul>
            </section>`,
          )}
        </div>
      `}
    </${Panel}>`;
};
