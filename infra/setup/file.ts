/** A stack's file, with its comments: what `npm run setup` changes in it. Pure. */

import { isDeepStrictEqual } from "node:util";
import { type Document, parseDocument } from "yaml";
import type { Keys } from "../clouds/setup.ts";

export interface Change {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** `lakehead`, `bucket.name` → `config`, `lakehead:bucket`, `name`. */
const pathOf = (namespace: string, key: string): string[] => {
  const [first, ...rest] = key.split(".");
  return ["config", `${namespace}:${first}`, ...rest];
};

export const readKey = (file: Document, namespace: string, key: string): unknown => {
  const value = file.getIn(pathOf(namespace, key));
  return typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
    ? value.toJSON()
    : value;
};

/** The file's text with the keys, and what that changes. */
export function withKeys(text: string, namespace: string, keys: Keys): { text: string; changes: readonly Change[] } {
  const file = parseDocument(text);
  const changes = Object.entries(keys)
    .map(([key, after]): Change => ({ key, before: readKey(file, namespace, key), after }))
    .filter(({ before, after }) => !isDeepStrictEqual(before, after));
  for (const { key, after } of changes) {
    const path = pathOf(namespace, key);
    if (after === undefined) file.deleteIn(path);
    else file.setIn(path, file.createNode(after, { flow: true }));
  }
  return { text: changes.length === 0 ? text : file.toString({ lineWidth: 0 }), changes };
}
