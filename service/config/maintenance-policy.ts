import { z } from "zod";
import { tablePatternProblem } from "./auth-problems.ts";

/** Says what a field expects, in the words of whoever reads the configuration: `must be …` or `expected …`. */
type Say = (expected: string) => string;

const upTo = (say: Say, min: number, max: number) => {
  const error = say(`a whole number from ${min} to ${max}`);
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
};

/** A part of the maintenance that can be turned off, with the limits that make a table due for it. */
const part = <Limits extends z.ZodRawShape>(say: Say, description: string, limits: Limits) =>
  z
    .strictObject({
      enabled: z
        .boolean({ error: say("true or false") })
        .default(true)
        .describe("Whether this makes a table due"),
      ...limits,
    })
    .prefault({} as never)
    .describe(description);

/**
 * The rules of maintenance: the variable `LAKEHEAD_MAINTENANCE` of the service, and the key `maintenance.rules` of a stack. Of a table,
 * the first rule counts that has a pattern for it; a table without a rule is left alone. A limit that is absent is the
 * plan doctor's.
 */
export const maintenanceRules = (say: Say) =>
  z.array(
    z.strictObject({
      tables: z
        .array(
          z.string({ error: say("a table pattern such as prod$**") }).superRefine((pattern, context) => {
            const message = tablePatternProblem(pattern);
            if (message !== undefined) context.addIssue({ code: "custom", message });
          }),
          { error: say("a list of table patterns") },
        )
        .min(1, { error: say("a list of at least one table pattern") })
        .default(["**"])
        .describe("Table patterns, as for tokens"),
      compaction: part(say, "Merging of fragments, which also removes deleted rows from storage", {
        smallFragments: upTo(say, 2, 1_000_000)
          .optional()
          .describe("Fragments of fewer than 100,000 rows that make a table due"),
        deletedPercent: upTo(say, 1, 100)
          .optional()
          .describe("Percent of the stored rows that are deleted and make a table due"),
        targetMegabytes: upTo(say, 1, 1_000_000)
          .optional()
          .describe("Megabytes from which a fragment is large enough, however few its rows"),
      }),
      indices: part(say, "Extension of indices by the rows that they do not cover", {
        unindexedRows: upTo(say, 1, 1_000_000_000)
          .optional()
          .describe("Rows that an index does not cover and that make a table due"),
        deltas: upTo(say, 2, 10_000)
          .optional()
          .describe("Parts of a vector index that make a table due; the index is then built anew"),
      }),
      cleanup: z
        .strictObject({
          olderThanHours: z
            .number({ error: say("a number of hours greater than 0") })
            .positive({ error: say("a number of hours greater than 0") })
            .max(87_600, { error: say("at most 87600 hours") })
            .optional()
            .describe(
              "Hours after which a version that a newer one has replaced is deleted; absent: never. No reader may hold a version for longer, and no write may take longer",
            ),
        })
        .prefault({})
        .describe("Deletion of old versions, except those with a tag or a branch"),
    }),
    { error: say("a list of rules") },
  );

export type MaintenanceRule = z.output<ReturnType<typeof maintenanceRules>>[number];
