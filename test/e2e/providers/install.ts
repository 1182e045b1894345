/** Puts the stand-ins into a folder under the names that the engine and the kubeconfigs look for on PATH. */

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const executables = {
  "pulumi-resource-aws": ["main.ts", "aws"],
  "pulumi-resource-docker-build": ["main.ts", "docker-build"],
  aws: ["token.ts", "aws"],
  "gke-gcloud-auth-plugin": ["token.ts", "gcp"],
} as const;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function writeProgram(path: string, lines: readonly string[]): void {
  writeFileSync(path, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(path, 0o755);
}

/** Each runs on this process's own Node: another one on PATH may be too old to strip types. */
export function installStandIns(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, [file, kind]] of Object.entries(executables)) {
    // The provider gets the engine's address as its argument and needs none of it.
    const rest = file === "token.ts" ? ' "$@"' : "";
    writeProgram(join(folder, name), [`exec ${quoted(process.execPath)} ${quoted(here(file))} ${kind}${rest}`]);
  }
}

/** Variables that a developer may have set, and that would compete with the suite's own credentials. */
const foreign = ["GOOGLE_CREDENTIALS", "GOOGLE_CLOUD_KEYFILE_JSON", "GCLOUD_KEYFILE_JSON", "NO_PROXY", "no_proxy"];

/** A real provider, which sees what its environment says and nothing else does. */
export function installProvider(folder: string, path: string, env: Readonly<Record<string, string>>): void {
  const settings = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`);
  writeProgram(join(folder, basename(path)), [`unset ${foreign.join(" ")}`, ...settings, `exec ${quoted(path)} "$@"`]);
}
