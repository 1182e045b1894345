/** Finds out what the stack's file of an existing cluster must say. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { attempt, ok, unknown } from "../../check-line.ts";
import { type CloudSetup, tokenFields, tokenKeys } from "../setup.ts";

const kubectl = (...args: readonly string[]) =>
  attempt(async () => (await promisify(execFile)("kubectl", args, { timeout: 30_000 })).stdout.trim());

export const existingSetup: CloudSetup = {
  place: [{ option: "context", question: "Context of the kubeconfig", key: "context", asked: true }],
  fields: tokenFields,
  here: async () => {
    const context = await kubectl("config", "current-context");
    return "value" in context ? { context: context.value } : {};
  },
  look: async (_, { context = "" }) => {
    const nodes = await kubectl("--context", context, "get", "nodes", "--output", "name");
    const line =
      "value" in nodes
        ? ok(`cluster: ${nodes.value.split("\n").filter(Boolean).length} nodes`)
        : unknown(`cluster: ${nodes.failure.trim().split("\n").at(-1)}`, `kubectl --context ${context} get nodes`);
    return { lines: [line], found: {} };
  },
  stackKeys: (_, answers) => ({ context: answers.context, ...tokenKeys(answers) }),
  bootstrapKeys: () => undefined,
  quotas: async () => [],
};
