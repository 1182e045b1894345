import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ServiceError } from "../../errors.ts";
import { hasScheme, type Location } from "../connection/location.ts";

/** The SDK tells the directory of a table without data in this text alone. The names of tables cannot contain it. */
const withoutData =
  /^Table '[\w.-]+' was not found\s+Caused by: Dataset at path (.+) was not found: Not found: \1\/_versions/s;

/**
 * The directory of a table that has no data, by the failure to open it; undefined where the catalog has no such table. At the
 * root, whose tables are directories, also that of a table that does not exist.
 */
export const directoryWithoutData = (failure: unknown): string | undefined => {
  if (!(failure instanceof ServiceError) || failure.code !== 4 || !(failure.cause instanceof Error)) return undefined;
  return withoutData.exec(failure.cause.message)?.[1]?.split("/").at(-1);
};

/** What a path of a URL cannot hold as it is; a percent sign as well, because the text is not encoded yet. */
const notInPath = /[^!$&-;=@-_a-z|~]/gu;

/** The location of a directory in the root of a database, as the SDK gives it for a table that it has opened. */
export const locationIn = (uri: string, directory: string, isUrl: boolean): Location => {
  if (!hasScheme(uri)) {
    const address = join(uri, directory);
    return { address, uri: pathToFileURL(address).href };
  }
  const name = isUrl ? directory.replace(notInPath, encodeURIComponent) : directory;
  const address = `${uri.replace(/\/+$/, "")}/${name}`;
  return { address, uri: address };
};
