import { lstatSync } from "node:fs";
import { copyFile, mkdir, readFile, readlink, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { environment as names } from "../../service/contract.ts";
import { run, start, works } from "./command.ts";
import { databasePath } from "./container.ts";
import type { Process, ProcessOptions } from "./directory.ts";
import type { ContainerConfig } from "./dockerfile.ts";

/** Path of Node in the base image, and its search path. */
const nodePath = "/usr/local/bin/node";
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Node needs shared libraries of the base image: this machine's replace them. Nothing else is present, not even a shell. */
const libraries = ["lib", "lib64", "usr/lib", "usr/lib64"] as const;
const devices = ["null", "zero", "random", "urandom"] as const;

/** Namespaces of its own need Linux and root. */
export const canIsolate = async (): Promise<boolean> =>
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  (await works(["unshare", "--mount", "--pid", "--fork", "true"])) &&
  (await works(["nsenter", "--version"]));

/** Run in the new namespaces: mounts, then becomes the service. */
const enter = `set -eu
mount --make-rprivate /
mount --bind "$IMAGE_ROOT" "$IMAGE_ROOT"
for path in $IMAGE_LIBRARIES; do mount --bind -o ro "/$path" "$IMAGE_ROOT/$path"; done
mount -t tmpfs -o mode=755 dev "$IMAGE_ROOT/dev"
for device in ${devices.join(" ")}; do
  touch "$IMAGE_ROOT/dev/$device"
  mount --bind "/dev/$device" "$IMAGE_ROOT/dev/$device"
done
for path in $IMAGE_VOLUMES; do mount -t tmpfs -o mode=1777 volume "$IMAGE_ROOT/$path"; done
mount --bind "$IMAGE_DATA" "$IMAGE_ROOT${databasePath}"
mount -o remount,bind,ro "$IMAGE_ROOT"
mount -t proc proc "$IMAGE_ROOT/proc"
exec env -u IMAGE_ROOT -u IMAGE_DATA -u IMAGE_LIBRARIES -u IMAGE_VOLUMES unshare --root="$IMAGE_ROOT" "$@"`;

const isDirectory = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const linkOf = async (path: string): Promise<string | undefined> => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isSymbolicLink() === true ? readlink(path) : undefined;
};

/** Adds the replacements of the base image's files and the mount points. */
export const prepareRoot = async (root: string, { volumes }: ContainerConfig): Promise<void> => {
  for (const path of libraries) {
    const link = await linkOf(`/${path}`);
    if (link !== undefined) await symlink(link, join(root, path));
    else if (isDirectory(`/${path}`)) await mkdir(join(root, path), { recursive: true });
  }
  for (const path of [...volumes, "dev", "proc", databasePath, dirname(nodePath)])
    await mkdir(join(root, path), { recursive: true });
  await copyFile(process.execPath, join(root, nodePath));
};

const firstChildOf = async (pid: number): Promise<number | undefined> => {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return text.trim() === "" ? undefined : Number(text.trim().split(" ")[0]);
};

/**
 * The image's command as process 1 of namespaces of its own: the image's files as a read-only root, its user, its
 * environment, a volume for the database. The root must have been prepared.
 */
export const startIsolated = async ({ root, config, data, environment }: ProcessOptions): Promise<Process> => {
  const [uid = "", gid = uid] = (config.user ?? "0").split(":");
  const env = { PATH: searchPath, ...config.environment, ...environment, [names.database]: databasePath };
  const identity = [`--setgid=${gid}`, `--setuid=${uid}`];
  const { child, output, ended } = start(
    ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", enter, "sh", `--wd=${config.workdir}`].concat(
      identity,
      config.command ?? [],
    ),
    {
      env: {
        ...env,
        IMAGE_ROOT: root,
        IMAGE_DATA: data,
        IMAGE_LIBRARIES: libraries.filter((path) => isDirectory(join(root, path))).join(" "),
        IMAGE_VOLUMES: config.volumes.join(" "),
      },
    },
  );
  let pid: number | undefined;
  while (pid === undefined && child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    pid = child.pid === undefined ? undefined : await firstChildOf(child.pid);
  }
  if (pid === undefined) throw new Error(`the namespaces could not be made:\n${output()}`);
  const target = ["nsenter", `--target=${pid}`, "--mount", "--pid", "--root", "--wd", ...identity, "--"];
  return { pid, output, ended, run: (command) => run([...target, ...command], { env }) };
};
