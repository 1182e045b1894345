/** Whether the pods of a stack can run on its nodes: selectors, taints, sizes. Judged from what the stack asks for. */

import { awsMachines } from "../../../../infra/clouds/aws/nodes/machines.ts";
import { gcpMachines } from "../../../../infra/clouds/gcp/nodes/machines.ts";
import { podsPerNode } from "../../../../infra/model/fit.ts";
import type { MachineCatalogue } from "../../../../infra/model/machines.ts";
import { parseMemory } from "../../../../infra/model/quantity.ts";
import type { Capture, PlannedResource } from "../../../../infra/offline-plan/capture.ts";
import { ofType } from "../../../support/infra/graph.ts";
import { manifests, revealed } from "../../kubernetes/manifests.ts";

interface Taint {
  readonly key: string;
  readonly value?: string;
  /** In Kubernetes' spelling. */
  readonly effect: string;
}

export interface NodePool {
  readonly name: string;
  readonly catalogue: MachineCatalogue;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly machines: readonly string[];
  readonly spot: boolean;
  readonly min: number;
}

export interface Pod {
  readonly name: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly tolerations: readonly { key?: string; operator?: string; value?: string; effect?: string }[];
  readonly requests: { readonly cpus: number; readonly memoryBytes: number; readonly gpus: number };
}

const kubernetesEffect = (effect: string): string =>
  ({ NO_SCHEDULE: "NoSchedule", PREFER_NO_SCHEDULE: "PreferNoSchedule", NO_EXECUTE: "NoExecute" })[effect] ?? effect;

// biome-ignore-start lint/suspicious/noExplicitAny: inputs of many types, read field by field
function pool(resource: PlannedResource): NodePool {
  const inputs = revealed(resource) as any;
  if (resource.type === "aws:eks/nodeGroup:NodeGroup")
    return {
      name: resource.name,
      catalogue: awsMachines,
      labels: inputs.labels ?? {},
      taints: (inputs.taints ?? []).map((taint: Taint) => ({ ...taint, effect: kubernetesEffect(taint.effect) })),
      machines: inputs.instanceTypes,
      spot: inputs.capacityType === "SPOT",
      min: inputs.scalingConfig.minSize,
    };
  const { nodeConfig, autoscaling = {} } = inputs;
  return {
    name: resource.name,
    catalogue: gcpMachines,
    labels: nodeConfig.labels ?? {},
    taints: (nodeConfig.taints ?? []).map((taint: Taint) => ({ ...taint, effect: kubernetesEffect(taint.effect) })),
    machines: [nodeConfig.machineType],
    spot: nodeConfig.spot === true || nodeConfig.preemptible === true,
    min: autoscaling.totalMinNodeCount ?? autoscaling.minNodeCount ?? 0,
  };
}

export const nodePools = ({ resources }: Pick<Capture, "resources">): NodePool[] =>
  ofType(resources, "aws:eks/nodeGroup:NodeGroup", "gcp:container/nodePool:NodePool").map(pool);

const cpus = (text: unknown): number =>
  text === undefined ? 0 : String(text).endsWith("m") ? Number.parseFloat(String(text)) / 1000 : Number(text);

function podOf(name: string, spec: any, extra: any[] = []): Pod {
  const containers = [...(spec.containers ?? []), ...extra];
  const sum = (read: (requests: any) => number): number =>
    containers.reduce(
      (total: number, { resources = {} }) => total + read(resources.requests ?? resources.limits ?? {}),
      0,
    );
  return {
    name,
    selector: spec.nodeSelector ?? {},
    tolerations: spec.tolerations ?? [],
    requests: {
      cpus: sum((requests) => cpus(requests.cpu)),
      memoryBytes: sum((requests) => (requests.memory === undefined ? 0 : parseMemory(String(requests.memory)))),
      gpus: sum((requests) => Number(requests["nvidia.com/gpu"] ?? 0)),
    },
  };
}

