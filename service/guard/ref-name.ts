import { invalid } from "../errors.ts";

/** The database's own rule for tags, and for each part of a branch's name between slashes. */
const refPart = /^[\p{L}\p{N}_-][\p{L}\p{N}._-]*$/u;
const rule = "letters, digits, '.', '-' and '_', no dot at the start, no '..' and no .lock at the end";

const isRefPart = (part: string): boolean => refPart.test(part) && !part.includes("..") && !part.endsWith(".lock");

/** @throws ServiceError code 13 for a name that no tag can have, or one longer than `maxBytes` in UTF-8. */
export const verifyTagName = (tag: string, maxBytes: number): string => {
  if (Buffer.byteLength(tag) > maxBytes) throw invalid(`tag is longer than ${maxBytes} bytes`);
  if (!isRefPart(tag)) throw invalid(`tag is no possible name of a tag: it has ${rule}`);
  return tag;
};

/**
 * For a tag that is to be made. The database stores letters outside ASCII in a tag's name and then cannot list the tags
 * of that table at all, so one such tag would take the list away from everybody.
 * @throws ServiceError code 13.
 */
export const verifyNewTagName = (tag: string, maxBytes: number): string => {
  if (!/^\p{ASCII}*$/u.test(tag))
    throw invalid("tag has characters outside ASCII, with which the database could not list the table's tags any more");
  return verifyTagName(tag, maxBytes);
};

/** @returns undefined for main. @throws ServiceError code 13 for a name that no branch can have. */
export const verifyBranchName = (branch: string | undefined, maxBytes: number): string | undefined => {
  if (branch === undefined || branch === "main") return undefined;
  if (Buffer.byteLength(branch) > maxBytes) throw invalid(`branch is longer than ${maxBytes} bytes`);
  if (!branch.split("/").every(isRefPart))
    throw invalid(`branch is no possible name of a branch: parts between slashes have ${rule}`);
  return branch;
};
