import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { cachePath } from "../cache.ts";
import { MissingPart } from "../control-plane/go.ts";
import { lastLine } from "../last-line.ts";

const run = promisify(execFile);

/** What Node's binary, Python's modules and the operators' probes need beside Debian's minimum. */
const packages = [
  "ca-certificates",
  "libatomic1",
  "libbz2-1.0",
  "libexpat1",
  "libffi8",
  "liblzma5",
  "libncursesw6",
  "libreadline8",
  "libsqlite3-0",
  "libssl3",
  "libstdc++6",
  "procps",
  "wget",
  "zlib1g",
] as const;

/** The codename of this machine's release, so that interpreters of the machine find their libraries in the image. */
async function release(): Promise<string> {
  const text = await readFile("/etc/os-release", "utf8").catch(() => "");
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(text)?.[1];
  if (!/^ID=debian$/m.test(text) || codename === undefined) throw new MissingPart("Debian, for the images' base");
  return codename;
}

/** Debian's sources on this machine, in either of the two forms. */
const sources = (): string[] =>
  ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"].filter((file) => existsSync(file)).slice(0, 1);

/**
 * A tar file with a small Debian of this machine's release, made once and kept in the cache: the lowest layer of every image.
 * @throws MissingPart when it cannot be made
 */
export async function debianLayer(log: (line: string) => void): Promise<string> {
  const codename = await release();
  const key = createHash("sha256")
    .update([codename, ...packages].join(" "))
    .digest("hex")
    .slice(0, 12);
  const file = cachePath("nodes", `debian-${key}.tar`);
  if (existsSync(file)) return file;
  log(`making ${codename}'s root file system, once …`);
  const draft = `${file}.${process.pid}.tar`;
  try {
    await mkdir(dirname(file), { recursive: true });
    const options = ["--quiet", "--variant=minbase", `--include=${packages.join(",")}`];
    const smaller = ["/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/man/*"].map(
      (path) => `--dpkgopt=path-exclude=${path}`,
    );
    await run("mmdebstrap", [...options, ...smaller, codename, draft, ...sources()], { maxBuffer: 2 ** 26 });
    await rename(draft, file);
    return file;
  } catch (error) {
    throw new MissingPart(`Debian's root file system cannot be made: ${lastLine(error)}`);
  } finally {
    await rm(draft, { force: true });
  }
}