/** The pods of Deployments, CronJobs and RayClusters; the head with the autoscaler's sidecar. */
export function podsOf(capture: Capture): Pod[] {
  return manifests(capture).flatMap(({ kind, metadata, body }): Pod[] => {
    const { spec } = body;
    switch (kind) {
      case "Deployment":
        return [podOf(metadata.name, spec.template.spec)];
      case "CronJob":
        return [podOf(metadata.name, spec.jobTemplate.spec.template.spec)];
      case "RayCluster":
        return [
          podOf(`${metadata.name}-head`, spec.headGroupSpec.template.spec, [spec.autoscalerOptions]),
          ...spec.workerGroupSpecs.map((group: any) =>
            podOf(`${metadata.name}-${group.groupName}`, group.template.spec),
          ),
        ];
      default:
        return [];
    }
  });
}
// biome-ignore-end lint/suspicious/noExplicitAny: see above

export const selects = (selector: Pod["selector"], labels: NodePool["labels"]): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

const tolerated = (taint: Taint, { tolerations, requests }: Pod): boolean =>
  // ExtendedResourceToleration adds this one on EKS and on GKE.
  (taint.key === "nvidia.com/gpu" && requests.gpus > 0) ||
  tolerations.some(
    ({ key, operator = "Equal", value = "", effect }) =>
      (key === undefined || key === taint.key) &&
      (operator === "Exists" || value === (taint.value ?? "")) &&
      (effect === undefined || effect === taint.effect),
  );

/** Why a pod would stay Pending, or land where it must not. */
export function placement(pod: Pod, all: readonly NodePool[]): string[] {
  const chosen = all.filter(({ labels }) => selects(pod.selector, labels));
  if (Object.keys(pod.selector).length === 0) return [`${pod.name} may land on any node`];
  if (chosen.length !== 1) return [`${pod.name} selects ${chosen.length} pools: ${JSON.stringify(pod.selector)}`];
  return chosen.flatMap((nodes) => [
    ...nodes.taints.filter((taint) => !tolerated(taint, pod)).map(({ key }) => `${pod.name} does not tolerate ${key}`),
    ...nodes.machines.flatMap((name) => {
      const machine = nodes.catalogue.find(name);
      if (machine === undefined) return [`${name} is no known machine`];
      return podsPerNode(pod.requests, nodes.catalogue.allocatable(machine)) > 0
        ? []
        : [`${pod.name} does not fit a ${name}: ${JSON.stringify(pod.requests)}`];
    }),
  ]);
}

/** What must hold of the pools whatever runs on them. */
export function poolFaults(all: readonly NodePool[]): string[] {
  const headKey = /\/ray-head$/;
  const heads = all.filter(({ labels }) => Object.keys(labels).some((key) => headKey.test(key)));
  const untainted = all.filter(({ taints }) => taints.length === 0);
  return [
    ...(heads.length === 1 ? [] : [`${heads.length} pools for head nodes`]),
    ...heads.filter(({ spot }) => spot).map(({ name }) => `${name} is spot: a reclaimed head ends every job`),
    ...heads.filter(({ min }) => min < 1).map(({ name }) => `${name} scales to zero: no head is ready in time`),
    ...heads.filter(({ taints }) => taints.length === 0).map(({ name }) => `${name} takes any pod`),
    ...(untainted.some(({ spot, min }) => !spot && min >= 1) ? [] : ["no untainted on-demand pool for kube-system"]),
    ...all.flatMap(({ name, labels }) => {
      const roles = Object.keys(labels).filter((key) => /\/ray-(head|worker-cpu|worker-gpu)$/.test(key));
      return [
        ...(roles.length > 1 ? [`${name} plays ${roles.join(" and ")}`] : []),
        ...roles.filter((key) => labels[key] !== "true").map((key) => `${name}: ${key} is not "true"`),
      ];
    }),
    ...all
      .filter(({ machines, catalogue }) => machines.some((machine) => (catalogue.find(machine)?.gpus ?? 0) > 0))
      .filter(({ taints }) => !taints.some(({ key }) => key === "nvidia.com/gpu"))
      .map(({ name }) => `${name} has GPUs and no taint for them`),
  ];
}
