import { plainDatabase } from "../config/storage-options.ts";
import { ServiceError } from "../errors.ts";
import type { TableId } from "../guard/table-id.ts";

/** The files of one table in a bucket. */
export interface Place {
  readonly bucket: string;
  /** Key prefix of the files, decoded; it ends with a slash. */
  readonly prefix: string;
}

/** Characters that mean themselves in a session policy, in an access boundary and in the address of an object. */
const plainPart = /^[A-Za-z0-9_.=+@ -]+$/;

/** The bucket and the key prefix of a database; undefined unless credentials can be lent for its tables. */
export const rootOf = (uri: string): { readonly bucket: string; readonly path: string } | undefined => {
  const [, bucket, path = ""] = plainDatabase.exec(uri) ?? [];
  return bucket === undefined ? undefined : { bucket, path: path === "" ? "" : `${path.slice(1)}/` };
};

const refuse = (reason: string): ServiceError =>
  new ServiceError(0, {
    message: `credentials cannot be lent for this table: ${reason}; send vend_credentials: false`,
  });

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/**
 * The files of a table. What a caller may reach follows from the id alone: a table that another program registered
 * elsewhere, perhaps around the files of other tables, is refused.
 * @param uri of the database. @param address of the table, as the SDK gives it.
 * @throws ServiceError code 0
 */
export const placeOf = (uri: string, address: string, { namespace, name, parts }: TableId): Place => {
  const root = rootOf(uri);
  if (root === undefined)
    throw refuse("the prefix of the database has characters other than letters, digits and _.=+@/-");
  if (!parts.every((part) => plainPart.test(part)))
    throw refuse("its id has characters other than letters, digits, blanks and _.=+@-, which a policy may misread");
  const from = uri.replace(/\/+$/, "");
  const directory = address.startsWith(`${from}/`) ? decode(address.slice(from.length + 1)) : undefined;
  const expected = namespace.length === 0 ? `${name}.lance` : directory?.slice(0, 9).concat(parts.join("$"));
  if (directory !== expected || (namespace.length > 0 && !/^[0-9a-f]{8}_/.test(directory ?? "")))
    throw refuse("its files are not in the directory that the catalog gives to its name");
  return { bucket: root.bucket, prefix: `${root.path}${directory}/` };
};
