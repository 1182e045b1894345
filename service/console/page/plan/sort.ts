import type { Listed } from "./nodes.ts";
import { bytesRead, requestsOf } from "./nodes.ts";

/** The columns of the grid that can be sorted. `order` is that of the text. */
export type SortKey = "order" | "name" | "own" | "inclusive" | "rowsIn" | "rowsOut" | "bytes" | "requests";

export interface Sort {
  readonly key: SortKey;
  readonly descending: boolean;
}

const sortValue: Readonly<Record<SortKey, (listed: Listed) => number | string | null | undefined>> = {
  order: ({ node }) => node.id,
  name: ({ node }) => node.name,
  own: ({ node }) => node.own_ns,
  inclusive: ({ node }) => node.elapsed_ns,
  rowsIn: ({ node }) => node.rows_in,
  rowsOut: ({ node }) => node.rows_out,
  bytes: ({ node }) => bytesRead(node),
  requests: ({ node }) => requestsOf(node),
};

/** Nodes without a value come last in both directions; equal ones keep the order of the text. */
export const sortNodes = (nodes: readonly Listed[], { key, descending }: Sort): readonly Listed[] =>
  nodes.toSorted((left, right) => {
    const [a, b] = [sortValue[key](left), sortValue[key](right)];
    if (a === b) return left.node.id - right.node.id;
    if (a === null || a === undefined) return 1;
    if (b === null || b === undefined) return -1;
    return (a < b ? -1 : 1) * (descending ? -1 : 1);
  });

/** A column is sorted by its largest value first, and in the other direction when it is chosen again. */
export const nextSort = (sort: Sort, key: SortKey): Sort =>
  sort.key === key ? { key, descending: !sort.descending } : { key, descending: key !== "order" && key !== "name" };
