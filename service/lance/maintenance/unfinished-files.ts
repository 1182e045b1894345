import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * How the SDK names a file in a directory until it is whole; then it renames it. A write that is killed leaves such a file,
 * which the SDK's own clean-up does not know.
 */
const unfinished = /^\.tmp\w+$|#\d+$/;

/** Deletes the files of a table in a local directory that writes began before a time and never ended. */
export const deleteUnfinishedFiles = async (table: string, before: number): Promise<void> => {
  const entries = await readdir(table, { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile() && unfinished.test(entry.name))) {
    const path = join(parentPath, name);
    // Gone, if its write ended meanwhile.
    const changedAt = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    );
    if (changedAt !== undefined && changedAt < before) await rm(path, { force: true });
  }
};
