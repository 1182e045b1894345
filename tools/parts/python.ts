import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachePath } from "./cache.ts";
import { lastLine } from "./last-line.ts";

const run = promisify(execFile);

/** A Python interpreter with the requested packages, or what is missing for it. */
export type Python =
  | { readonly python: string; readonly missing?: never }
  | { readonly missing: string; readonly python?: never };

/**
 * A virtual environment with the packages of a requirements file of exact versions, made once for its content and kept in the
 * cache. Without Python 3 or the packages, it returns what is missing instead of throwing.
 */
export const pythonWith = async (requirements: string, log: (line: string) => void): Promise<Python> => {
  const key = createHash("sha256")
    .update(await readFile(requirements))
    .digest("hex")
    .slice(0, 12);
  const home = cachePath(`python-${key}`);
  const python = (folder: string) => join(folder, "bin", "python");
  const draft = `${home}.unfinished`;
  if (existsSync(python(home)) && !existsSync(draft)) return { python: python(home) };
  try {
    await run("python3", ["--version"]);
  } catch {
    return { missing: "python3 is not on PATH" };
  }
  log(`installing the Python packages of ${requirements} into ${home} (once) …`);
  // A virtual environment cannot be moved, so a marker file shows that it is complete.
  try {
    if (existsSync(draft)) await rm(home, { recursive: true, force: true });
    await mkdir(draft, { recursive: true });
    await run("python3", ["-m", "venv", home]);
    await run(python(home), ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements], {
      maxBuffer: 64 * 2 ** 20,
    });
    await rm(draft, { recursive: true });
    return { python: python(home) };
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    await rm(draft, { recursive: true, force: true });
    return { missing: `its Python packages cannot be installed: ${lastLine(error)}` };
  }
};

/** A folder for PYTHONPATH with another release of a package, or what is missing for it. */
export type Overlay =
  | { readonly folder: string; readonly missing?: never }
  | { readonly missing: string; readonly folder?: never };

/**
 * One release of a package without what it depends on, which the interpreter's environment has. Installed once and kept
 * in the cache. Without the package, it returns what is missing instead of throwing.
 */
export const pythonOverlay = async (
  python: string,
  name: string,
  version: string,
  log: (line: string) => void,
): Promise<Overlay> => {
  const folder = cachePath(`python-${name}-${version}`);
  if (existsSync(folder)) return { folder };
  const draft = `${folder}.unfinished`;
  log(`installing ${name} ${version} into ${folder} (once) …`);
  try {
    await rm(draft, { recursive: true, force: true });
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", draft];
    await run(python, [...install, `${name}==${version}`], { maxBuffer: 64 * 2 ** 20 });
    await rename(draft, folder);
    return { folder };
  } catch (error) {
    return { missing: `${name} ${version} cannot be installed: ${lastLine(error)}` };
  }
};
