import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { cachePath } from "../../../tools/parts/cache.ts";
import { goModule } from "../../../tools/parts/control-plane/go.ts";
import { kuberayCrds, kuberayVersion } from "../../../tools/parts/control-plane/table.ts";
import type { KubernetesObject } from "./api.ts";

/** The operator's version as the stack's configuration writes it: without a v. */
export const operatorVersion = kuberayVersion.slice(1);

/**
 * A folder of KubeRay's definitions laid out as its repository is, for the stack's `operator.crds`: the files are those of
 * the operator's own Go module.
 */
export async function kuberayCrdBase(): Promise<string> {
  const base = cachePath("go", "kuberay-crds");
  const folder = join(base, kuberayVersion, "ray-operator", kuberayCrds.folder);
  if (existsSync(folder)) return base;
  const module = await goModule(kuberayCrds.module, kuberayVersion);
  await mkdir(folder, { recursive: true });
  // The module cache is read-only, and its files would stay so.
  await cp(join(module, kuberayCrds.folder), folder, { recursive: true, filter: (path) => !path.endsWith(".go") });
  return base;
}

/** The definitions as objects. */
export async function kuberayDefinitions(): Promise<KubernetesObject[]> {
  const folder = join(await kuberayCrdBase(), kuberayVersion, "ray-operator", kuberayCrds.folder);
  const files = (await readdir(folder)).filter((name) => name.startsWith("ray.io_"));
  return Promise.all(files.map(async (file) => parse(await readFile(join(folder, file), "utf8"))));
}
