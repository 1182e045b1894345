/** Pulumi's own providers, where the machine has them. */

import { execFile } from "node:child_process";
import { access, constants, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { compareVersions } from "../../../infra/model/semver.ts";

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Plugins by `pulumi plugin install`, the newest first. */
async function installed(name: string): Promise<{ readonly version: string; readonly path: string }[]> {
  const plugins = join(process.env.PULUMI_HOME ?? join(homedir(), ".pulumi"), "plugins");
  const folders = await readdir(plugins).catch(() => []);
  return folders
    .flatMap((folder) => {
      const version = new RegExp(`^resource-${name}-v(\\d+\\.\\d+\\.\\d+)$`).exec(folder)?.[1];
      return version === undefined ? [] : [{ version, path: join(plugins, folder, `pulumi-resource-${name}`) }];
    })
    .sort((a, b) => compareVersions(b.version, a.version));
}

/**
 * Path of a provider on PATH or in Pulumi's plugin folder; undefined where there is none.
 * @param wanted - The version to take of several in the plugin folder; without it, the newest.
 */
export async function findProvider(name: string, wanted?: string): Promise<string | undefined> {
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, `pulumi-resource-${name}`));
  const plugins = await installed(name);
  const first = plugins.filter(({ version }) => version === wanted);
  for (const path of [...onPath, ...[...first, ...plugins].map(({ path }) => path)])
    if (await isExecutable(path)) return path;
  return undefined;
}

/** What a provider says of its own version. */
export async function versionOf(path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ["-version"]);
  return stdout.trim().replace(/^v/, "");
}
