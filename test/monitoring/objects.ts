/** The objects of a plan for a Prometheus operator, by the operator's own schemas. */

import { type Manifest, manifests } from "../infra/kubernetes/manifests.ts";
import { runStack } from "../support/infra/stacks.ts";

type Model = new (data: unknown) => { validate(): void };
const schemas = "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
const byKind: Readonly<Record<string, Model | undefined>> = await import(schemas);

const gpu = { cpus: 16, memory: "64Gi", gpus: 1 };

/** What an existing operator gets, each target included. */
export async function monitoringObjects(): Promise<Manifest[]> {
  const capture = await runStack("local", "update", {
    "lakehead:monitoring": { mode: "existing" },
    "lakehead:nodes": { head: { cpus: 4, memory: "8Gi" }, cpu: { cpus: 4, memory: "8Gi" }, gpu },
  });
  if (capture.failure !== undefined) throw new Error(capture.failure);
  return manifests(capture).filter(({ apiVersion }) => apiVersion.startsWith("monitoring.coreos.com/"));
}

export function schemaFault({ kind, metadata, body }: Pick<Manifest, "kind" | "metadata" | "body">): string[] {
  const Known = byKind[kind];
  if (Known === undefined) return [`${kind} ${metadata.name}: the operator has no such kind`];
  try {
    new Known(body).validate();
    return [];
  } catch (error) {
    return [`${kind} ${metadata.name}: ${error instanceof Error ? error.message : String(error)}`];
  }
}
