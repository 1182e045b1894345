import { isValidCron } from "cron-validator";

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
