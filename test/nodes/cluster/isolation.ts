/**
 * Namespaces of its own for the cluster: mounts, network, processes, host name, IPC and control groups. Nothing inside has a
 * way out, and all of it ends with the first process inside, which ends with the suite, however that ends.
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { cachePath } from "../../../tools/parts/cache.ts";
import { MissingPart } from "../../../tools/parts/control-plane/go.ts";

const run = promisify(execFile);
const groups = "/sys/fs/cgroup";

/** Address of the machine inside, which every node has. */
export const machineAddress = "10.213.0.1";
/** Address of the cluster's name server. */
export const dnsAddress = "10.96.0.10";

/** Folders that the namespaces replace by their own, so that no program inside sees what lies there outside. */
const replaced = ["/tmp", "/run", "/var/log", "/sys"];

/** What is wrong with a place whose programs must run inside, or undefined. */
export const hiddenInside = (what: string, path: string): string | undefined => {
  const hiding = replaced.find((folder) => path === folder || path.startsWith(`${folder}/`));
  return hiding === undefined
    ? undefined
    : `${what} ${path} lies under ${hiding}, which the cluster replaces by a folder of its own: move it elsewhere`;
};

/** Values that the kubelet insists on, shown to it in place of the machine's, which stay. */
const kernelSettings: Readonly<Record<string, string>> = {
  "vm/overcommit_memory": "1",
  "vm/panic_on_oom": "0",
  "kernel/panic": "10",
  "kernel/panic_on_oops": "1",
};

/**
 * Run as the first process inside. The kubelet counts the processors of `node0`: a machine of fewer shows eight, so that the
 * pods of three roles are scheduled. Their time stays that of the machine's.
 */
const enter = `set -eu
export PATH="$PATH:/usr/sbin:/sbin"
mount --make-rshared /
mount -t sysfs sysfs /sys
mount -t tmpfs -o mode=755 cgroup ${groups}
for controller in $CONTROLLERS; do
  mkdir "${groups}/$controller"
  case $controller in systemd) options=none,name=systemd ;; *) options=$controller ;; esac
  mount -t cgroup -o "$options" cgroup "${groups}/$controller"
done
mount -t tmpfs -o mode=755 run /run
mkdir -p "$WORK/log" "$WORK/node0" "$WORK/tmp"
chmod 1777 "$WORK/tmp"
mount --bind "$WORK/log" /var/log
mount --bind "$WORK/tmp" /tmp
for file in "$WORK"/kernel/*; do
  mount --bind "$file" "/proc/sys/$(basename "$file" | tr : /)"
done
for file in /sys/devices/system/node/node0/*; do
  [ -f "$file" ] && cat "$file" >"$WORK/node0/$(basename "$file")" 2>/dev/null || :
done
for core in 0 1 2 3 4 5 6 7; do
  # One number under several names, each a core of its own: the number is what a control group is given.
  topology="$WORK/node0/cpu$(printf %0$((core / $(nproc) + 1))d $((core % $(nproc))))/topology"
  mkdir -p "$topology"
  echo $core >"$topology/core_id"
  echo 0 >"$topology/physical_package_id"
done
[ "$(nproc)" -ge 8 ] || mount --bind "$WORK/node0" /sys/devices/system/node/node0
mount --bind "$WORK/resolv.conf" "$(readlink -f /etc/resolv.conf)"
ip link set lo up
ip link add node0 type veth peer name node0-peer
ip address add ${machineAddress}/24 dev node0
ip link set node0 up
ip link set node0-peer up
ip route add default dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward
hostname lakehead-nodes
"$@" &
wait $!`;

/** Waits for the end of its standard input, which ends with the suite, then removes what a killed suite leaves. */
const clean = `cat >/dev/null
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  find ${groups}/*/"$NAME" -depth -type d -exec rmdir {} + 2>/dev/null || :
  rm -rf "$WORK" 2>/dev/null && [ -z "$(find ${groups} -maxdepth 2 -name "$NAME")" ] && exit 0
  sleep 1
done`;

