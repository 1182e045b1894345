/** How the text of a field becomes its value in the request. */
export type FieldKind = "count" | "number" | "flag" | "text" | "choice" | "vector" | "columns" | "fullText" | "order";

export interface Field {
  readonly key: string;
  readonly label: string;
  readonly kind: FieldKind;
  readonly choices?: readonly string[];
  readonly placeholder?: string;
}

export interface FieldGroup {
  readonly title: string;
  readonly open: boolean;
  readonly fields: readonly Field[];
}

/** Every field of a query, as the form shows it. */
export const fieldGroups: readonly FieldGroup[] = [
  {
    title: "Search",
    open: true,
    fields: [
      { key: "vector", label: "Vector", kind: "vector", placeholder: "0.1, 0.2, …   or   [0.1, 0.2, …]" },
      { key: "vector_column", label: "Vector column", kind: "text" },
      {
        key: "distance_type",
        label: "Distance",
        kind: "choice",
        choices: ["l2", "cosine", "dot", "hamming"],
      },
      {
        key: "full_text_query",
        label: "Full text",
        kind: "fullText",
        placeholder: 'words, or {"match": {"terms": …}}',
      },
    ],
  },
  {
    title: "Rows",
    open: true,
    fields: [
      { key: "filter", label: "Filter", kind: "text", placeholder: "price > 10 AND kind = 'a'" },
      { key: "prefilter", label: "Filter before the search", kind: "flag" },
      { key: "columns", label: "Columns", kind: "columns", placeholder: 'id, name   or   {"twice": "price * 2"}' },
      { key: "order_by", label: "Order by", kind: "order", placeholder: "price desc nulls first, id" },
      { key: "k", label: "k (rows)", kind: "count" },
      { key: "offset", label: "Offset", kind: "count" },
      { key: "with_row_id", label: "With row id", kind: "flag" },
    ],
  },
  {
    title: "Index",
    open: false,
    fields: [
      { key: "nprobes", label: "nprobes", kind: "count" },
      { key: "minimum_nprobes", label: "Minimum nprobes", kind: "count" },
      { key: "maximum_nprobes", label: "Maximum nprobes", kind: "count" },
      { key: "refine_factor", label: "Refine factor", kind: "count" },
      { key: "ef", label: "ef (HNSW)", kind: "count" },
      { key: "lower_bound", label: "Distance from", kind: "number" },
      { key: "upper_bound", label: "Distance below", kind: "number" },
      { key: "bypass_vector_index", label: "Without the vector index", kind: "flag" },
      { key: "fast_search", label: "Indexed rows only", kind: "flag" },
    ],
  },
  {
    title: "Snapshot",
    open: false,
    fields: [
      { key: "version", label: "Version", kind: "count" },
      { key: "branch", label: "Branch", kind: "text" },
      { key: "use_lsm", label: "With rows of the write-ahead log", kind: "flag" },
    ],
  },
];

export const fields: readonly Field[] = fieldGroups.flatMap((group) => group.fields);
