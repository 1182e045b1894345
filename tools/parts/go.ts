import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachePath } from "./cache.ts";

const run = promisify(execFile);

/** A program built by Go, or what is missing for it. */
export type GoProgram =
  | { readonly program: string; readonly missing?: never }
  | { readonly missing: string; readonly program?: never };

const lastLine = (error: unknown): string => {
  const { stderr, message } = error as { stderr?: string; message?: string };
  return (stderr?.trim() || message || String(error)).split("\n").at(-1) ?? "";
};

/**
 * A Go program by its module path and exact version, built once and kept in the cache. Without Go or the
 * module, it returns what is missing instead of throwing.
 */
export const goProgram = async (module: string, version: string, log: (line: string) => void): Promise<GoProgram> => {
  const name = module.split("/").at(-1) ?? module;
  const home = cachePath(`go-${name}-${version}`);
  const program = join(home, name);
  if (existsSync(program)) return { program };
  try {
    await run("go", ["version"]);
  } catch {
    return { missing: "go is not on PATH" };
  }
  log(`building ${module}@${version} into ${home} (once, minutes on a small machine) …`);
  const draft = `${home}.${process.pid}`;
  try {
    await mkdir(draft, { recursive: true });
    const environment = { ...process.env, GOBIN: draft, GOFLAGS: "-buildvcs=false -p=1" };
    await run("go", ["install", `${module}@${version}`], { env: environment, maxBuffer: 64 * 2 ** 20 });
    // A concurrent build of the same program may have finished first.
    await rename(draft, home).catch((error: unknown) => {
      if (!existsSync(program)) throw error;
    });
    return { program };
  } catch (error) {
    return { missing: `${module}@${version} cannot be built: ${lastLine(error)}` };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};
