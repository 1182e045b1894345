import { z } from "zod";
import { maintenanceRules } from "../../service/config/maintenance-policy.ts";
import { cronExpectation } from "./cron.ts";
import { count, cpus, memory } from "./fields.ts";

/** A cron schedule in UTC. */
export const schedule = (standard: string, description: string) =>
  z
    .string()
    .refine((text) => cronExpectation(text) === undefined, {
      error: ({ input }) => cronExpectation(String(input)) ?? "",
    })
    .default(standard)
    .describe(description);

export const maintenanceSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .optional()
      .describe("Run the maintenance of the tables; default: where `tableService.writes` is true"),
    schedule: schedule("41 * * * *", "When a run begins, as a cron schedule in UTC"),
    rules: maintenanceRules((expected) => expected)
      .prefault([{}])
      .describe("What makes a table due, by patterns; of a table, the first rule counts that has a pattern for it"),
    cpus: cpus.default(1).describe("CPUs of a run, as request"),
    memory: memory.default("4Gi").describe("Memory of a run, as request and limit"),
    minutes: count(2, 7 * 24 * 60)
      .default(120)
      .describe("Minutes after which a run is ended; the next one continues"),
    ray: z
      .strictObject({
        enabled: z
          .boolean()
          .default(true)
          .describe(
            "Give the work on large tables to the stack's RayCluster, where it has one and the tables are in a bucket",
          ),
        gigabytes: count(1, 1_000_000).default(50).describe("Size of a table from which Ray gets the work on it"),
        workers: count(1, 1000).default(8).describe("Maximum number of CPUs of Ray's workers that one table gets"),
      })
      .prefault({})
      .describe("Large tables"),
  })
  .prefault({})
  .describe("Maintenance of tables that are written: fragments, indices, old versions");

interface Maintained {
  readonly maintenance: { readonly enabled?: boolean | undefined };
  readonly tableService: { readonly enabled: boolean; readonly writes: boolean };
}

/** Whether the stack runs the maintenance. */
export const runsMaintenance = ({ maintenance, tableService }: Maintained): boolean =>
  maintenance.enabled ?? (tableService.enabled && tableService.writes);
