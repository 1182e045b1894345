import { useEffect, useState } from "preact/hooks";
import type { JsonField } from "../../../query/answers.ts";
import type { Api, Description, Query } from "../api.ts";
import { type Cell, textOf } from "../cell.ts";
import { useSession } from "../context.ts";
import { formatCount } from "../format.ts";
import { html } from "../html.ts";
import { useAction, useLoad } from "../load.ts";
import { Failure, Panel } from "../parts.ts";
import { type Rows, readRows } from "../rows.ts";
import { type DeferredColumn, RowsTable } from "../rows-table.ts";
import { isBlob, shownColumns, typeName, vectorColumns } from "../schema.ts";
import { openBlob } from "./blob-cell.ts";
import { type Browse, isSortable, pageSizes, queryOf, sortedBy } from "./browse.ts";
import { csvOf, download, maxExported } from "./export.ts";
import { RowDrawer } from "./row-drawer.ts";

interface Page {
  readonly rows: Rows;
  readonly from: number;
  readonly columns: readonly JsonField[];
  readonly deferred: readonly DeferredColumn[];
  readonly unreadable: readonly JsonField[];
  /** Rows of the filter; undefined if the credentials do not permit to count them. */
  readonly total: number | undefined;
  /** The same rows in one file, from the first one. */
  readonly file: () => Promise<Uint8Array>;
}

/** A page without wide values. All reads are of one version, so that a value belongs to its row. */
const loadPage = async (
  api: Api,
  table: string,
  { version, schema }: Description,
  browse: Browse,
  mayCount: boolean,
  signal: AbortSignal,
): Promise<Page> => {
  const { names, wide, unreadable } = shownColumns(schema.fields);
  const isShown = (name: string): boolean => !browse.hidden.includes(name);
  const chosen = (names ?? schema.fields.map(({ name }) => name)).filter(isShown);
  const isAll = chosen.length === schema.fields.length;
  const columns = chosen.length === 0 ? { columns: ["_rowid"], with_row_id: true } : { columns: chosen };
  const selection = { ...queryOf(browse), ...(isAll ? {} : columns), version };
  const from = browse.page * browse.size;
  const read = async (query: Query): Promise<Rows> => readRows(await api.rows(table, query, signal));
  const [rows, total] = await Promise.all([
    read({ ...selection, k: browse.size, ...(from === 0 ? {} : { offset: from }) }),
    mayCount
      ? api.countRows(table, browse.filter, { version, branch: browse.branch }, signal).catch(() => undefined)
      : undefined,
  ]);
  const deferred = wide
    .filter(({ name }) => isShown(name))
    .map((field) => {
      const { name, type } = field;
      const cellOf = async (row: number, columns: object): Promise<Cell> => {
        const one = { ...queryOf(browse), version, k: 1, offset: from + row, ...columns };
        return (await readRows(await api.rows(table, one))).cell(0, 0);
      };
      const load = async (row: number): Promise<Cell> => {
        if (!isBlob(field)) return cellOf(row, { columns: [name] });
        const id = textOf(await cellOf(row, { columns: ["_rowid"], with_row_id: true }));
        return openBlob((...[first, last, signal]) =>
          api.blobPart(table, name, id, { version, branch: browse.branch }, [first, last], signal),
        );
      };
      return { name, type: isBlob(field) ? "blob" : typeName(type), load };
    });
  const file = (): Promise<Uint8Array> => api.rows(table, { ...selection, k: maxExported });
  return { rows, from, columns: schema.fields, deferred, unreadable, total, file };
};

const Filter = ({ filter, apply }: { filter: string; apply: (filter: string) => void }) => {
  const [text, setText] = useState(filter);
  useEffect(() => setText(filter), [filter]);
  const submit = (event: Event): void => {
    event.preventDefault();
    apply(text.trim());
  };
  return html`<form class="inline rows-filter" onSubmit=${submit}>
    <input
      aria-label="Filter rows"
      placeholder="Filter: price > 10 AND kind = 'a'"
      spellcheck=${false}
      autocomplete="off"
      value=${text}
      onInput=${(event: InputEvent) => setText((event.target as HTMLInputElement).value)}
    />
    <button type="submit">Filter</button>
    ${filter !== "" && html`<button type="button" class="quiet" onClick=${() => apply("")}>All rows</button>`}
  </form>`;
};

const ColumnPicker = ({
  columns,
  hidden,
  change,
}: {
  columns: readonly JsonField[];
  hidden: readonly string[];
  change: (hidden: readonly string[]) => void;
}) => {
  const toggle = (name: string): void =>
    change(hidden.includes(name) ? hidden.filter((other) => other !== name) : [...hidden, name]);
  return html`<details class="picker">
    <summary>Columns: ${columns.length - hidden.length} of ${columns.length}</summary>
    <div>
      <button type="button" class="quiet" onClick=${() => change([])}>All</button>
      <button type="button" class="quiet" onClick=${() => change(columns.map(({ name }) => name))}>None</button>
      ${columns.map(
        ({ name }) => html`<label key=${name} class="flag-field">
          <input type="checkbox" checked=${!hidden.includes(name)} onChange=${() => toggle(name)} /> ${name}
        </label>`,
      )}
    </div>
  </details>`;
};

