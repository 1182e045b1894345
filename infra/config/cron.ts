/** A field of a cron schedule: its bounds and its names, which stand for its numbers from the minimum up. */
interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

/** The five fields of Kubernetes' CronJob. Source: ParseStandard of github.com/robfig/cron v3, which the API server uses. */
const fields: readonly Field[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of the month", min: 1, max: 31 },
  {
    name: "month",
    min: 1,
    max: 12,
    names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  },
  { name: "day of the week", min: 0, max: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

/** What a schedule should be instead, or undefined for a valid one. */
export function cronExpectation(schedule: string): string | undefined {
  const parts = schedule.split(" ");
  if (parts.length !== fields.length || parts.includes("")) return "five fields of a cron schedule, such as 17 * * * *";
  const wrong = fields.find((field, index) => !(parts[index] ?? "").split(",").every((part) => isPart(part, field)));
  return wrong && `a cron schedule whose ${wrong.name} is *, or from ${wrong.min} to ${wrong.max}`;
}

function isPart(text: string, field: Field): boolean {
  const [range = "", step, ...rest] = text.split("/");
  if (rest.length > 0 || (step !== undefined && !/^0*[1-9]\d*$/.test(step))) return false;
  if (range === "*" || range === "?") return true;
  const bounds = range.split("-").map((bound) => numberOf(bound, field));
  const [from, to = from] = bounds;
  if (bounds.length > 2 || from === undefined || to === undefined) return false;
  return field.min <= from && from <= to && to <= field.max;
}

function numberOf(text: string, { names = [], min }: Field): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? undefined : index + min;
}
