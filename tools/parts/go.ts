import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { cachePath } from "./cache.ts";
import { lastLine } from "./last-line.ts";

const run = promisify(execFile);

/** A program built by Go, or what is missing for it. */
export type GoProgram =
  | { readonly program: string; readonly missing?: never }
  | { readonly missing: string; readonly program?: never };

interface Build {
  /** Folder of the cache. */
  readonly home: string;
  readonly name: string;
  /** What is built, for the log and for the line that says what is missing. */
  readonly title: string;
  readonly log: (line: string) => void;
  /** Builds the program into the folder. */
  readonly into: (folder: string) => Promise<unknown>;
}

const environment = (more: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...process.env,
  GOFLAGS: "-buildvcs=false -p=1",
  ...more,
});

/** A program that is built once and kept in the cache. */
async function cached({ home, name, title, log, into }: Build): Promise<GoProgram> {
  const program = join(home, name);
  if (existsSync(program)) return { program };
  try {
    await run("go", ["version"]);
  } catch {
    return { missing: "go is not on PATH" };
  }
  log(`building ${title} into ${home} (once, minutes on a small machine) …`);
  const draft = `${home}.${process.pid}`;
  try {
    await mkdir(draft, { recursive: true });
    await into(draft);
    // A concurrent build of the same program may have finished first.
    await rename(draft, home).catch((error: unknown) => {
      if (!existsSync(program)) throw error;
    });
    return { program };
  } catch (error) {
    return { missing: `${title} cannot be built: ${lastLine(error)}` };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * A Go program by its module path and exact version, built once and kept in the cache. Without Go or the
 * module, it returns what is missing instead of throwing.
 */
export async function goProgram(module: string, version: string, log: (line: string) => void): Promise<GoProgram> {
  const name = module.split("/").at(-1) ?? module;
  return cached({
    home: cachePath(`go-${name}-${version}`),
    name,
    title: `${module}@${version}`,
    log,
    into: (folder) =>
      run("go", ["install", `${module}@${version}`], {
        env: environment({ GOBIN: folder }),
        maxBuffer: 64 * 2 ** 20,
      }),
  });
}

/** The Go program of a folder with `go.mod`, `go.sum` and `main.go`, in the same way; its name is the folder's. */
export async function goSource(source: string, log: (line: string) => void): Promise<GoProgram> {
  const name = basename(source);
  const key = createHash("sha256");
  for (const file of ["go.mod", "go.sum", "main.go"]) key.update(await readFile(join(source, file)));
  return cached({
    home: cachePath(`go-${name}-${key.digest("hex").slice(0, 12)}`),
    name,
    title: `the Go program ${name}`,
    log,
    into: (folder) =>
      run("go", ["build", "-o", join(folder, name), "."], {
        cwd: source,
        env: environment({ GOWORK: "off", CGO_ENABLED: "0" }),
        maxBuffer: 64 * 2 ** 20,
      }),
  });
}