/**
 * Runs `command` inside, its output on this process's.
 * @param entered called with the command that enters the namespaces by hand
 * @returns its exit code
 */
export async function runInside(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  entered: (command: string) => void,
): Promise<number> {
  const controllers = await controllersOfV1();
  await mkdir(cachePath("nodes"), { recursive: true });
  const work = await mkdtemp(cachePath("nodes", "run-"));
  const name = `lakehead-nodes-${process.pid}`;
  const cleaner = spawn("sh", ["-c", clean], {
    env: { ...process.env, WORK: work, NAME: name },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  try {
    await mkdir(join(work, "kernel"));
    for (const [path, value] of Object.entries(kernelSettings))
      await writeFile(join(work, "kernel", path.replace("/", ":")), `${value}\n`);
    await writeFile(
      join(work, "resolv.conf"),
      `nameserver ${dnsAddress}\nsearch svc.cluster.local cluster.local\noptions ndots:5\n`,
    );
    for (const controller of controllers) await mkdir(join(groups, controller, name));
    await inheritProcessors(name, controllers);
    // A group competes with the machine's other processes as one: with its default, a cluster gets the time of one process.
    await writeFile(join(groups, "cpu", name, "cpu.shares"), "10240");
    const join_ = controllers.map((controller) => `echo $$ >${groups}/${controller}/${name}/cgroup.procs`).join(" && ");
    const child = spawn(
      "setpriv",
      ["--pdeathsig", "KILL", "sh", "-c", `${join_} && exec "$@"`, "sh"].concat(
        [
          "unshare",
          "--mount",
          "--net",
          "--pid",
          "--uts",
          "--ipc",
          "--cgroup",
          "--fork",
          "--kill-child",
          "--mount-proc",
        ],
        ["sh", "-c", enter, "sh", ...command],
      ),
      { env: { ...process.env, ...env, WORK: work, CONTROLLERS: controllers.join(" ") }, stdio: "inherit" },
    );
    void firstInside(child).then((pid) =>
      entered(`nsenter --target ${pid} --mount --net --pid --uts --ipc --cgroup env KUBECONFIG=${work}/kubeconfig`),
    );
    return await exitCode(child);
  } finally {
    const cleaned = new Promise((resolve) => cleaner.once("close", resolve));
    cleaner.stdin?.end();
    await cleaned;
  }
}

/** The first process inside, by the number that this side knows. */
async function firstInside(child: ChildProcess): Promise<string> {
  for (;;) {
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").catch(() => "");
    const name = await readFile(`/proc/${child.pid}/comm`, "utf8").catch(() => "");
    if (name.trim() === "unshare" && children.trim() !== "") return children.trim();
    if (child.exitCode !== null) return "";
    await sleep(200);
  }
}

const exitCode = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    // Ctrl-C reaches the process group: the suite inside ends itself.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });

/** @throws MissingPart on a machine with the second version of control groups alone */
async function controllersOfV1(): Promise<readonly string[]> {
  if (!existsSync(join(groups, "memory")))
    throw new MissingPart("control groups of version 1; with KUBECONFIG it runs on that cluster");
  const { stdout } = await run("findmnt", ["--list", "--noheadings", "--types", "cgroup", "--output", "TARGET"]);
  return stdout
    .trim()
    .split("\n")
    .map((path) => path.slice(groups.length + 1));
}

/** A new group of processors is empty, and takes no process before it has some. */
async function inheritProcessors(name: string, controllers: readonly string[]): Promise<void> {
  if (!controllers.includes("cpuset")) return;
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    const { stdout } = await run("cat", [join(groups, "cpuset", file)]);
    await writeFile(join(groups, "cpuset", name, file), stdout.trim());
  }
  await writeFile(join(groups, "cpuset", name, "cgroup.clone_children"), "1");
}
