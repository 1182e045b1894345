/** Facts of a healthy aws-dev, gcp-dev and local, for tests to break one at a time. */

import { type Line, renderLine } from "../../../infra/check-line.ts";
import { type PlannedStack, plannedStack, stackDefinition } from "../../../infra/clouds/schema.ts";
import { parseConfig, rawConfig } from "../../../infra/config/parse.ts";
import { type NodeRole, nodeLabels, nodeTaints } from "../../../infra/model/roles.ts";
import { readProject, readStackConfig } from "../../../infra/offline-plan/project.ts";
import type { DeploymentFact, NodeFact, PodFact, RayClusterFact } from "../../../infra/verify/facts.ts";
import { root } from "../../support/infra/stacks.ts";

export function stackOf(stack: string, overrides: Readonly<Record<string, unknown>> = {}): PlannedStack {
  const project = readProject(root);
  const raw = { ...rawConfig(stackDefinition, readStackConfig(project, stack).values, project.name), ...overrides };
  return plannedStack(parseConfig(stackDefinition, raw).config);
}

const up = [{ type: "Ready", status: "True" }];

export function node({ cluster }: PlannedStack, role: NodeRole, more: Partial<NodeFact["status"]> = {}): NodeFact {
  const { roles } = cluster;
  return {
    metadata: { name: `${role}-1`, labels: nodeLabels(role, roles) },
    spec: { taints: nodeTaints(role, roles) },
    status: { allocatable: { cpu: "15890m", memory: "58Gi" }, conditions: up, ...more },
  };
}

export const deployment = (name: string, image: string, available = 1): DeploymentFact => ({
  metadata: { name, namespace: "somewhere" },
  spec: { replicas: 1, template: { spec: { containers: [{ image }] } } },
  status: { availableReplicas: available },
});

export const rayCluster = (status: RayClusterFact["status"] = { state: "ready" }): RayClusterFact => ({
  metadata: { name: "lakehead" },
  status,
});

export const pod = (
  name: string,
  more: { labels?: Record<string, string>; spec?: PodFact["spec"]; status?: PodFact["status"] } = {},
): PodFact => ({
  metadata: { name, namespace: "lancedb", labels: more.labels ?? {} },
  spec: more.spec ?? {},
  status: more.status ?? { phase: "Running", conditions: up },
});

/** The lines as they are printed. */
export const seen = (lines: readonly Line[]): string => lines.map(renderLine).join("\n");
export const results = (lines: readonly Line[]): string[] => lines.map(({ result }) => result);
