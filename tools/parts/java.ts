import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachePath } from "./cache.ts";

const run = promisify(execFile);

/** A class path with the requested packages, or what is missing for it. */
export type ClassPath =
  | { readonly classPath: string; readonly missing?: never }
  | { readonly missing: string; readonly classPath?: never };

const plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

const firstLine = (error: unknown): string => {
  const { stdout, message } = error as { stdout?: string; message?: string };
  return (stdout?.trim() || message || String(error)).split("\n").at(0) ?? "";
};

/**
 * The jar files of a Maven project's dependencies, copied once for its content and kept in the cache. Without Java 11,
 * Maven or the packages, it returns what is missing instead of throwing.
 */
export const javaWith = async (pom: string, log: (line: string) => void): Promise<ClassPath> => {
  const key = createHash("sha256")
    .update(await readFile(pom))
    .digest("hex")
    .slice(0, 12);
  const home = cachePath(`java-${key}`);
  try {
    await run("java", ["--version"]);
  } catch {
    return { missing: "java (11 or newer) is not on PATH" };
  }
  if (existsSync(home)) return { classPath: join(home, "*") };
  try {
    await run("mvn", ["--version"]);
  } catch {
    return { missing: "mvn is not on PATH" };
  }
  log(`copying the Java packages of ${pom} into ${home} (once) …`);
  const draft = `${home}.unfinished`;
  try {
    await rm(draft, { recursive: true, force: true });
    await run("mvn", ["-q", "-B", "-f", pom, plugin, `-DoutputDirectory=${draft}`], { maxBuffer: 64 * 2 ** 20 });
    await rename(draft, home);
    return { classPath: join(home, "*") };
  } catch (error) {
    return { missing: `its Java packages cannot be installed: ${firstLine(error)}` };
  }
};
