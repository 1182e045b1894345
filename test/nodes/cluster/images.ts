/** The images of the suite, made without a registry and without a container engine, and kept in the cache. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { clientRequirements, maintenancePackages } from "../../../infra/model/client-requirements.ts";
import { kuberay, ray } from "../../../infra/versions.ts";
import { cachePath } from "../../../tools/parts/cache.ts";
import { goPart, MissingPart } from "../../../tools/parts/control-plane/go.ts";
import { kuberayVersion } from "../../../tools/parts/control-plane/table.ts";
import { lastLine } from "../../../tools/parts/last-line.ts";
import { type ImageConfig, writeArchive, writeLayer } from "../../../tools/parts/nodes/archive.ts";
import { debianLayer } from "../../../tools/parts/nodes/debian.ts";
import { containerConfig, parseDockerfile } from "../../image/dockerfile.ts";
import { performDockerfile } from "../../image/perform.ts";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** An image in the cache. */
export interface StoredImage {
  readonly name: string;
  readonly archive: string;
}

interface Recipe {
  readonly name: string;
  /** Everything that the image depends on beside the text of `fill`. */
  readonly inputs: readonly string[];
  /** Fills a layer over Debian's, or says that the image is the layer alone. */
  readonly fill?: (root: string, work: string) => Promise<void>;
  readonly config: ImageConfig;
}

type Log = (line: string) => void;

