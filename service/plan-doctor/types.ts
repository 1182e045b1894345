/**
 * The plan of a query as data: the response of `explain_plan` and `analyze_plan` to
 * `Accept: application/vnd.lakehead.plan+json`. Types alone, so that a browser's program can import them.
 */

export interface PlanDocument {
  /** The plan as the engine prints it: the whole response to every other `Accept`. */
  readonly plan: string;
  readonly tree: PlanTree;
  /** The most expensive first. */
  readonly findings: readonly Finding[];
  readonly facts: Facts;
}

export interface PlanTree {
  /** Whether the query ran: without it, no node has metrics or times. */
  readonly measured: boolean;
  /** Time of the whole query in nanoseconds; null if it did not run. */
  readonly elapsed_ns: number | null;
  /** The top nodes: one in every plan of the engine, none in an empty text. */
  readonly roots: readonly PlanNode[];
}

export interface PlanNode {
  /** Position in the text, from 0: a node comes before its children. */
  readonly id: number;
  /** For instance `LanceRead`; the first line of `text` if it has no name in front. */
  readonly name: string;
  /** The node's text without its indentation, line breaks inside literals included. */
  readonly text: string;
  /** All of the text that is neither name, nor time, nor metric, in its order. */
  readonly attributes: readonly Attribute[];
  /** In the order of the text; empty if the query did not run. */
  readonly metrics: readonly Metric[];
  /** Inclusive time, in nanoseconds. */
  readonly elapsed_ns: number | null;
  /** Inclusive time less that of the child with the largest, because children overlap; in nanoseconds, never negative. */
  readonly own_ns: number | null;
  /** Own time as a share of the whole query's, 0 to 1. Shares of children that overlap add up to more than 1. */
  readonly share: number | null;
  /** Rows that the children returned, or that a node without children read. */
  readonly rows_in: number | null;
  readonly rows_out: number | null;
  readonly children: readonly PlanNode[];
}

export interface Attribute {
  /** Null for text without a key: `TopK(fetch=10)`. */
  readonly key: string | null;
  readonly value: string;
}

/** `ratio`: 0 to 1, with `of` for the numbers that it came from. `text`: a form that the parser does not know. */
export type Unit = "count" | "bytes" | "ns" | "ratio" | "text";

export interface Metric {
  readonly name: string;
  /** The value as the engine prints it: `2.68 M`, `27.22µs`, `124.0 B`, `100% (10/10)`. */
  readonly text: string;
  /** Null for the unit `text`. */
  readonly value: number | null;
  readonly unit: Unit;
  /** Whether the engine rounded the value: `2.68 M` is any number from 2,675,000 to 2,685,000. */
  readonly rounded: boolean;
  /** Kept and seen rows of a ratio. */
  readonly of?: readonly [kept: number, seen: number] | undefined;
}

/** `warning`: always a loss. `info`: holds for some uses of the query only, so the reader decides. */
export type Severity = "warning" | "info";

export interface Finding {
  /** Also the anchor of its section in docs/plan-doctor.md. */
  readonly code: string;
  readonly severity: Severity;
  /** Short name of the finding, for a list. */
  readonly title: string;
  /** `id` of the node; null for a finding about the table. */
  readonly node: number | null;
  /** The numbers that it was judged by, the most important first. */
  readonly evidence: readonly Evidence[];
  /** One sentence: why this costs time or results. */
  readonly why: string;
  readonly fix: Fix;
}

export interface Evidence {
  /** For instance `rows scanned`. */
  readonly name: string;
  readonly value: number | string;
}

/** The exact fix, with the names of the table and the query in it. */
export interface Fix {
  /** One sentence: what to do, and what gets smaller. */
  readonly summary: string;
  /** For LanceDB's Python SDK: `table` is the open table. */
  readonly python: string;
  /** For `@lancedb/lancedb`: `table` is the open table, `lancedb` the package. */
  readonly typescript: string;
  /** Method, path and JSON body. A comment where the service has no such operation. */
  readonly rest: string;
  /** The one request of `rest` that changes the table; absent for queries, for several requests, and for none. */
  readonly write?: FixRequest | undefined;
}

export interface FixRequest {
  /** The last part of its path: `/v1/table/{id}/<operation>`. */
  readonly operation: "create_index" | "create_scalar_index" | "maintain";
  readonly body: Readonly<Record<string, string>>;
}

/** What the findings were judged by. A part that was not read is null, and `missing` says why. */
export interface Facts {
  /** The table's version. */
  readonly version: number | null;
  /** From the table's statistics: needs the scope `stats`. */
  readonly statistics: StatisticsFacts | null;
  readonly columns: readonly ColumnFacts[] | null;
  readonly indices: readonly IndexFacts[] | null;
  readonly missing: readonly MissingFact[];
}

export interface StatisticsFacts {
  /** Live rows. */
  readonly rows: number;
  /** Rows that are deleted but still stored; up to one for each fragment fewer than there are. */
  readonly deleted_rows: number;
  /** Data files and indices. */
  readonly bytes: number;
  readonly fragments: number;
  /** Fragments of fewer than 100,000 rows. */
  readonly small_fragments: number;
}

export interface ColumnFacts {
  readonly name: string;
  /** Arrow's name of the type: `float64`, `utf8`, `fixed_size_list<float32, 16>`. */
  readonly type: string;
  /** Numbers in a vector; null for every other type. */
  readonly dimensions: number | null;
}

export interface IndexFacts {
  readonly name: string;
  readonly columns: readonly string[];
  /** For instance `IVF_PQ`, `BTREE`, `FTS`. */
  readonly type: string;
  /** Distance metric of a vector index: `l2`, `cosine`, `dot` or `hamming`. */
  readonly metric: string | null;
  /** Bits that a product-quantized index keeps of a vector; null for other indices. */
  readonly code_bits: number | null;
  readonly indexed_rows: number | null;
  readonly unindexed_rows: number | null;
  /** Parts that are searched one after the other: each `optimize` may add one. */
  readonly deltas: number | null;
  readonly bytes: number | null;
}

export interface MissingFact {
  readonly fact: "version" | "statistics" | "columns" | "indices";
  /** For instance `requires the scope stats`, or the store's failure. */
  readonly reason: string;
}
