/** The nodes of a node group or pool, with the size of its machine and its labels and taints. */

import { awsMachines } from "../../../infra/clouds/aws/nodes/machines.ts";
import { gcpMachines } from "../../../infra/clouds/gcp/nodes/machines.ts";
import type { MachineCatalogue } from "../../../infra/model/machines.ts";
import type { Wire } from "../../../infra/offline-plan/recorder.ts";
import type { Api } from "../support/api.ts";
import { type NodeSpec, nodeObject } from "../support/nodes.ts";
import { record, text, valuesAt } from "./cloud.ts";

const effects: Readonly<Record<string, string>> = {
  NO_SCHEDULE: "NoSchedule",
  PREFER_NO_SCHEDULE: "PreferNoSchedule",
  NO_EXECUTE: "NoExecute",
};

interface Shape {
  readonly catalogue: MachineCatalogue;
  readonly machine: unknown;
  readonly from: Wire;
  readonly desired: unknown;
  readonly gpus: unknown;
}

function shapeOf(type: string, inputs: Wire): Shape | undefined {
  const config = record(inputs.nodeConfig);
  if (type === "aws:eks/nodeGroup:NodeGroup")
    return {
      catalogue: awsMachines,
      machine: valuesAt(inputs, "instanceTypes")[0],
      from: inputs,
      desired: valuesAt(inputs, "scalingConfig.desiredSize")[0],
      gpus: undefined,
    };
  if (type !== "gcp:container/nodePool:NodePool") return undefined;
  const gpus = valuesAt(config, "guestAccelerators.count")[0];
  return { catalogue: gcpMachines, machine: config.machineType, from: config, desired: inputs.initialNodeCount, gpus };
}

/**
 * At least one: no autoscaler runs behind a stand-in, so that the node which it would add for the first pod is there
 * from the start.
 */
export function nodesOf(type: string, inputs: Wire, id: string): NodeSpec[] {
  const shape = shapeOf(type, inputs);
  if (shape === undefined) return [];
  const machine = shape.catalogue.find(text(shape.machine));
  if (machine === undefined) throw new Error(`the size of ${String(shape.machine)} is not known`);
  const size = shape.catalogue.allocatable({ ...machine, gpus: Number(shape.gpus ?? machine.gpus) });
  const name = (id.split(/[:/]/).at(-1) ?? id).toLowerCase();
  return Array.from({ length: Math.max(1, Number(shape.desired)) }, (_, index) => ({
    name: `${name}-${index}`,
    labels: record(shape.from.labels) as Record<string, string>,
    taints: valuesAt(shape.from, "taints").map((taint) => {
      const { key, value, effect } = record(taint);
      return { key: text(key), value: text(value), effect: effects[text(effect)] ?? text(effect) };
    }),
    allocatable: {
      cpu: `${Math.floor(size.cpus * 1000)}m`,
      memory: `${Math.floor(size.memoryBytes / 2 ** 20)}Mi`,
      ...(size.gpus > 0 ? { "nvidia.com/gpu": String(size.gpus) } : {}),
    },
  }));
}

const fieldManager = "lakehead-e2e-cloud";

export async function joinNode(api: Api, spec: NodeSpec): Promise<void> {
  const node = nodeObject(spec);
  await api.apply(node, { fieldManager });
  const path = `${await api.path(node)}/status?fieldManager=${fieldManager}&force=true`;
  await api.ask("PATCH", path, { ...node, spec: undefined }, "application/apply-patch+yaml");
}

/** What runs on the node goes with it, as when its machine ends. */
export async function leaveNode(api: Api, { name }: NodeSpec): Promise<void> {
  const { items } = await api.ask<{ items: { metadata: { name: string; namespace: string } }[] }>(
    "GET",
    `/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`,
  );
  for (const { metadata } of items) await api.remove({ apiVersion: "v1", kind: "Pod", metadata }, "Background");
  await api.remove({ apiVersion: "v1", kind: "Node", metadata: { name } }, "Background");
}
