import { posix } from "node:path";

/** Whether an address stays the same however often it is decoded: no reader can find another one in it. */
const isPlain = (uri: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^%?#\\\0]*$/.test(uri);

/**
 * Whether the address that a stored blob points to is below one of the prefixes. An address in a form that two readers could
 * understand differently (`..`, an escape, a query) is below none.
 */
export const isBelow = (uri: string, prefixes: readonly string[]): boolean => {
  if (!isPlain(uri)) return false;
  const path = uri.slice(uri.indexOf("://") + 3);
  if (posix.normalize(path) !== path) return false;
  return prefixes.some((prefix) => uri.startsWith(prefix) && uri.length > prefix.length);
};
