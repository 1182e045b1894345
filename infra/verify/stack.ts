/** Reads a stack: its configuration from the file, its outputs from the state. */

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { parse } from "yaml";
import { type PlannedStack, plannedStack, type SecretKey, stackDefinition } from "../clouds/schema.ts";
import { parseConfig, rawConfig } from "../config/parse.ts";
import { flattenConfig, readProject, readStackConfig } from "../offline-plan/project.ts";
import type { Reach } from "./kubectl.ts";

const run = promisify(execFile);

export class StackError extends Error {}

export interface Stack extends PlannedStack {
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly reach: Reach;
}

/** Runs the Pulumi CLI. @throws StackError with its message */
async function pulumi(root: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run("pulumi", [...args, "--non-interactive"], { cwd: root, maxBuffer: 64 * 2 ** 20 });
    return stdout;
  } catch (error) {
    const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string };
    if (code === "ENOENT") throw new StackError("pulumi is not on the PATH: use npx -c 'npm run verify -- <stack>'");
    throw new StackError(`pulumi ${args.join(" ")}: ${(stderr || message).trim()}`);
  }
}

/**
 * @param configFile - Path of the stack's file, as in the CLI's `--config-file`.
 * @throws StackError, ProjectError or ConfigError
 */
export async function readStack(root: string, stack: string, configFile: string | undefined): Promise<Stack> {
  const project = readProject(root);
  const { values, secretKeys } =
    configFile === undefined
      ? readStackConfig(project, stack)
      : flattenConfig(
          project,
          (parse(readFileSync(configFile, "utf8")) as { config?: Record<string, unknown> }).config ?? {},
        );
  const secrets = secretKeys.map((key) => key.slice(project.name.length + 1)) as SecretKey[];
  const { config } = parseConfig(stackDefinition, rawConfig(stackDefinition, values, project.name), {
    secrets: new Set(secrets),
  });
  const text = await pulumi(root, ["stack", "output", "--json", "--show-secrets", "--stack", stack]);
  const outputs = JSON.parse(text) as Record<string, unknown>;
  if (Object.keys(outputs).length === 0)
    throw new StackError(`stack ${stack} has no outputs: run pulumi up --stack ${stack} first`);
  const planned = plannedStack(config);
  return { ...planned, outputs, reach: await reachOf(root, stack, planned, outputs, secrets, configFile) };
}

async function reachOf(
  root: string,
  stack: string,
  { facts: { ownKubeconfig } }: PlannedStack,
  outputs: Stack["outputs"],
  secrets: readonly SecretKey[],
  configFile: string | undefined,
): Promise<Reach> {
  if (typeof outputs.kubeconfig === "string") return { kubeconfig: outputs.kubeconfig };
  if (ownKubeconfig === undefined)
    throw new StackError(`stack ${stack} has no output kubeconfig: run pulumi up until it succeeds`);
  const context = ownKubeconfig.context === undefined ? {} : { context: ownKubeconfig.context };
  if (secrets.includes("kubeconfig")) {
    const file = configFile === undefined ? [] : ["--config-file", configFile];
    return { ...context, kubeconfig: await pulumi(root, ["config", "get", "kubeconfig", "--stack", stack, ...file]) };
  }
  return { ...context, ...(ownKubeconfig.path === undefined ? {} : { path: ownKubeconfig.path }) };
}
