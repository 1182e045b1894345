import { createHash } from "node:crypto";

/** Ten hexadecimal digits that change with the data and with nothing else, such as the order of its keys. */
export function checksum(data: Readonly<Record<string, string>>): string {
  return createHash("sha256").update(sortedJson(data)).digest("hex").slice(0, 10);
}

/** JSON whose text depends on the entries alone. */
export function sortedJson(value: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))));
}
