import { useMemo, useState } from "preact/hooks";
import type { IndexEntry, Statistics } from "../../query/answers.ts";
import type { Api } from "./api.ts";
import { useSession } from "./context.ts";
import { formatBytes, formatCount, formatShare } from "./format.ts";
import { html } from "./html.ts";
import { useLoad } from "./load.ts";
import { MissingScope, Panel } from "./parts.ts";
import { addressOf } from "./route.ts";
import { groupByNamespace, matching } from "./table-names.ts";

/** Tables of a page: each of them costs two requests. */
const pageSize = 25;

/** Milliseconds without a key after which the facts of the tables found are loaded. */
const typingPause = 200;

interface Facts {
  readonly statistics: Statistics | undefined;
  readonly indices: readonly IndexEntry[];
}

/** A table that cannot be read has no facts, and does not end the list. */
const loadFacts = async (
  api: Api,
  ids: readonly string[],
  mayCount: boolean,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Facts>> =>
  new Map(
    await Promise.all(
      ids.map(async (id) => {
        const [statistics, indices] = await Promise.all([
          mayCount ? api.statistics(id, signal).catch(() => undefined) : undefined,
          api.indices(id, signal).catch(() => []),
        ]);
        return [id, { statistics, indices }] as const;
      }),
    ),
  );

/** The share of the rows that the index with the fewest of them has. */
const coverageText = (indices: readonly IndexEntry[]): string => {
  const shares = indices.flatMap(({ num_indexed_rows: indexed = 0, num_unindexed_rows: rest = 0 }) =>
    indexed + rest === 0 ? [] : [indexed / (indexed + rest)],
  );
  if (indices.length === 0) return "no index";
  return shares.length === 0 ? "" : formatShare(Math.min(...shares));
};

const Due = ({ due }: { due: readonly string[] | undefined }) =>
  due !== undefined &&
  due.length > 0 &&
  html`<a href=${addressOf({ view: "maintenance" })} title=${due.join("; ")}>${formatCount(due.length)} due</a>`;

export const TablesView = () => {
  const { api, me } = useSession();
  const mayCount = me.scopes.includes("stats");
  const tables = useLoad((signal) => api.tables(signal), [api]);
  const due = useLoad(
    async (signal) => {
      const list = mayCount ? (await api.maintenance(signal).catch(() => undefined))?.tables : [];
      return new Map(list?.map((state) => [state.id, state.due]));
    },
    [api, mayCount],
  );
  const [filter, setFilter] = useState("");
  const [page, setPage] = useState(0);
  const found = useMemo(() => matching(tables.value ?? [], filter), [tables.value, filter]);
  // In the order of the groups, so that a namespace is on as few pages as it can be.
  const ordered = useMemo(() => groupByNamespace(found).flatMap((group) => group.tables.map(({ id }) => id)), [found]);
  const ids = useMemo(() => ordered.slice(page * pageSize, (page + 1) * pageSize), [ordered, page]);
  const groups = useMemo(() => groupByNamespace(ids), [ids]);
  const facts = useLoad(
    async (signal) => {
      await new Promise((resolve) => setTimeout(resolve, typingPause));
      signal.throwIfAborted();
      return loadFacts(api, ids, mayCount, signal);
    },
    [api, ids, mayCount],
  );
  const search = (event: InputEvent): void => {
    setFilter((event.target as HTMLInputElement).value);
    setPage(0);
  };
  const filterBox = html`<input
    type="search"
    placeholder="Filter"
    aria-label="Filter tables by name"
    value=${filter}
    onInput=${search}
  />`;
  const row = ({ id, name }: { id: string; name: string }) => {
    const { statistics, indices } = facts.value?.get(id) ?? {};
    return html`<tr key=${id} data-table=${id}>
      <th scope="row"><a href=${addressOf({ view: "table", table: id })}>${name}</a></th>
      <td class="number">${statistics && formatCount(statistics.num_rows)}</td>
      <td class="number">${statistics && formatBytes(statistics.total_bytes)}</td>
      <td>${indices && coverageText(indices)}</td>
      <td><${Due} due=${due.value?.get(id)} /></td>
    </tr>`;
  };
  const pages = Math.ceil(found.length / pageSize);
  return html`<h1 class="hidden">Tables</h1>
    <${Panel} title="Tables" loaded=${tables} extra=${filterBox} wide>
      ${(all: readonly string[]) => html`
        <div class="rows-bar">
          <span class="muted" role="status">
            ${found.length === all.length ? `${all.length} tables` : `${found.length} of ${all.length} tables`}
          </span>
          ${
            pages > 1 &&
            html`<button type="button" disabled=${page === 0} onClick=${() => setPage(page - 1)}>Previous</button>
              <span>Page ${page + 1} of ${pages}</span>
              <button type="button" disabled=${page + 1 >= pages} onClick=${() => setPage(page + 1)}>Next</button>`
          }
        </div>
        ${!mayCount && html`<${MissingScope} scope="stats" />`}
        ${all.length === 0 && html`<p>There is no table that your credentials permit.</p>`}
        ${
          found.length > 0 &&
          html`<div class="scroll" tabindex="0" role="region" aria-label="List of tables"><table class="tables">
            <thead>
              <tr>
                <th>Table</th><th class="number">Rows</th><th class="number">Size</th>
                <th title="Rows that the least complete index has">Indexed</th><th>Maintenance</th>
              </tr>
            </thead>
            ${groups.map(
              ({ namespace, tables }) => html`<tbody key=${namespace.join("$")}>
                <tr><td colspan="5"><h3>${namespace.length === 0 ? "root" : namespace.join(" / ")}</h3></td></tr>
                ${tables.map(row)}
              </tbody>`,
            )}
          </table></div>`
        }
      `}
    </${Panel}>`;
};
