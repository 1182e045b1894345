/** Runs the real program for the example stacks and for variants of them. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { readProject, readStackConfig } from "../../../infra/offline-plan/project.ts";
import { type RunOptions, runProgram } from "../../../infra/offline-plan/run.ts";
import { fabricate } from "./fabricate.ts";

export const root = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/, "");

export const exampleStacks = ["aws-dev", "aws-prod", "gcp-dev", "gcp-prod", "local"] as const;
export type ExampleStack = (typeof exampleStacks)[number];

export interface StackCaptures {
  readonly stack: ExampleStack;
  /** As `pulumi preview` on an empty stack: ids and outputs unknown. */
  readonly preview: Capture;
  /** As `pulumi up`: ids and outputs made up. */
  readonly update: Capture;
}

export const runStack = (stack: string, ...rest: RunArguments): Promise<Capture> => runIn(root, stack, ...rest);

/** Runs the program of `bootstrap/`. */
export const runBootstrap = (stack: "aws" | "gcp", ...rest: RunArguments): Promise<Capture> =>
  runIn(join(root, "bootstrap"), stack, ...rest);

/** Overrides are laid over the stack's configuration key by key, as `pulumi config set` would; undefined removes a key. */
type RunArguments = [
  mode: Capture["mode"],
  overrides?: Readonly<Record<string, unknown>>,
  secrets?: Readonly<Record<string, string>>,
];

async function runIn(
  folder: string,
  stack: string,
  ...[mode, overrides = {}, secrets = {}]: RunArguments
): Promise<Capture> {
  const project = readProject(folder);
  const { values, secretKeys } = readStackConfig(project, stack);
  const merged: Record<string, string> = { ...values, ...secrets };
  for (const [key, value] of Object.entries(overrides)) {
    if (value === undefined) delete merged[key];
    else merged[key] = typeof value === "string" ? value : JSON.stringify(value);
  }
  return runOnce({
    project,
    stack,
    config: { values: merged, secretKeys: [...secretKeys, ...Object.keys(secrets)] },
    ...(mode === "update" ? { create: fabricate } : {}),
  });
}

/**
 * The overrides that make an example of a cloud serve writes and Functions: on a RayCluster of their own, which needs a place for
 * its head, with a secret.
 */
export function servingFunctions(stack: ExampleStack): Readonly<Record<string, unknown>> {
  const key = "lakehead:tableService";
  const { values } = readStackConfig(readProject(root), stack);
  const tableService = JSON.parse(values[key] ?? "{}") as object;
  const nodes = JSON.parse(values["lakehead:nodes"] ?? "{}") as { head?: object };
  return {
    ...(nodes.head === undefined ? {} : { "lakehead:nodes": { ...nodes, head: { ...nodes.head, max: 3 } } }),
    [key]: {
      ...tableService,
      writes: true,
      functions: { enabled: true, prefixes: ["docs.lance"], secrets: ["team$key"] },
    },
  };
}

/** Its secrets. */
export const functionsSecrets = { "lakehead:functionSecrets": '{"team$key":"value"}' } as const;

const runs = new Map<string, Promise<Capture>>();

/** A run takes seconds, so test files of one process share the captures. No test changes one. */
export function runOnce(options: RunOptions): Promise<Capture> {
  const { create, ...rest } = options;
  const key = JSON.stringify({ ...rest, isUpdate: create !== undefined });
  const run = runs.get(key) ?? runProgram(options);
  runs.set(key, run);
  return run;
}

/** @throws Error with the program's own words when it fails. */
export async function captureStack(stack: ExampleStack): Promise<StackCaptures> {
  const [preview, update] = await Promise.all([runStack(stack, "preview"), runStack(stack, "update")]);
  for (const capture of [preview, update])
    if (capture.failure !== undefined) throw new Error(`${stack} (${capture.mode}) failed:\n${capture.failure}`);
  return { stack, preview, update };
}
