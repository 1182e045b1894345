import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachePath } from "./cache.ts";

const run = promisify(execFile);

/** A folder whose node_modules has the requested packages, or what is missing for it. */
export type Packages =
  | { readonly folder: string; readonly missing?: never }
  | { readonly missing: string; readonly folder?: never };

/**
 * The packages of a lock file, installed once for its content and kept in the cache. Without the packages, it returns what
 * is missing instead of throwing.
 */
export const npmWith = async (source: string, log: (line: string) => void): Promise<Packages> => {
  const lock = await readFile(join(source, "package-lock.json"));
  const folder = cachePath(`npm-${createHash("sha256").update(lock).digest("hex").slice(0, 12)}`);
  if (existsSync(folder)) return { folder };
  const draft = `${folder}.unfinished`;
  log(`installing the npm packages of ${source} into ${folder} (once) …`);
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { recursive: true });
    for (const file of ["package.json", "package-lock.json"]) await copyFile(join(source, file), join(draft, file));
    await run("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: draft, maxBuffer: 64 * 2 ** 20 });
    await rename(draft, folder);
    return { folder };
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message?: string };
    const lines = (stderr?.trim() || message || String(error)).split("\n");
    return { missing: `its npm packages cannot be installed: ${lines.at(-1) ?? ""}` };
  }
};
