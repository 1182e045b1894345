/** What is left of a suite that was killed. As a program of its own, it is the suite that gets killed. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { until } from "../e2e/support/daemon.ts";
import { holds } from "../e2e/support/report.ts";
import { runInside } from "./cluster/isolation.ts";

const groups = "/sys/fs/cgroup";

/** Kills a suite with processes inside without warning, and looks for its processes, control groups and folder. */
export async function checkAbandoned(): Promise<string> {
  const suite = spawn(process.execPath, [import.meta.filename], { stdio: ["ignore", "pipe", "inherit"] });
  const [chunk] = (await once(suite.stdout, "data")) as [Buffer];
  const { first, folder } = JSON.parse(chunk.toString("utf8")) as { first: string; folder: string };
  const named = `lakehead-nodes-${suite.pid}`;
  const left = async (): Promise<string[]> => {
    const found = [`/proc/${first}`, folder].filter((path) => existsSync(path));
    for (const controller of await readdir(groups))
      if (existsSync(join(groups, controller, named))) found.push(join(groups, controller, named));
    return found;
  };
  const before = await left();
  holds(before.length > 2, `only ${before.join(", ")} were there`);
  suite.kill("SIGKILL");
  void text(suite.stdout);
  let now = before;
  await until(
    "the end of what was inside",
    async () => {
      now = await left();
      return now.length === 0 ? true : undefined;
    },
    { seconds: 30 },
  ).catch(() => undefined);
  holds(now.length === 0, `left behind: ${now.join(", ")}`);
  return `${before.length} of process, folder and control groups are gone`;
}

if (import.meta.main)
  await runInside(["sleep", "300"], {}, (command) => {
    const first = /--target (\d+)/.exec(command)?.[1];
    const folder = /KUBECONFIG=(.+)\/kubeconfig/.exec(command)?.[1];
    process.stdout.write(JSON.stringify({ first, folder }));
  });
