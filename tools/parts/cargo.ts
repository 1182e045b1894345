import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachePath } from "./cache.ts";
import { lastLine } from "./last-line.ts";

const run = promisify(execFile);

/** A program built by cargo, or what is missing for it. */
export type CargoProgram =
  | { readonly program: string; readonly missing?: never }
  | { readonly missing: string; readonly program?: never };

/**
 * A program of a Rust package with a lock file, built into the cache. Without cargo, it returns what is missing.
 * @throws Error with the compiler's output if the package does not compile.
 */
export const cargoBuild = async (
  packageFolder: string,
  program: string,
  log: (line: string) => void,
): Promise<CargoProgram> => {
  const target = cachePath("cargo");
  const manifest = join(packageFolder, "Cargo.toml");
  try {
    await run("cargo", ["--version"]);
  } catch {
    return { missing: "cargo is not on PATH" };
  }
  try {
    await run("cargo", ["fetch", "--quiet", "--locked", "--manifest-path", manifest]);
  } catch (error) {
    return { missing: `its Rust crates cannot be installed: ${lastLine(error)}` };
  }
  const built = join(target, "debug", program);
  if (!existsSync(built)) log(`building ${program} with cargo into ${target} (once, some minutes) …`);
  const build = ["build", "--quiet", "--locked", "--manifest-path", manifest, "--target-dir", target];
  try {
    await run("nice", ["-n", "10", "cargo", ...build], { maxBuffer: 64 * 2 ** 20 });
  } catch (error) {
    throw new Error(`cargo cannot build ${packageFolder}:\n${(error as { stderr?: string }).stderr ?? String(error)}`);
  }
  return { program: built };
};
