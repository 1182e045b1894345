import type { JsonField } from "../../../query/answers.ts";
import type { Query } from "../api.ts";
import { type Cell, numbersOf, textOf } from "../cell.ts";
import { useSession } from "../context.ts";
import { html } from "../html.ts";
import { useLoad } from "../load.ts";
import { readRows } from "../rows.ts";
import { vectorColumns } from "../schema.ts";
import { quoted } from "./complete.ts";
import { openAndRun } from "./pending.ts";

interface Example {
  readonly title: string;
  readonly shows: string;
  readonly query: Query;
}

/** Values of one row by the names of their columns. */
type Sample = Readonly<Record<string, Cell>>;

const literalOf = (cell: Cell | undefined): string | undefined => {
  if (cell?.kind === "number") return textOf(cell);
  return cell?.kind === "text" ? `'${textOf(cell).replaceAll("'", "''")}'` : undefined;
};

/** Queries of the table's own columns and values. */
export const examplesOf = (columns: readonly JsonField[], sample: Sample): readonly Example[] => {
  const vectors = vectorColumns(columns).map(({ name }) => name);
  const narrow = columns.map(({ name }) => name).filter((name) => literalOf(sample[name]) !== undefined);
  const value = columns.find(({ name, type: { type } }) => /utf8|string/.test(type) && narrow.includes(name))?.name;
  const compared = value ?? narrow[0];
  const filter = compared === undefined ? undefined : `${quoted(compared)} = ${literalOf(sample[compared])}`;
  const name = vectors.find((vector) => sample[vector] !== undefined);
  const vector = name === undefined ? undefined : numbersOf(sample[name] as Cell);
  const search = { vector, vector_column: name, k: 10, prefilter: true, columns: narrow };
  return [
    ...(filter === undefined
      ? []
      : [{ title: "Find a value", shows: filter, query: { k: 1000, filter, prefilter: true, columns: narrow } }]),
    ...(vector === undefined || narrow.length === 0
      ? []
      : [
          { title: "Search for a vector", shows: `the rows nearest to a row's ${name}`, query: search },
          ...(filter === undefined
            ? []
            : [{ title: "Search with a filter", shows: `the nearest of ${filter}`, query: { ...search, filter } }]),
          {
            title: "Re-rank many rows",
            shows: "the same with refine_factor 100",
            query: { ...search, refine_factor: 100 },
          },
        ]),
    { title: "Read all columns", shows: "of 20,000 rows", query: { k: 20_000, prefilter: true } },
  ];
};

interface Props {
  readonly table: string;
  readonly columns: readonly JsonField[];
}

/** What a reader without a query can begin with. */
export const TryThese = ({ table, columns }: Props) => {
  const { api, me } = useSession();
  const may = me.scopes.includes("read") && me.scopes.includes("analyze");
  const { value: examples = [] } = useLoad<readonly Example[]>(
    async (signal) => {
      if (!may || columns.length === 0) return [];
      const plain = columns.filter(({ type: { type } }) => /^(u?int\d|float|double|utf8|string)/.test(type));
      const [vector] = vectorColumns(columns);
      const names = [...plain.slice(0, 8).map(({ name }) => name), ...(vector === undefined ? [] : [vector.name])];
      if (names.length === 0) return [];
      const rows = await readRows(await api.rows(table, { k: 1, columns: names }, signal));
      if (rows.length === 0) return [];
      return examplesOf(columns, Object.fromEntries(rows.columns.map(({ name }, at) => [name, rows.cell(0, at)])));
    },
    [api, table, columns],
  );
  if (examples.length === 0) return null;
  return html`<section class="try-these" aria-label="Try these">
    <h2>Try these</h2>
    <ul class="plain">
      ${examples.map(
        ({ title, shows, query }) => html`<li key=${title}>
          <button type="button" onClick=${() => openAndRun({ table, kind: "analyze", query })}>${title}</button>
          <span class="muted">${shows}</span>
        </li>`,
      )}
    </ul>
  </section>`;
};
