import { fileURLToPath, pathToFileURL } from "node:url";
import type { Table } from "@lancedb/lancedb";

const shown = /^\w+\(.*?, uri=(.*), read_consistency_interval=/s;

/**
 * Where a table lies: a path of the machine, or an address in a bucket. The SDK tells it only in what it displays.
 * @throws Error where that has changed.
 */
const locationOf = (table: Table): string => {
  const uri = shown.exec(table.display())?.[1];
  if (uri === undefined) throw new Error("the SDK does not display the location of a table any more");
  return uri.startsWith("file:") ? fileURLToPath(uri) : uri;
};

export interface Place {
  /** A path of the service's machine, or an address in a bucket. */
  readonly location: string;
  /** The same as a complete URI. */
  readonly uri: string;
}

export const placeOf = (table: Table): Place => {
  const location = locationOf(table);
  return { location, uri: /^[a-z0-9+]+:\/\//i.test(location) ? location : pathToFileURL(location).href };
};

/** The directory of a table within the root of its database. */
export const directoryOf = (table: Table): string => locationOf(table).split("/").at(-1) ?? "";
