import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Checks that temporary files can be written. The engine creates a directory for them when it opens a database, and if it
 * cannot, it exits the process without an error message.
 * @throws Error that says what to change.
 */
export const requireTemporaryDirectory = async (): Promise<void> => {
  const directory = tmpdir();
  try {
    await rmdir(await mkdtemp(join(directory, "lakehead-")));
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new Error(
      `the directory for temporary files, ${directory}, is not writable (${code}): mount a writable one, or set TMPDIR to another`,
      { cause: error },
    );
  }
};

/** The temporary directory of a worker process. Its supervisor removes it, because a killed process cannot. */
export const temporaryDirectoryOf = (pid: number): string => join(tmpdir(), `lakehead-worker-${pid}`);
