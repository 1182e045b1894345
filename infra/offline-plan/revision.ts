/** Writes the files of a git revision to a temporary folder, with this folder's packages. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

export class RevisionError extends Error {}

const git = async (root: string, ...args: string[]): Promise<string> =>
  (await execute("git", ["-C", root, ...args])).stdout;

/**
 * Calls `use` with the project's folder at the revision, and removes it afterwards. The revision's program runs with the
 * packages that are installed now, not with those of its own lock file.
 *
 * @throws RevisionError when there is no such revision, or no git repository.
 */
export async function withRevision<T>(root: string, revision: string, use: (folder: string) => Promise<T>): Promise<T> {
  const commit = await git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`).then(
    (out) => out.trim(),
    () => "",
  );
  if (commit === "")
    throw new RevisionError(
      `revision "${revision}" does not exist in ${root}; in a shallow clone, run git fetch origin ${revision} first`,
    );
  const prefix = (await git(root, "rev-parse", "--show-prefix")).trim();
  const top = (await git(root, "rev-parse", "--show-toplevel")).trim();
  const tree = `${commit}:${prefix.replace(/\/$/, "")}`;
  if ((await git(top, "cat-file", "-t", tree).catch(() => "")).trim() !== "tree")
    throw new RevisionError(`revision "${revision}" has no folder ${prefix}`);
  const folder = await mkdtemp(join(await realpath(tmpdir()), "lakehead-plan-"));
  try {
    const archive = join(folder, ".tar");
    await git(top, "archive", "--format=tar", "--output", archive, tree);
    await execute("tar", ["-xf", archive, "-C", folder]);
    const modules = await nearestModules(root);
    if (!existsSync(join(folder, "node_modules"))) await symlink(modules, join(folder, "node_modules"), "junction");
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function nearestModules(folder: string): Promise<string> {
  const candidate = join(folder, "node_modules");
  if (existsSync(candidate)) return realpath(candidate);
  const parent = join(folder, "..");
  if (parent === folder) throw new RevisionError("node_modules does not exist: run npm ci first");
  return nearestModules(parent);
}
