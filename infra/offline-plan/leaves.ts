/** A property tree as paths and leaves, for the diff and the tree. Pure. */

import type { Plain } from "./values.ts";

export type Leaf = null | boolean | number | string;

/** Paths such as `a.b[0].c`, with `["…"]` around keys that are not identifiers. An empty list or map is a leaf. */
export function leaves(value: Plain, path = ""): [path: string, leaf: Leaf][] {
  if (Array.isArray(value))
    return value.length === 0 ? [[path, "[]"]] : value.flatMap((item, index) => leaves(item, `${path}[${index}]`));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return [[path, "{}"]];
    return entries.flatMap(([key, item]) => leaves(item, joinPath(path, key)));
  }
  return [[path, value]];
}

/** The path of a key of the map at `path`. */
export const joinPath = (path: string, key: string): string =>
  /^[\w$-]+$/.test(key) ? (path === "" ? key : `${path}.${key}`) : `${path}[${JSON.stringify(key)}]`;

/** The path without indexes and keys of list items, the form of the tables of properties. */
export const withoutIndexes = (path: string): string => path.replaceAll(/\[(?:\d+|\w+=[^\]]*)\]/g, "");

/** Text for one line, quoted if ambiguous, cut at `limit` characters. */
export const shown = (leaf: Leaf, limit = 100): string =>
  shorten(typeof leaf === "string" && !/^[\x21-\x7e]+$/.test(leaf) ? JSON.stringify(leaf) : String(leaf), limit);

export const shorten = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
