/** Reads a Pulumi project and a stack's configuration in the form that the CLI passes to a program. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export interface Project {
  readonly root: string;
  readonly name: string;
  /** The program, relative to the root. */
  readonly main: string;
  /** The project file's `config` section: defaults of every stack. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

export interface StackConfig {
  /** `<namespace>:<key>` to its text; maps and lists as JSON. */
  readonly values: Readonly<Record<string, string>>;
  /** The keys whose values are secret. */
  readonly secretKeys: readonly string[];
  /** Parts of the stack's configuration that a plan cannot read. */
  readonly warnings: readonly string[];
}

/** Replaces every encrypted value, because the plan has no passphrase. */
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
  if (!isRecord(value)) throw new ProjectError(`${path} must be a map of settings`);
  return value;
}

/** @throws ProjectError when the folder has no usable Pulumi.yaml. */
export function readProject(root: string): Project {
  const path = join(root, "Pulumi.yaml");
  if (!existsSync(path)) throw new ProjectError(`${root} has no Pulumi.yaml`);
  const file = readYaml(path);
  const { name, main } = file;
  if (typeof name !== "string" || name === "") throw new ProjectError(`${path} has no "name"`);
  if (typeof main !== "string" || main === "")
    throw new ProjectError(`${path} has no "main": name the file of the program`);
  return { root, name, main, defaults: isRecord(file.config) ? file.config : {} };
}

/** The stacks that have a configuration file, sorted. */
export function stackNames(root: string): string[] {
  return readdirSync(root)
    .flatMap((file) => /^Pulumi\.(?<stack>[^.]+)\.yaml$/.exec(file)?.groups?.stack ?? [])
    .sort();
}

/** @throws ProjectError that lists the existing stacks when this one has no file */
export function readStackConfig(project: Project, stack: string): StackConfig {
  const path = join(project.root, `Pulumi.${stack}.yaml`);
  if (!existsSync(path)) {
    const known = stackNames(project.root);
    throw new ProjectError(
      `stack "${stack}" does not exist: no file Pulumi.${stack}.yaml; ` +
        (known.length === 0 ? "the project has no stack files" : `choose one of ${known.join(", ")}`),
    );
  }
  const file = readYaml(path);
  return {
    ...flattenConfig(project, isRecord(file.config) ? file.config : {}),
    warnings:
      file.environment === undefined
        ? []
        : [`Pulumi.${stack}.yaml imports a Pulumi ESC environment, whose values this plan cannot read`],
  };
}

/** Merges the project's defaults with the stack's values, in the form that a program receives. */
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

/** Replaces every `{secure: ...}` by the placeholder; `secret` is true if there was one. */
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
