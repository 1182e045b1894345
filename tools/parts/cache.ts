import { homedir } from "node:os";
import { join } from "node:path";

const { LAKEHEAD_TEST_CACHE, XDG_CACHE_HOME } = process.env;

/**
 * Cache of parts that npm does not install, outside the repository: `LAKEHEAD_TEST_CACHE`,
 * or `lakehead` in the user's cache directory.
 */
export const cachePath = (...parts: readonly string[]): string =>
  join(LAKEHEAD_TEST_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), ".cache"), "lakehead"), ...parts);
