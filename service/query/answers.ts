/**
 * What more than one area reads of responses: the database makes them, operations document and send them, and the console
 * reads them. A browser's program imports the types alone.
 */
import { z } from "zod";

/** A value that nobody changes. */
export type Fixed<T> = { readonly [Key in keyof T]: Fixed<T[Key]> };

export const count = z.int().min(0);
const strings = z.record(z.string(), z.string());

export const statisticsAnswer = z.object({
  total_bytes: count.describe("Bytes of the data files and indices"),
  num_rows: count.describe("Live rows"),
  num_indices: count,
  fragment_stats: z.object({
    num_fragments: count,
    num_small_fragments: count.describe("Fragments of fewer than 100,000 rows"),
    lengths: z
      .object({ min: count, max: count, mean: count, p25: count, p50: count, p75: count, p99: count })
      .describe("Rows of a fragment"),
  }),
});
export type Statistics = Fixed<z.output<typeof statisticsAnswer>>;

export const indexAnswer = z
  .object({
    index_name: z.string(),
    index_uuid: z.string(),
    columns: z.array(z.string()),
    status: z.string().describe("SUCCEEDED: an index that is being built is not listed"),
    index_type: z.string().optional().describe("For instance IVF_PQ, BTREE, FTS"),
    type_url: z.string().optional(),
    num_indexed_rows: count.optional(),
    num_unindexed_rows: count.optional(),
    size_bytes: count.optional(),
    num_segments: count.optional(),
    created_at: z.iso.datetime().optional(),
    index_version: count.optional(),
    index_details: z.string().optional().describe("JSON, specific to the type"),
  })
  .meta({ id: "Index" });
export type IndexEntry = Fixed<z.output<typeof indexAnswer>>;

export const indexStatisticsAnswer = z.object({
  num_indexed_rows: count,
  num_unindexed_rows: count,
  index_type: z.string(),
  distance_type: z.string().optional(),
  num_indices: count.optional(),
});
export type IndexStatistics = Fixed<z.output<typeof indexStatisticsAnswer>>;

/** A version of a table in a response. */
export const tableVersionAnswer = z
  .object({
    version: z.int().min(0),
    manifest_path: z.string().describe("Path of the manifest in the database"),
    timestamp_millis: z.int().describe("Creation time, in milliseconds since 1970"),
    timestamp: z.iso
      .datetime()
      .describe("Creation time (RFC 3339), for LanceDB clients that do not read timestamp_millis"),
    metadata: strings.describe("Counts of the version: rows, files, fragments"),
  })
  .meta({ id: "TableVersion" });
export type VersionEntry = Fixed<z.output<typeof tableVersionAnswer>>;

export const tagAnswer = z
  .object({
    version: z.int().min(0),
    manifestSize: z.int().min(0).describe("Bytes of the manifest"),
    branch: z.string().optional().describe("Absent for main"),
  })
  .meta({ id: "Tag" });
export type TagEntry = Fixed<z.output<typeof tagAnswer>>;
/** The version that a tag names; `branch` is absent for main. */
export type TagTarget = Pick<TagEntry, "version" | "branch">;

export const branchAnswer = z
  .object({
    parentBranch: z.string().optional().describe("Absent for main"),
    parentVersion: z.int().min(0),
    createAt: z.int().min(0).describe("Creation time, in seconds since 1970"),
    manifestSize: z.int().min(0),
  })
  .meta({ id: "Branch" });
export type BranchEntry = Fixed<z.output<typeof branchAnswer>>;

const type = z.object({
  type: z
    .string()
    .describe(
      "With a trailing slash in the address Lance's name of the type (string, float), else Arrow's (utf8, float32)",
    ),
  length: z.int().optional(),
  get fields() {
    return z.array(field).optional();
  },
});

const field = z
  .object({
    name: z.string(),
    nullable: z.boolean(),
    metadata: strings.optional(),
    get type() {
      return type;
    },
  })
  .meta({ id: "ArrowField" });

export const schemaAnswer = z.object({ fields: z.array(field), metadata: strings.optional() });
export type JsonSchema = Fixed<z.output<typeof schemaAnswer>>;
export type JsonField = JsonSchema["fields"][number];
export type JsonType = JsonField["type"];

export const maintenanceState = z
  .object({
    id: z.string().describe("The parts of the id, joined by the delimiter"),
    has_rule: z.boolean().describe("A table without a rule is left alone"),
    due: z.array(z.string()).describe("What is due, and from which value"),
    notes: z.array(z.string()).describe("What maintenance cannot do, with the way out"),
    problem: z.string().optional().describe("Why the table could not be judged"),
    due_since_millis: count.optional().describe("When a run first found it due; absent: none has, or it is done"),
    finished_at_millis: count.optional().describe("When a run last ended its work on it"),
    left: z.string().optional().describe("What that run left, or why it failed"),
    holder: z
      .object({ owner: z.string(), expires_at_millis: count })
      .optional()
      .describe("The run that works on it, and when its lease ends unless it is renewed"),
  })
  .meta({ id: "MaintenanceState" });

export type MaintenanceState = Fixed<z.output<typeof maintenanceState>>;

const figures = z
  .object({
    version: count,
    rows: count,
    bytes: count,
    fragments: count,
    small_fragments: count.describe("Fragments of fewer than 100,000 rows"),
    deleted_rows: count.describe("Rows that are deleted and still stored"),
    unindexed_rows: count.describe("Rows that an index does not cover, added up over all indices"),
    deltas: count.describe("Parts of the index with most of them"),
    versions: count.nullable().describe("Null where the rule deletes no versions"),
    sample_query: z
      .object({ milliseconds: z.number(), bytes: count, reads: count })
      .nullable()
      .describe("The cost of a query without any cache"),
  })
  .meta({ id: "MaintenanceFigures" });

export const maintenanceResult = z.object({
  version: count.describe("The newest version of the table"),
  due: z.array(z.string()).describe("What was due, and from which value; empty: nothing was done"),
  remaining: z.array(z.string()).describe("What is still due"),
  conflicted: z.boolean().describe("Whether writers were faster: send the request again later"),
  seconds: z.number(),
  before: figures,
  after: figures,
});

export type MaintenanceResult = Fixed<z.output<typeof maintenanceResult>>;
export type MaintenanceFigures = MaintenanceResult["before"];
