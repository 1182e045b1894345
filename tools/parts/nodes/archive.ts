/** Image archives in Docker's format, written without a container engine. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The part of an image's configuration that these images use. */
export interface ImageConfig {
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
}

export interface ImageArchive {
  /** With registry and tag, as the container runtime resolves it: `docker.io/library/lakehead:0.2.0`. */
  readonly name: string;
  /** Uncompressed tar files, lowest first. */
  readonly layers: readonly string[];
  readonly config: ImageConfig;
}

async function digest(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** Writes a folder as a layer whose files belong to root. */
export async function writeLayer(folder: string, file: string): Promise<void> {
  const reproducible = ["--sort=name", "--numeric-owner", "--owner=0", "--group=0"];
  await run("tar", ["--create", "--file", file, ...reproducible, "--directory", folder, "."]);
}

export async function writeArchive({ name, layers, config }: ImageArchive, file: string): Promise<void> {
  const folder = await mkdtemp(join(dirname(file), "archive-"));
  try {
    const digests = await Promise.all(layers.map(digest));
    const image = {
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      config,
      rootfs: { type: "layers", diff_ids: digests.map((one) => `sha256:${one}`) },
    };
    const paths = digests.map((one) => `${one}/layer.tar`);
    for (const [index, path] of paths.entries()) {
      await mkdir(join(folder, dirname(path)), { recursive: true });
      await link(layers[index] ?? "", join(folder, path));
    }
    await writeFile(join(folder, "config.json"), JSON.stringify(image));
    await writeFile(
      join(folder, "manifest.json"),
      JSON.stringify([{ Config: "config.json", RepoTags: [name], Layers: paths }]),
    );
    await run("tar", ["--create", "--file", file, "--directory", folder, "manifest.json", "config.json", ...paths]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
