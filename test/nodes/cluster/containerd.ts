import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { cachePath } from "../../../tools/parts/cache.ts";
import { cniFolder } from "../../../tools/parts/nodes/programs.ts";
import { Daemon } from "../../e2e/support/daemon.ts";
import { pauseName, type StoredImage } from "./images.ts";

const run = promisify(execFile);

export interface ContainerdOptions {
  /** Images and snapshots. */
  readonly root: string;
  /** Sockets and the state of what runs, gone with the machine. */
  readonly state: string;
  readonly logFile: string;
  /** Folder with the network's configuration. */
  readonly network?: string;
}

export interface Containerd {
  readonly daemon: Daemon;
  readonly socket: string;
}

/** containerd makes the network's folder where there is none. */
const configuration = ({ root, state, network = join(state, "network") }: ContainerdOptions): string => `version = 2
root = "${root}"
state = "${state}"
oom_score = 0
[grpc]
  address = "${state}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseName}"
  # Without CAP_SYS_RESOURCE no process may lower its score.
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniFolder}"
    conf_dir = "${network}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`;

export async function startContainerd(options: ContainerdOptions): Promise<Containerd> {
  await mkdir(options.state, { recursive: true });
  const file = join(options.state, "config.toml");
  await writeFile(file, configuration(options));
  const args = ["--config", file];
  const daemon = new Daemon({ name: "containerd", command: "containerd", args, logFile: options.logFile });
  const socket = join(options.state, "containerd.sock");
  await daemon.until("containerd's answer", async () => {
    await run("ctr", ["--address", socket, "version"]);
    return true;
  });
  return { daemon, socket };
}

/** The databases of containerd, which change in place; everything else below its root is written once. */
const databases = ["io.containerd.metadata.v1.bolt/meta.db", "io.containerd.snapshotter.v1.overlayfs/metadata.db"];

/** A copy of a root that shares the files of its images. Both must be on one file system. */
export async function copyRoot(from: string, to: string): Promise<void> {
  await run("cp", ["--archive", "--link", from, to]);
  for (const name of databases) {
    await rm(join(to, name));
    await cp(join(from, name), join(to, name));
  }
}

/**
 * A root of containerd that has the images unpacked, from the cache or made into it. Each image is imported over the root
 * that has those before it, so that a change of the last leaves the others.
 */
export async function imageRoot(images: readonly StoredImage[], log: (line: string) => void): Promise<string> {
  const key = createHash("sha256")
    .update(images.map(({ archive }) => basename(archive)).join(" "))
    .digest("hex")
    .slice(0, 12);
  const root = cachePath("nodes", `root-${images.length}-${key}`);
  const image = images.at(-1);
  if (image === undefined || existsSync(root)) return root;
  const before = images.slice(0, -1);
  const lower = await imageRoot(before, log);
  log(`importing ${image.name}, once …`);
  const draft = `${root}.unfinished-${process.pid}`;
  const state = `/run/lakehead-import-${process.pid}`;
  await (before.length === 0 ? mkdir(draft) : copyRoot(lower, draft));
  const { daemon, socket } = await startContainerd({ root: draft, state, logFile: `${draft}.log` });
  try {
    const ctr = ["--address", socket, "--namespace", "k8s.io"];
    await run("ctr", [...ctr, "images", "import", image.archive], { maxBuffer: 2 ** 26 });
  } finally {
    await daemon.stop();
    await rm(state, { recursive: true, force: true });
  }
  await rename(draft, root);
  await rm(`${draft}.log`);
  // Only the newest root of each length is of use.
  for (const name of await readdir(cachePath("nodes")))
    if (name.startsWith(`root-${images.length}-`) && name !== basename(root) && !name.includes("unfinished"))
      await rm(cachePath("nodes", name), { recursive: true });
  return root;
}
