/** Puts the stand-ins into a folder under the names that the engine and the kubeconfigs look for on PATH. */

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const executables = {
  "pulumi-resource-aws": ["main.ts", "aws"],
  "pulumi-resource-gcp": ["main.ts", "gcp"],
  "pulumi-resource-docker-build": ["main.ts", "docker-build"],
  aws: ["token.ts", "aws"],
  "gke-gcloud-auth-plugin": ["token.ts", "gcp"],
} as const;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Each runs on this process's own Node: another one on PATH may be too old to strip types. */
export function installStandIns(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, [file, kind]] of Object.entries(executables)) {
    const path = join(folder, name);
    // The provider gets the engine's address as its argument and needs none of it.
    const rest = file === "token.ts" ? ' "$@"' : "";
    writeFileSync(path, `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(here(file))} ${kind}${rest}\n`);
    chmodSync(path, 0o755);
  }
}
