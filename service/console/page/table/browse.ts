import { useEffect, useState } from "preact/hooks";
import type { JsonField } from "../../../query/answers.ts";
import type { Query } from "../api.ts";
import { addressOf, parseRoute } from "../route.ts";

/** Which rows of a table are shown, as the address keeps it. */
export interface Browse {
  /** Undefined for main. */
  readonly branch: string | undefined;
  readonly filter: string;
  readonly order: string;
  readonly descending: boolean;
  readonly hidden: readonly string[];
  /** From 0. */
  readonly page: number;
  readonly size: number;
}

export const pageSizes = [50, 500, 5000] as const;

const first: Browse = {
  branch: undefined,
  filter: "",
  order: "",
  descending: false,
  hidden: [],
  page: 0,
  size: pageSizes[0],
};

const names = (text: string | undefined): readonly string[] => {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
};

export const browseOf = (fields: Readonly<Record<string, string>> = {}): Browse => ({
  branch: fields.branch,
  filter: fields.filter ?? first.filter,
  order: fields.order ?? first.order,
  descending: fields.descending === "true",
  hidden: names(fields.hidden),
  page: /^[1-9]\d{0,8}$/.test(fields.page ?? "") ? Number(fields.page) - 1 : first.page,
  size: pageSizes.find((size) => String(size) === fields.size) ?? first.size,
});

/** What differs from the first page of all rows; undefined if nothing does. */
export const fieldsOf = (browse: Browse): Readonly<Record<string, string>> | undefined => {
  const { branch, filter, order, descending, hidden, page, size } = browse;
  const fields = {
    ...(branch === undefined ? {} : { branch }),
    ...(filter === "" ? {} : { filter }),
    ...(order === "" ? {} : { order }),
    ...(order !== "" && descending ? { descending: "true" } : {}),
    ...(hidden.length === 0 ? {} : { hidden: JSON.stringify(hidden) }),
    ...(page === 0 ? {} : { page: String(page + 1) }),
    ...(size === first.size ? {} : { size: String(size) }),
  };
  return Object.keys(fields).length === 0 ? undefined : fields;
};

/** The rows of the filter in their order. */
export const queryOf = ({ branch, filter, order, descending }: Browse): Query => ({
  ...(branch === undefined ? {} : { branch }),
  ...(filter.trim() === "" ? {} : { filter }),
  ...(order === "" ? {} : { order_by: [{ column_name: order, ascending: !descending, nulls_first: false }] }),
});

/** Ascending, then descending, then the table's own order. */
export const sortedBy = (browse: Browse, column: string): Browse => {
  if (browse.order !== column) return { ...browse, order: column, descending: false, page: 0 };
  return browse.descending
    ? { ...browse, order: "", descending: false, page: 0 }
    : { ...browse, descending: true, page: 0 };
};

/** Whether the engine can sort by a column. */
export const isSortable = ({ type: { type } }: JsonField): boolean => !/list|struct|map|binary|blob/.test(type);

/** The state of the view, which its address names too. */
export const useBrowse = (table: string) => {
  const read = (): Browse => {
    const route = parseRoute(location.hash);
    return browseOf(route.view === "table" ? route.fields : undefined);
  };
  const [browse, setBrowse] = useState(read);
  useEffect(() => {
    const restore = (): void => setBrowse(read());
    addEventListener("hashchange", restore);
    return () => removeEventListener("hashchange", restore);
  }, []);
  const put = (next: Browse): void => {
    setBrowse(next);
    history.pushState(null, "", addressOf({ view: "table", table, fields: fieldsOf(next) }));
  };
  return [browse, put] as const;
};
