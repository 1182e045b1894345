import { randomUUID } from "node:crypto";

/**
 * JavaScript lists keys that look like array indices first, whatever their place in the text. The order of aliases is the
 * order of the result's columns, so objects with such keys remember the order of their text.
 */
const orders = new WeakMap<object, readonly string[]>();

const indexKey = /"(?:0|[1-9]\d{0,9})"\s*:/;
const strings = /"([^"\\]*(?:\\.[^"\\]*)*)"(?=(\s*:)?)/g;
const index = /^(?:0|[1-9]\d{0,9})$/;

/** Parses JSON, and keeps the order of keys for {@link entriesInOrder}. @throws SyntaxError */
export const parseJson = (text: string): unknown => {
  if (!indexKey.test(text)) return JSON.parse(text);
  // Keeps a key from being an index. Random, so that no key of the text begins with it.
  const prefix = randomUUID();
  const marked = text.replace(strings, (string, content: string, isKey: string | undefined) =>
    isKey !== undefined && index.test(content) ? `"${prefix}${content}"` : string,
  );
  return JSON.parse(marked, (_, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const keys = Object.keys(value);
    if (!keys.some((key) => key.startsWith(prefix))) return value;
    const entries = Object.entries(value).map(([key, entry]) => [withoutPrefix(key, prefix), entry] as const);
    const object = Object.fromEntries(entries);
    orders.set(
      object,
      entries.map(([key]) => key),
    );
    return object;
  });
};

const withoutPrefix = (key: string, prefix: string): string =>
  key.startsWith(prefix) ? key.slice(prefix.length) : key;

/** The entries of a parsed object in the order of its text. */
export const entriesInOrder = (object: object): [string, unknown][] => {
  const entries = Object.entries(object);
  const order = orders.get(object);
  if (order === undefined) return entries;
  const values = new Map(entries);
  return order.map((key) => [key, values.get(key)]);
};
