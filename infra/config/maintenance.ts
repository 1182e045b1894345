import { isValidCron } from "cron-validator";
import { z } from "zod";
import { maintenanceRules } from "../../service/config/maintenance-policy.ts";
import { count, cpus, flag, group, memory } from "./fields.ts";

/** The five fields of Kubernetes' CronJob, and what each may be. */
const fields: readonly (readonly [name: string, range: string])[] = [
  ["minute", "from 0 to 59"],
  ["hour", "from 0 to 23"],
  ["day of the month", "from 1 to 31"],
  ["month", "from 1 to 12"],
  ["day of the week", "from 0 to 6"],
];

/** Kubernetes reads `?` as `*` in each field, the library in days only. */
const isValid = (schedule: string): boolean => isValidCron(schedule.replaceAll("?", "*"), { alias: true });

/** What a schedule should be instead, or undefined for a valid one. */
export function cronExpectation(schedule: string): string | undefined {
  if (isValid(schedule)) return undefined;
  const parts = schedule.split(" ");
  const wrong = fields.find((_, index) => !isValid(fields.map((_, at) => (at === index ? parts[at] : "*")).join(" ")));
  if (parts.length !== fields.length || wrong === undefined)
    return "five fields of a cron schedule, such as 17 * * * *";
  return `a cron schedule whose ${wrong[0]} is *, or ${wrong[1]}`;
}

/** A cron schedule in UTC. */
export const schedule = (standard: string, description: string) =>
  z
    .string()
    .refine((text) => cronExpectation(text) === undefined, {
      error: ({ input }) => cronExpectation(String(input)) ?? "",
    })
    .default(standard)
    .describe(description);

export const maintenanceSchema = group("Maintenance of tables that are written: fragments, indices, old versions", {
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
  ray: group("Large tables", {
    enabled: flag(
      true,
      "Give the work on large tables to the stack's RayCluster, where it has one and the tables are in a bucket",
    ),
    gigabytes: count(1, 1_000_000).default(50).describe("Size of a table from which Ray gets the work on it"),
    workers: count(1, 1000).default(8).describe("Maximum number of CPUs of Ray's workers that one table gets"),
  }),
});

interface Maintained {
  readonly maintenance: { readonly enabled?: boolean | undefined };
  readonly tableService: { readonly enabled: boolean; readonly writes: boolean };
}

/** Whether the stack runs the maintenance. */
export const runsMaintenance = ({ maintenance, tableService }: Maintained): boolean =>
  maintenance.enabled ?? (tableService.enabled && tableService.writes);
