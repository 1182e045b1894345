import type { Kind } from "./compare.ts";
import { type Deviation, deviations } from "./deviations.ts";

const words: Readonly<Record<Kind, string>> = {
  absent: "not here",
  added: "only here",
  optional: "optional here",
  required: "always there",
  type: "of another type",
};

const code = (text: string): string => text.replace(/^[^ ]+/, "`$&`");

const whatOf = ({ part, kind, fields }: Deviation): string =>
  part === "operation"
    ? `${fields.join(", ")} ${words[kind]}`
    : `${part} ${fields.map((field) => (/^( |$)/.test(field) ? `body${field}` : code(field))).join(", ")}: ${words[kind]}`;

const operationsOf = ({ operations }: Deviation): string =>
  operations === "every" ? "every" : operations.map(code).join(", ");

/** The deviations as table rows: operations, difference, reason. Entries with the same reason share a row. */
export const deviationRows = (list: readonly Deviation[] = deviations): readonly (readonly string[])[] => {
  const rows = new Map<string, readonly [operations: string, what: string, reason: string]>();
  for (const entry of list) {
    const operations = operationsOf(entry);
    const key = `${operations} ${entry.reason}`;
    const known = rows.get(key);
    rows.set(key, [operations, known === undefined ? whatOf(entry) : `${known[1]}; ${whatOf(entry)}`, entry.reason]);
  }
  return [...rows.values()];
};
