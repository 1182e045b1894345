import { createHash } from "node:crypto";

/** Ten hexadecimal digits that depend only on the data, not on the order of its keys. */
export function checksum(data: Readonly<Record<string, string>>): string {
  return createHash("sha256").update(sortedJson(data)).digest("hex").slice(0, 10);
}

/** JSON with sorted keys. */
export function sortedJson(value: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))));
}
