/** Reads a Pulumi project and one stack's configuration the way the CLI hands them to a program. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export interface Project {
  readonly root: string;
  readonly name: string;
  /** The program, relative to the root. */
  readonly main: string;
  /** The project file's own `config` section: defaults for every stack. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

export interface StackConfig {
  /** `<namespace>:<key>` to its text; maps and lists as JSON. */
  readonly values: Readonly<Record<string, string>>;
  /** The keys whose values are secret. */
  readonly secretKeys: readonly string[];
  /** What a plan cannot see of this stack's configuration. */
  readonly warnings: readonly string[];
}

/** Stands for every encrypted value: the plan never asks for a passphrase. */
export const secretPlaceholder = "encrypted-value-that-the-offline-plan-does-not-read";

export class ProjectError extends Error {}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readYaml(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new ProjectError(`${path} is not YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (value === null || value === undefined) return {};
  if (!isRecord(value)) throw new ProjectError(`${path} must hold a map of settings`);
  return value;
}

/** @throws ProjectError when the folder has no usable Pulumi.yaml. */
export function readProject(root: string): Project {
  const path = join(root, "Pulumi.yaml");
  if (!existsSync(path)) throw new ProjectError(`there is no Pulumi.yaml in ${root}`);
  const file = readYaml(path);
  const { name, main } = file;
  if (typeof name !== "string" || name === "") throw new ProjectError(`${path} has no "name"`);
  if (typeof main !== "string" || main === "")
    throw new ProjectError(`${path} has no "main": say which file is the program`);
  return { root, name, main, defaults: isRecord(file.config) ? file.config : {} };
}

/** The stacks that a project has a configuration file for, sorted. */
export function stackNames(root: string): string[] {
  return readdirSync(root)
    .flatMap((file) => /^Pulumi\.(?<stack>[^.]+)\.yaml$/.exec(file)?.groups?.stack ?? [])
    .sort();
}

/** @throws ProjectError when the stack has no file, naming those that have. */
export function readStackConfig(project: Project, stack: string): StackConfig {
  const path = join(project.root, `Pulumi.${stack}.yaml`);
  if (!existsSync(path)) {
    const known = stackNames(project.root);
    throw new ProjectError(
      `there is no stack "${stack}": no file Pulumi.${stack}.yaml; ` +
        (known.length === 0 ? "the project has no stack files" : `choose one of ${known.join(", ")}`),
    );
  }
  const file = readYaml(path);
  return {
    ...flattenConfig(project, isRecord(file.config) ? file.config : {}),
    warnings:
      file.environment === undefined
        ? []
        : [`Pulumi.${stack}.yaml imports a Pulumi ESC environment, whose values this plan cannot see`],
  };
}

/** Merges the project's defaults with the stack's values and turns both into what a program is handed. */
export function flattenConfig(
  project: Pick<Project, "name" | "defaults">,
  config: Readonly<Record<string, unknown>>,
): Pick<StackConfig, "values" | "secretKeys"> {
  const merged: Record<string, unknown> = {};
  const full = (key: string): string => (key.includes(":") ? key : `${project.name}:${key}`);
  for (const [key, value] of Object.entries(project.defaults)) {
    const preset = isRecord(value) ? (value.value ?? value.default) : value;
    if (preset !== undefined) merged[full(key)] = preset;
  }
  for (const [key, value] of Object.entries(config)) merged[full(key)] = value;
  const values: Record<string, string> = {};
  const secretKeys: string[] = [];
  for (const [key, value] of Object.entries(merged)) {
    const { plain, secret } = reveal(value);
    values[key] = typeof plain === "string" ? plain : JSON.stringify(plain);
    if (secret) secretKeys.push(key);
  }
  return { values, secretKeys };
}

/** Puts the placeholder in place of every `{secure: ...}` and tells whether there was one. */
function reveal(value: unknown): { plain: unknown; secret: boolean } {
  if (Array.isArray(value)) {
    const items = value.map(reveal);
    return { plain: items.map(({ plain }) => plain), secret: items.some(({ secret }) => secret) };
  }
  if (!isRecord(value)) return { plain: value, secret: false };
  const keys = Object.keys(value);
  if (keys.length === 1 && keys[0] === "secure") return { plain: secretPlaceholder, secret: true };
  const items = keys.map((key) => [key, reveal(value[key])] as const);
  return {
    plain: Object.fromEntries(items.map(([key, { plain }]) => [key, plain])),
    secret: items.some(([, { secret }]) => secret),
  };
}
