/** Pulumi's own Kubernetes provider, where the machine has it. */

import { access, constants, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { compareVersions } from "../../../infra/model/semver.ts";

const program = "pulumi-resource-kubernetes";

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Plugins by `pulumi plugin install`, the newest first. */
async function installed(): Promise<string[]> {
  const plugins = join(process.env.PULUMI_HOME ?? join(homedir(), ".pulumi"), "plugins");
  const names = await readdir(plugins).catch(() => []);
  return names
    .flatMap((name) => {
      const version = /^resource-kubernetes-v(\d+\.\d+\.\d+)$/.exec(name)?.[1];
      return version === undefined ? [] : [{ version, path: join(plugins, name, program) }];
    })
    .sort((a, b) => compareVersions(b.version, a.version))
    .map(({ path }) => path);
}

/** Path of the provider on PATH or in Pulumi's plugin folder; undefined where there is none. */
export async function findKubernetesProvider(): Promise<string | undefined> {
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, program));
  for (const path of [...onPath, ...(await installed())]) if (await isExecutable(path)) return path;
  return undefined;
}
