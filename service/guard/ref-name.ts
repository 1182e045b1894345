import { invalid } from "../errors.ts";

/** The database's rule for tags and for each part of a branch name between slashes. */
const refPart = /^[\p{L}\p{N}_-][\p{L}\p{N}._-]*$/u;
const rule = "use letters, digits, '.', '-' and '_', no dot at the start, no '..' and no .lock at the end";

const isRefPart = (part: string): boolean => refPart.test(part) && !part.includes("..") && !part.endsWith(".lock");

/** @throws ServiceError code 13 for a name that is not valid or longer than `maxBytes` in UTF-8. */
export const verifyTagName = (tag: string, maxBytes: number): string => {
  if (Buffer.byteLength(tag) > maxBytes) throw invalid(`tag is longer than ${maxBytes} bytes`);
  if (!isRefPart(tag)) throw invalid(`tag is not a valid name: ${rule}`);
  return tag;
};

/**
 * Verifies the name of a tag to create. The database accepts letters outside ASCII in a tag's name, and then can no longer
 * list the tags of that table.
 * @throws ServiceError code 13.
 */
export const verifyNewTagName = (tag: string, maxBytes: number): string => {
  if (!/^\p{ASCII}*$/u.test(tag))
    throw invalid(
      "tag has characters outside ASCII, with which the database cannot list the table's tags: use ASCII letters",
    );
  return verifyTagName(tag, maxBytes);
};

/** @returns undefined for main. @throws ServiceError code 13 for a name that is not valid. */
export const verifyBranchName = (branch: string | undefined, maxBytes: number): string | undefined => {
  if (branch === undefined || branch === "main") return undefined;
  if (Buffer.byteLength(branch) > maxBytes) throw invalid(`branch is longer than ${maxBytes} bytes`);
  if (!branch.split("/").every(isRefPart))
    throw invalid(`branch is not a valid name: in the parts between slashes, ${rule}`);
  return branch;
};

/** Verifies the name of a branch to create or delete. @throws ServiceError code 13, also for main. */
export const verifyNewBranchName = (branch: string, maxBytes: number): string => {
  const name = verifyBranchName(branch, maxBytes);
  if (name === undefined) throw invalid("main is not the name of a branch: it exists always, choose another name");
  return name;
};