const Export = ({ table, page }: { table: string; page: Page }) => {
  const { busy, error, run } = useAction();
  const arrow = (): void => {
    void run(async () =>
      download(new Uint8Array(await page.file()), "application/vnd.apache.arrow.file", `${table}.arrow`),
    );
  };
  const csv = (): void => {
    void run(async () => download(csvOf(await readRows(await page.file())), "text/csv;charset=utf-8", `${table}.csv`));
  };
  const parquet = (): void => {
    void run(async () => {
      const [{ tableFromIPC }, { parquetOf }] = await Promise.all([
        import("apache-arrow"),
        import("./parquet-file.ts"),
      ]);
      download(parquetOf(tableFromIPC(await page.file())), "application/vnd.apache.parquet", `${table}.parquet`);
    });
  };
  const isPart = page.total === undefined || page.total > maxExported;
  const title = `The rows of the filter${isPart ? `, at most ${formatCount(maxExported)}` : ""}, with the columns above except those to load`;
  return html`<button type="button" class="quiet" disabled=${busy} title=${title} onClick=${csv}>Export CSV</button>
    <button type="button" class="quiet" disabled=${busy} title=${title} onClick=${parquet}>Export Parquet</button>
    <button type="button" class="quiet" disabled=${busy} title=${title} onClick=${arrow}>Export Arrow</button>
    ${isPart && html`<span class="muted">at most ${formatCount(maxExported)} rows</span>`}
    ${error !== undefined && html`<${Failure} error=${error} />`}`;
};

const Pager = ({ browse, page, put }: { browse: Browse; page: Page; put: (next: Browse) => void }) => {
  const { rows, from, total } = page;
  const to = from + rows.length;
  const isLast = total === undefined ? rows.length < browse.size : to >= total;
  const range = rows.length === 0 ? "No row" : `Rows ${formatCount(from + 1)} to ${formatCount(to)}`;
  const turn = (by: number) => () => put({ ...browse, page: browse.page + by });
  const lastPage = total === undefined ? browse.page : Math.max(0, Math.ceil(total / browse.size) - 1);
  return html`<span role="status">${range}${total !== undefined && ` of ${formatCount(total)}`}</span>
    <button type="button" disabled=${browse.page === 0} onClick=${() => put({ ...browse, page: 0 })}>First</button>
    <button type="button" disabled=${browse.page === 0} onClick=${turn(-1)}>Previous</button>
    <button type="button" disabled=${isLast} onClick=${turn(1)}>Next</button>
    ${total !== undefined && html`<button type="button" disabled=${isLast} onClick=${() => put({ ...browse, page: lastPage })}>Last</button>`}
    <label class="flag-field"
      >Rows of a page
      <select
        value=${browse.size}
        onChange=${(event: Event) => put({ ...browse, page: 0, size: Number((event.target as HTMLSelectElement).value) })}
      >
        ${pageSizes.map((size) => html`<option key=${size} value=${size}>${formatCount(size)}</option>`)}
      </select></label
    >`;
};

interface Props {
  readonly table: string;
  readonly describing: Promise<Description>;
  /** Describes and reads once more. */
  readonly again: () => void;
  readonly browse: Browse;
  readonly put: (next: Browse) => void;
}

/** The rows of a table, by pages. */
export const RowsPanel = ({ table, describing, again, browse, put }: Props) => {
  const { api, me } = useSession();
  const [opened, setOpened] = useState<number | undefined>();
  const may = (scope: string): boolean => me.scopes.includes(scope);
  const loaded = useLoad<Page>(
    async (signal) =>
      may("read") ? loadPage(api, table, await describing, browse, may("stats"), signal) : new Promise<Page>(() => {}),
    [describing],
  );
  const page = { ...loaded, reload: again };
  useEffect(() => setOpened(undefined), [page.value]);
  const filter =
    may("read") &&
    html`<${Filter} filter=${browse.filter} apply=${(text: string) => put({ ...browse, filter: text, page: 0 })} />`;
  return html`<${Panel} title="Rows" scope="read" loaded=${page} extra=${filter} wide>
    ${(value: Page) => html`
      <div class="rows-bar">
        <${Pager} browse=${browse} page=${value} put=${put} />
        <${ColumnPicker} columns=${value.columns} hidden=${browse.hidden} change=${(hidden: readonly string[]) => put({ ...browse, hidden })} />
        <${Export} table=${table} page=${value} />
      </div>
      <${RowsTable}
        rows=${value.rows}
        deferred=${value.deferred}
        caption="Rows"
        action=${{ label: "Open", run: setOpened }}
        sort=${{
          column: browse.order,
          descending: browse.descending,
          columns: value.columns.filter(isSortable).map(({ name }) => name),
          by: (column: string) => put(sortedBy(browse, column)),
        }}
      />
      ${value.unreadable.map(
        (field) => html`<p key=${field.name} class="muted">
          Not shown: ${field.name}. The browser's Arrow reader does not know the type ${typeName(field.type)}.
        </p>`,
      )}
      ${
        opened !== undefined &&
        html`<${RowDrawer}
          table=${table}
          branch=${browse.branch}
          rows=${value.rows}
          deferred=${value.deferred}
          vectors=${vectorColumns(value.columns).map(({ name }) => name)}
          row=${opened}
          number=${value.from + opened + 1}
          close=${() => setOpened(undefined)}
        />`
      }
    `}
  </${Panel}>`;
};
