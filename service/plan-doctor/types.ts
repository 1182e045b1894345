/**
 * The plan of a query as data: the response of `explain_plan` and `analyze_plan` to
 * `Accept: application/vnd.lakehead.plan+json`. A browser's program imports the types alone.
 */
import { z } from "zod";
import type { Fixed } from "../query/answers.ts";

const number = z.number().nullable();
const text = z.string();

const metric = z
  .object({
    name: text,
    /** `2.68 M`, `27.22µs`, `124.0 B`, `100% (10/10)`. */
    text: text.describe("The value as the engine prints it"),
    /** Null for the unit `text`, which stands for a form that the parser does not know. */
    value: number,
    unit: z.enum(["count", "bytes", "ns", "ratio", "text"]),
    /** `2.68 M` is any number from 2,675,000 to 2,685,000. */
    rounded: z.boolean().describe("Whether the engine rounded the value"),
    of: z.tuple([z.number(), z.number()]).readonly().optional().describe("Kept and seen rows of a ratio"),
  })
  .meta({ id: "PlanMetric" });

const node = z
  .object({
    /** From 0: a node comes before its children. */
    id: z.int().min(0).describe("Position in the text"),
    /** For instance `LanceRead`; the first line of `text` if it has no name in front. */
    name: text,
    text: text.describe("The node's text without its indentation"),
    /** All of the text that is neither name, nor time, nor metric. The key is null for text without one: `TopK(fetch=10)`. */
    attributes: z.array(z.object({ key: text.nullable(), value: text })),
    /** Empty if the query did not run. */
    metrics: z.array(metric),
    elapsed_ns: number.describe("Inclusive time in nanoseconds; null if the query did not run"),
    own_ns: number.describe("Inclusive time less that of the child with the largest: children overlap"),
    /** Shares of children that overlap add up to more than 1. */
    share: number.describe("Own time as a share of the whole query's, 0 to 1"),
    /** Rows that the children returned, or that a node without children read. */
    rows_in: number,
    rows_out: number,
    get children() {
      return z.array(node);
    },
  })
  .meta({ id: "PlanNode" });

const tree = z.object({
  measured: z.boolean().describe("Whether the query ran"),
  elapsed_ns: number,
  /** One in every plan of the engine, none in an empty text. */
  roots: z.array(node),
});

const finding = z
  .object({
    code: text.describe("Also the heading of its section in docs/plan-doctor.md"),
    severity: z.enum(["warning", "info"]).describe("warning: always a loss; info: a loss for some uses of the query"),
    title: text,
    node: z.int().nullable().describe("The id of the node; null for a finding about the table"),
    /** The numbers that it was judged by, the most important first. */
    evidence: z.array(z.object({ name: text, value: z.union([z.number(), text]) })),
    /** One sentence: why this costs time or results. */
    why: text,
    fix: z.object({
      /** One sentence: what to do, and what gets smaller. */
      summary: text,
      python: text.describe("For LanceDB's Python SDK: table is the open table, vector the query's"),
      typescript: text.describe(
        "For @lancedb/lancedb: table is the open table, lancedb the package, vector the query's",
      ),
      rest: text.describe("Method, path and body, or a comment where the service has no such operation"),
      write: z
        .object({
          operation: z.enum(["create_index", "create_scalar_index", "maintain"]),
          body: z.record(z.string(), text),
        })
        .optional()
        .describe("The one request of rest that changes the table, which needs writes and the scope manage"),
    }),
  })
  .meta({ id: "PlanFinding" });

const statistics = z.object({
  rows: z.number(),
  /** Still stored; up to one for each fragment fewer than there are. */
  deleted_rows: z.number(),
  /** Data files and indices. */
  bytes: z.number(),
  fragments: z.number(),
  /** Of fewer than 100,000 rows. */
  small_fragments: z.number(),
  /** Stored rows of the fragment with most of them. */
  largest_fragment_rows: z.number(),
});

/** The type in Arrow's words: `float64`, `fixed_size_list<float32, 16>`. Dimensions are a vector's, else null. */
const column = z.object({ name: text, type: text, dimensions: number });

const index = z.object({
  name: text,
  columns: z.array(text).readonly(),
  type: text,
  metric: text.nullable(),
  /** Bits that a product-quantized index keeps of a vector. */
  code_bits: number,
  indexed_rows: number,
  unindexed_rows: number,
  /** Parts that are searched one after the other: each `optimize` may add one. */
  deltas: number,
  bytes: number,
});

const facts = z
  .object({
    version: number,
    statistics: statistics.nullable().describe("Requires the scope stats"),
    columns: z.array(column).nullable(),
    indices: z.array(index).nullable(),
    /** Why a part is null, for instance that it requires a scope. */
    missing: z.array(z.object({ fact: z.enum(["version", "statistics", "columns", "indices"]), reason: text })),
  })
  .meta({ id: "PlanFacts" });

export const planDocument = z.object({
  plan: text.describe("The plan, one node a line: the whole response to every other Accept"),
  tree,
  findings: z.array(finding),
  facts,
});

export type PlanDocument = Fixed<z.output<typeof planDocument>>;
export type PlanTree = PlanDocument["tree"];
export type PlanNode = Fixed<z.output<typeof node>>;
export type Attribute = PlanNode["attributes"][number];
export type Metric = PlanNode["metrics"][number];
export type Finding = PlanDocument["findings"][number];
export type Evidence = Finding["evidence"][number];
export type Fix = Finding["fix"];
export type FixRequest = NonNullable<Fix["write"]>;
export type Facts = PlanDocument["facts"];
export type StatisticsFacts = NonNullable<Facts["statistics"]>;
export type ColumnFacts = NonNullable<Facts["columns"]>[number];
export type IndexFacts = NonNullable<Facts["indices"]>[number];
