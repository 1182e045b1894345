/** The nodes of a node group or pool, with the size of its machine and its labels and taints. */

import { awsMachines } from "../../../infra/clouds/aws/nodes/machines.ts";
import { gcpMachines } from "../../../infra/clouds/gcp/nodes/machines.ts";
import type { MachineCatalogue } from "../../../infra/model/machines.ts";
import type { Wire } from "../../../infra/offline-plan/recorder.ts";
import type { Api } from "../support/api.ts";
import { type NodeSpec, nodeObject } from "../support/nodes.ts";
import { record, text, valuesAt } from "./cloud.ts";
import type { Item } from "./journal.ts";

const effects: Readonly<Record<string, string>> = {
  NO_SCHEDULE: "NoSchedule",
  PREFER_NO_SCHEDULE: "PreferNoSchedule",
  NO_EXECUTE: "NoExecute",
};

export type Group = Pick<Item, "type" | "inputs" | "id">;

interface Shape {
  readonly catalogue: MachineCatalogue;
  readonly machine: unknown;
  readonly from: Wire;
  readonly desired: unknown;
  readonly gpus: unknown;
}

function shapeOf({ type, inputs }: Group): Shape | undefined {
  if (type === "aws:eks/nodeGroup:NodeGroup")
    return {
      catalogue: awsMachines,
      machine: valuesAt(inputs, "instanceTypes")[0],
      from: inputs,
      desired: valuesAt(inputs, "scalingConfig.desiredSize")[0],
      gpus: undefined,
    };
  // As GKE's REST API has it.
  if (type !== "container.nodePools") return undefined;
  const config = record(inputs.config);
  const gpus = valuesAt(config, "accelerators.acceleratorCount")[0];
  return { catalogue: gcpMachines, machine: config.machineType, from: config, desired: inputs.initialNodeCount, gpus };
}

/**
 * At least one: no autoscaler runs behind a stand-in, so that the node which it would add for the first pod is there
 * from the start.
 */
function nodesOf({ type, inputs, id }: Group): NodeSpec[] {
  const shape = shapeOf({ type, inputs, id });
  if (shape?.machine === undefined) return [];
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

async function joinNode(api: Api, spec: NodeSpec): Promise<void> {
  const node = nodeObject(spec);
  await api.apply(node, { fieldManager });
  const path = `${await api.path(node)}/status?fieldManager=${fieldManager}&force=true`;
  await api.ask("PATCH", path, { ...node, spec: undefined }, "application/apply-patch+yaml");
}

/** What runs on the node goes with it, as when its machine ends. */
async function leaveNode(api: Api, { name }: NodeSpec): Promise<void> {
  const { items } = await api.ask<{ items: { metadata: { name: string; namespace: string } }[] }>(
    "GET",
    `/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`,
  );
  for (const { metadata } of items) await api.remove({ apiVersion: "v1", kind: "Pod", metadata }, "Background");
  await api.remove({ apiVersion: "v1", kind: "Node", metadata: { name } }, "Background");
}

/** Lets nodes join and leave as a group or pool is created, changed and deleted. */
export async function followNodes(api: Api, before: Group | undefined, after: Group | undefined): Promise<void> {
  const [had = [], has = []] = [before, after].map((group) => (group === undefined ? [] : nodesOf(group)));
  for (const node of has.slice(had.length)) await joinNode(api, node);
  for (const node of had.slice(has.length)) await leaveNode(api, node);
}
