import { fileURLToPath, pathToFileURL } from "node:url";
import type { Table } from "@lancedb/lancedb";

const displayed = /^\w+\(.*?, uri=(.*), read_consistency_interval=/s;

/** A handle never moves to another location, and its display text costs more than a small request. */
const addresses = new WeakMap<Table, string>();

/**
 * The location of a table: a local path, or an address in a bucket. The SDK provides it only in its display text.
 * @throws Error if that text has another form.
 */
const addressOf = (table: Table): string => {
  const known = addresses.get(table);
  if (known !== undefined) return known;
  const address = readAddress(table);
  addresses.set(table, address);
  return address;
};

const readAddress = (table: Table): string => {
  const uri = displayed.exec(table.display())?.[1];
  if (uri === undefined) throw new Error("the display text of the SDK has no location of the table");
  return uri.startsWith("file:") ? fileURLToPath(uri) : uri;
};

export interface Location {
  /** A local path, or an address in a bucket. */
  readonly address: string;
  /** The same as a URI with a scheme. */
  readonly uri: string;
}

/** Whether an address is a URI, and not a local path. */
export const hasScheme = (address: string): boolean => /^[a-z0-9+]+:\/\//i.test(address);

export const describeLocation = (table: Table): Location => {
  const address = addressOf(table);
  return { address, uri: hasScheme(address) ? address : pathToFileURL(address).href };
};

/** The path of a table in a local directory; undefined for one in a bucket. */
export const localPathOf = (table: Table): string | undefined => {
  const address = addressOf(table);
  return hasScheme(address) ? undefined : address;
};

/** The directory of a table within the root of its database. */
export const directoryOf = (table: Table): string => addressOf(table).split("/").at(-1) ?? "";
