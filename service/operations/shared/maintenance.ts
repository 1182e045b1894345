import { z } from "zod";
import type { TableId } from "../../guard/table-id.ts";
import type { RecordRow } from "../../lance/maintenance/maintenance-record.ts";
import type { Facts } from "../../plan-doctor/types.ts";

const count = z.int().min(0);

/** What a table's rule says of its facts. Old versions are not counted. */
export interface Verdict {
  /** Each with what was found, and from which value it is due. */
  readonly due: readonly string[];
  /** What maintenance cannot do, with the way out. */
  readonly notes: readonly string[];
}

/** The maintenance of tables by the rules of the configuration. */
export interface Maintenance {
  /** What runs know of tables, by id with its parts joined by `$`. @throws ServiceError */
  record(): Promise<ReadonlyMap<string, RecordRow>>;
  /** @returns undefined for a table without a rule. */
  judge(parts: readonly string[], facts: Facts): Verdict | undefined;
  /** Does what is due for a table that exists. @throws ServiceError code 14 while another run works on it. */
  maintain(table: TableId): Promise<MaintenanceResult>;
}

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
  due: z.array(z.string()).readonly().describe("What was due, and from which value; empty: nothing was done"),
  remaining: z.array(z.string()).readonly().describe("What is still due"),
  conflicted: z.boolean().describe("Whether writers were faster: send the request again later"),
  seconds: z.number(),
  before: figures,
  after: figures,
});

export type MaintenanceResult = z.output<typeof maintenanceResult>;
