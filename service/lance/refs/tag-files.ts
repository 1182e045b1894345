/**
 * The tags of a table in a local directory. The SDK replaces the file of a tag by an empty one when the disk is full and
 * reports success, and it lists no tags at all if the file of one is missing or invalid. Therefore tags in a local
 * directory are read, listed and moved as files. Their form is that of Lance's `TagContents`.
 */
import { randomUUID } from "node:crypto";
import { open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { ServiceError } from "../../errors.ts";
import type { TagEntry, TagTarget } from "../../query/answers.ts";
import { mapConcurrently } from "../map-concurrently.ts";
import { manifestName, versionsDirectory } from "./versions.ts";

/** Files read concurrently for one list. */
const concurrency = 8;

/** The file of a tag: its record and all its fields, or why there is none. */
type TagFile =
  | { readonly kind: "tag"; readonly record: TagEntry; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: "absent" }
  | { readonly kind: "invalid" };

/** The tags of a table by name, and the names of those whose files are invalid. */
export interface TagFiles {
  readonly tags: ReadonlyMap<string, TagEntry>;
  readonly invalid: readonly string[];
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const orIf = async <T, O>(code: string, action: Promise<T>, other: O): Promise<T | O> => {
  try {
    return await action;
  } catch (error) {
    if (codeOf(error) === code) return other;
    throw error;
  }
};

const extension = ".json";
const directoryOfTags = (table: string): string => `${table}/_refs/tags`;

/** The SDK stores characters outside ASCII percent-encoded. The guard admits no other character that it encodes. */
const fileOf = (table: string, tag: string): string =>
  `${directoryOfTags(table)}/${encodeURIComponent(tag)}${extension}`;

const tagOf = (file: string): string | undefined => {
  if (!file.endsWith(extension)) return undefined;
  const name = file.slice(0, -extension.length);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const parse = (text: string): TagFile => {
  let fields: Record<string, unknown> | null;
  try {
    fields = JSON.parse(text);
  } catch {
    return { kind: "invalid" };
  }
  const { version, manifestSize, branch = null } = fields ?? {};
  if (!isCount(version) || !isCount(manifestSize) || (branch !== null && typeof branch !== "string"))
    return { kind: "invalid" };
  const record = { version, ...(branch === null ? {} : { branch }), manifestSize };
  return { kind: "tag", record, fields: fields ?? {} };
};

const readTag = async (table: string, tag: string): Promise<TagFile> => {
  try {
    return parse(await readFile(fileOf(table, tag), "utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { kind: "absent" };
    if (codeOf(error) === "EISDIR") return { kind: "invalid" };
    throw error;
  }
};

/** @throws Error that `isGone` recognizes, if the table or the branch was dropped. */
const requireVersions = async (table: string, branch: string | undefined): Promise<void> => {
  const directory = versionsDirectory(table, branch);
  if ((await orIf("ENOENT", stat(directory), undefined)) === undefined) throw new Error(`Not found: ${directory}`);
};

/** @throws ServiceError code 8; code 19 if the file of the tag is invalid. */
export const findTag = async (table: string, tag: string): Promise<TagTarget> => {
  const file = await readTag(table, tag);
  if (file.kind === "tag") {
    const { version, branch } = file.record;
    return branch === undefined ? { version } : { version, branch };
  }
  await requireVersions(table, undefined);
  if (file.kind === "absent") throw new ServiceError(8);
  throw new ServiceError(19, {
    message: "the file of the tag is not valid: move the tag with tags/update, or delete it with tags/delete",
  });
};

/** A tag that is deleted meanwhile may be missing. */
export const listTagFiles = async (table: string): Promise<TagFiles> => {
  const files = await orIf("ENOENT", readdir(directoryOfTags(table)), undefined);
  if (files === undefined) await requireVersions(table, undefined);
  const names = (files ?? []).map(tagOf).filter((name) => name !== undefined);
  const tags = new Map<string, TagEntry>();
  const invalid: string[] = [];
  await mapConcurrently(concurrency, names, async (name) => {
    const file = await readTag(table, name);
    if (file.kind === "tag") tags.set(name, file.record);
    else if (file.kind === "invalid") invalid.push(name);
  });
  return { tags, invalid: invalid.sort() };
};

/** Size in bytes of the manifest of a version. @throws ServiceError code 11 if there is none. */
const manifestSizeOf = async (table: string, { version, branch }: TagTarget): Promise<number> => {
  const directory = versionsDirectory(table, branch);
  for (const countsDown of [true, false]) {
    const found = await orIf("ENOENT", stat(`${directory}/${manifestName(version, countsDown)}`), undefined);
    if (found !== undefined) return found.size;
  }
  await requireVersions(table, branch);
  throw new ServiceError(11);
};

const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, "r");
  await directory.sync().finally(() => directory.close());
};

const writeSynced = async (path: string, text: string): Promise<void> => {
  const file = await open(path, "wx");
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Replaces a file completely or not at all, also if the disk is full or the machine stops meanwhile. */
const replaceFile = async (directory: string, path: string, text: string): Promise<void> => {
  const temporary = `${directory}/.tmp-${randomUUID()}`;
  try {
    await writeSynced(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(directory);
};

/**
 * Moves a tag that exists. An invalid file is replaced.
 * @throws ServiceError code 8 or 11; native errors, in which case the tag is unchanged.
 */
export const moveTag = async (table: string, tag: string, target: TagTarget): Promise<void> => {
  const file = await readTag(table, tag);
  if (file.kind === "absent") {
    await requireVersions(table, undefined);
    throw new ServiceError(8);
  }
  const manifestSize = await manifestSizeOf(table, target);
  const updatedAt = new Date().toISOString();
  const kept = file.kind === "tag" ? file.fields : { createdAt: updatedAt, metadata: {} };
  const { version, branch = null } = target;
  const text = JSON.stringify({ ...kept, branch, version, updatedAt, manifestSize }, null, 2);
  await replaceFile(directoryOfTags(table), fileOf(table, tag), text);
};