async function stored({ name, inputs, fill, config }: Recipe, log: Log): Promise<StoredImage> {
  const base = await debianLayer(log);
  const key = createHash("sha256")
    .update(JSON.stringify([name, base, config, inputs, String(fill)]))
    .digest("hex")
    .slice(0, 12);
  const archive = cachePath("nodes", `${name.replaceAll(/[^\w.-]+/g, "-")}-${key}.tar`);
  if (existsSync(archive)) return { name, archive };
  log(`making the image ${name}, once …`);
  const work = await mkdtemp(cachePath("nodes", "image-"));
  try {
    const layers = [base];
    if (fill !== undefined) {
      const root = join(work, "root");
      await mkdir(root);
      await fill(root, work);
      await writeLayer(root, join(work, "layer.tar"));
      layers.push(join(work, "layer.tar"));
    }
    const draft = join(work, "archive.tar");
    await writeArchive({ name, layers, config }, draft);
    await rename(draft, archive);
    return { name, archive };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A user of the image beside root, as the images of others have it. */
async function addUser(root: string, line: string): Promise<void> {
  await mkdir(join(root, "etc"), { recursive: true });
  const users = ["root:x:0:0:root:/root:/bin/bash", "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin", line];
  await writeFile(join(root, "etc", "passwd"), `${users.join("\n")}\n`);
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.sort().map(async (file) => `${relative(folder, file)}\n${await readFile(file, "utf8")}`));
}

/** The table service, from the steps of the project's Dockerfile over Debian and this process's Node. */
export async function tableServiceImage(log: Log): Promise<StoredImage> {
  const text = await readFile(join(repository, "Dockerfile"), "utf8");
  const stage = parseDockerfile(text).at(-1);
  if (stage === undefined) throw new Error("the Dockerfile has no stage");
  const { workdir, environment, user, command } = containerConfig(stage);
  const path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  return stored(
    {
      name: "docker.io/library/lakehead:0.2.0",
      inputs: [
        text,
        await readFile(join(repository, "package-lock.json"), "utf8"),
        ...(await filesUnder(join(repository, "service"))),
        process.version,
      ],
      config: {
        Env: [path, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
        WorkingDir: workdir,
        ...(user === undefined ? {} : { User: user }),
        ...(command === undefined ? {} : { Cmd: command }),
      },
      async fill(root, work) {
        const { root: performed } = await performDockerfile(join(work, "stages"), log);
        await run("cp", ["--archive", `${performed}/.`, root]);
        await addUser(root, "node:x:1000:1000::/home/node:/bin/bash");
        await mkdir(join(root, "usr/local/bin"), { recursive: true });
        await cp(process.execPath, join(root, "usr/local/bin/node"));
      },
    },
    log,
  );
}

/** The interpreter of Ray's images: its prefix on this machine. @throws MissingPart when there is none of that version */
async function pythonPrefix(version: string): Promise<string> {
  const ask = ["-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.base_prefix)"];
  for (const program of [`python${version}`, "python3"]) {
    // With pyenv, the name of an interpreter on PATH works only where its version is selected.
    const options = { env: { ...process.env, PYENV_VERSION: version } };
    const { stdout } = await run(program, ask, options).catch(() => ({ stdout: "" }));
    const [found, prefix] = stdout.trim().split(" ");
    if (found === version && prefix !== undefined) return prefix;
  }
  throw new MissingPart(`Python ${version}, which the stack's Ray image has`);
}

/** Ray under the name that the stack asks for, with the packages of the client's emitted requirements and of the maintenance. */
export async function rayImage(log: Log): Promise<StoredImage> {
  const settings = { version: ray.default, image: { repository: ray.image, python: ray.python } };
  // A runtime environment with these packages is then complete without a way to PyPI.
  const requirements = `${clientRequirements(settings, {})}${maintenancePackages.join("\n")}\n`;
  const prefix = await pythonPrefix(ray.python);
  return stored(
    {
      name: `docker.io/${ray.image}:${ray.default}-py${ray.python.replace(".", "")}`,
      inputs: [requirements, prefix],
      config: {
        Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/home/ray", "LANG=C.UTF-8"],
        User: "1000:100",
        WorkingDir: "/home/ray",
        Cmd: ["bash"],
      },
      async fill(root, work) {
        const target = join(root, "usr/local");
        await mkdir(target, { recursive: true });
        const skip = (path: string) =>
          /\/(__pycache__|test|idlelib|ensurepip)$/.test(path) || /site-packages\/(?!pip(-|\/|$))/.test(path);
        for (const part of ["bin", "lib", "include"])
          await cp(join(prefix, part), join(target, part), {
            recursive: true,
            verbatimSymlinks: true,
            filter: (path) => !skip(path),
          });
        await writeFile(join(work, "requirements.txt"), requirements);
        const python = join(target, "bin", `python${ray.python}`);
        const install = ["-m", "pip", "install", "--quiet", "--no-warn-script-location", "--disable-pip-version-check"];
        const env = { ...process.env, LD_LIBRARY_PATH: join(target, "lib"), PYTHONHOME: target };
        await run(python, [...install, "-r", join(work, "requirements.txt")], { env, maxBuffer: 2 ** 26 }).catch(
          (error: unknown) => {
            throw new MissingPart(`Ray's packages cannot be installed: ${lastLine(error)}`);
          },
        );
        await retarget(join(target, "bin"), root);
        await moveSettings(join(target, "lib", `python${ray.python}`), prefix);
        // Ray makes virtual environments with an empty environment, so no variable can name the library's folder.
        const shared = `libpython${ray.python}.so.1.0`;
        await mkdir(join(root, "usr/lib"), { recursive: true });
        await symlink(`../local/lib/${shared}`, join(root, "usr/lib", shared));
        await cp(python, join(target, "bin", "python"));
        await addUser(root, "ray:x:1000:100::/home/ray:/bin/bash");
        await mkdir(join(root, "home", "ray"), { recursive: true });
        // Files of a layer belong to root.
        await chmod(join(root, "home", "ray"), 0o777);
      },
    },
    log,
  );
}

/** Scripts that were installed outside the image name the interpreter by its path there. */
async function retarget(folder: string, root: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const text = await readFile(file, "latin1");
    if (text.startsWith(`#!${root}`)) await writeFile(file, text.replace(`#!${root}`, "#!"), "latin1");
  }
}

/** Python's build settings name its prefix on this machine, where virtualenv looks for the shared library. */
async function moveSettings(library: string, prefix: string): Promise<void> {
  for (const name of await readdir(library)) {
    if (!name.startsWith("_sysconfigdata")) continue;
    const file = join(library, name);
    await writeFile(file, (await readFile(file, "utf8")).replaceAll(`${prefix}/lib`, "/usr/local/lib"));
  }
}

/** KubeRay from its Go module, under the name of its own image. */
export async function operatorImage(log: Log): Promise<StoredImage> {
  const binary = join(await goPart("kuberay", log), "ray-operator");
  return stored(
    {
      name: `${kuberay.image}:${kuberayVersion}`,
      inputs: [binary],
      config: { User: "65532:65532", Entrypoint: ["/manager"] },
      fill: (root) => cp(binary, join(root, "manager")),
    },
    log,
  );
}

/** The process that holds a pod's namespaces. */
export const pauseName = "lakehead.test/pause:1";

const pauseImage = (log: Log): Promise<StoredImage> =>
  stored({ name: pauseName, inputs: [], config: { User: "65535:65535", Entrypoint: ["/bin/sleep", "infinity"] } }, log);

/** Every image that a node has, those that change least first. */
export async function allImages(log: Log): Promise<readonly StoredImage[]> {
  return [await pauseImage(log), await rayImage(log), await operatorImage(log), await tableServiceImage(log)];
}
