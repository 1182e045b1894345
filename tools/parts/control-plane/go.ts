import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { cachePath } from "../cache.ts";
import { lastLine } from "../last-line.ts";
import { type GoPart, goParts, type PartName } from "./table.ts";

const run = promisify(execFile);

/** A part that is not available on this machine: reported in one line, not a failure of the suite. */
export class MissingPart extends Error {
  override readonly name = "MissingPart";
}

interface Go {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Go at low priority and on at most two processors, to leave the machine usable. */
const go = ({ folder, environment }: Go, args: readonly string[]) =>
  run("nice", ["-n", "10", "go", ...args], { cwd: folder, env: environment, maxBuffer: 256 * 2 ** 20 });

const environmentFor = ({ unlisted = {} }: GoPart): NodeJS.ProcessEnv => ({
  ...process.env,
  GOFLAGS: "-mod=mod -p=2 -buildvcs=false -trimpath",
  GOWORK: "off",
  CGO_ENABLED: "0",
  GONOSUMDB: [process.env.GONOSUMDB, ...Object.keys(unlisted)].filter(Boolean).join(","),
});

/** Folder of the part's binaries, by the content of its table entry. */
const homeOf = (name: PartName): string => {
  const key = createHash("sha256").update(JSON.stringify(goParts[name])).digest("hex").slice(0, 12);
  return cachePath("go", `${name}-${key}`);
};

/** Those of the parts that the cache does not have yet. */
export const unbuilt = (names: readonly PartName[]): readonly PartName[] =>
  names.filter((name) => !existsSync(join(homeOf(name), "bin")));

/** A module of its own for the part, because `go install` refuses one whose dependencies need replacements. */
async function writeModule(part: GoPart, tools: Go): Promise<void> {
  await writeFile(join(tools.folder, "go.mod"), "module lakehead.test/part\n\ngo 1.26\n");
  const sums = Object.entries(part.unlisted ?? {}).flatMap(([module, { zip, mod }]) => {
    const version = part.modules[module];
    return [`${module} ${version} ${zip}`, `${module} ${version}/go.mod ${mod}`];
  });
  await writeFile(join(tools.folder, "go.sum"), sums.map((line) => `${line}\n`).join(""));
  const replacements = { ...part.replace, ...(await stagingOf(part, tools)) };
  const edits = [
    ...Object.entries(replacements).map(([from, to]) => `-replace=${from}=${to}`),
    ...Object.entries(part.modules).map(([module, version]) => `-require=${module}@${version}`),
  ];
  await go(tools, ["mod", "edit", ...edits]);
}

/** Kubernetes publishes what it keeps under `./staging` as modules of their own: those, at the matching version. */
async function stagingOf({ staging, modules }: GoPart, tools: Go): Promise<Record<string, string>> {
  if (staging === undefined) return {};
  const { stdout } = await go(tools, ["mod", "download", "-json", `${staging.of}@${modules[staging.of]}`]);
  const { GoMod } = JSON.parse(stdout) as { GoMod: string };
  const { stdout: mod } = await go(tools, ["mod", "edit", "-json", GoMod]);
  const { Replace } = JSON.parse(mod) as { Replace: { Old: { Path: string }; New: { Path: string } }[] | null };
  return Object.fromEntries(
    (Replace ?? [])
      .filter(({ New }) => New.Path.startsWith("./staging/"))
      .map(({ Old }) => [Old.Path, `${Old.Path}@${staging.version}`]),
  );
}

/** `go.etcd.io/etcd/server/v3` is the package of `etcd`; everything else is called as its last folder. */
const binaryOf = (path: string): string => (path.endsWith("/server/v3") ? "etcd" : basename(path));

/**
 * The folder of a part's binaries: from the cache, or built into it, which takes minutes.
 * @throws MissingPart when Go or one of the modules is not available
 */
export async function goPart(name: PartName, log: (line: string) => void): Promise<string> {
  const home = homeOf(name);
  const binaries = join(home, "bin");
  if (existsSync(binaries)) return binaries;
  const part = goParts[name];
  const draft = `${home}.unfinished-${process.pid}`;
  const tools: Go = { folder: draft, environment: environmentFor(part) };
  try {
    await mkdir(draft, { recursive: true });
    log(`building ${name} (${Object.values(part.modules)[0]}) from its Go module into the cache, once …`);
    const started = performance.now();
    await go(tools, ["version"]);
    await writeModule(part, tools);
    const settings = Object.entries(part.settings ?? {}).map(([key, value]) => `-X ${key}=${value}`);
    if (part.main !== undefined) await writeFile(join(draft, "main.go"), part.main.source);
    const packages = [
      ...part.packages.map((path) => ({ path, binary: binaryOf(path) })),
      ...(part.main === undefined ? [] : [{ path: ".", binary: part.main.name }]),
    ];
    for (const { path, binary } of packages)
      await go(tools, [
        "build",
        `-ldflags=${["-s", "-w", ...settings].join(" ")}`,
        "-o",
        join(draft, "bin", binary),
        path,
      ]);
    await rename(draft, home).catch(async (error: unknown) => {
      // Of two concurrent builds, the first one's result stays.
      if (!existsSync(binaries)) throw error;
    });
    log(
      `built ${name}: ${(await readdir(binaries)).join(", ")} in ${Math.round((performance.now() - started) / 1000)} s`,
    );
    return binaries;
  } catch (error) {
    throw new MissingPart(`${name} cannot be built from its Go module: ${lastLine(error)}`);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Folder of a module's source, for files that are read from it. */
export async function goModule(module: string, version: string): Promise<string> {
  const tools: Go = { folder: cachePath(), environment: environmentFor({ modules: {}, packages: [] }) };
  await mkdir(tools.folder, { recursive: true });
  try {
    const { stdout } = await go(tools, ["mod", "download", "-json", `${module}@${version}`]);
    return (JSON.parse(stdout) as { Dir: string }).Dir;
  } catch (error) {
    throw new MissingPart(`the Go module ${module} cannot be downloaded: ${lastLine(error)}`);
  }
}
