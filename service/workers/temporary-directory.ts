import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Makes sure that temporary files can be written: the engine makes a directory for them when it opens a database, and
 * ends the process without a word where it cannot.
 * @throws Error that says what to do.
 */
export const requireTemporaryDirectory = async (): Promise<void> => {
  const directory = tmpdir();
  try {
    await rmdir(await mkdtemp(join(directory, "lakehead-")));
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new Error(
      `the directory for temporary files, ${directory}, cannot be written (${code}): mount one there, or name another by TMPDIR`,
      { cause: error },
    );
  }
};

/** A worker process's own: one that is ended by a signal leaves what it has written, and its supervisor removes it. */
export const temporaryDirectoryOf = (pid: number): string => join(tmpdir(), `lakehead-worker-${pid}`);
