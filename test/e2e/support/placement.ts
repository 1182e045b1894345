/** Where the scheduler has put a RayCluster's pods. */

import type { Api, KubernetesObject } from "./api.ts";
import { until } from "./daemon.ts";
import { holds } from "./report.ts";

const prefix = "geneva.lancedb.com";

/** The label that a Ray pod's node must carry, by the pod's own nature. */
const roleOf = (pod: KubernetesObject): string => {
  if (pod.metadata.labels?.["ray.io/node-type"] === "head") return `${prefix}/ray-head`;
  const gpus = pod.spec.containers.some(
    (container: { resources?: { limits?: Record<string, string> } }) =>
      container.resources?.limits?.["nvidia.com/gpu"] !== undefined,
  );
  return `${prefix}/ray-worker-${gpus ? "gpu" : "cpu"}`;
};

/** Waits until the operator reports a RayCluster as ready. */
export async function rayClusterReady(api: Api, namespace: string, name: string, seconds: number): Promise<string> {
  const reference = { apiVersion: "ray.io/v1", kind: "RayCluster", metadata: { name, namespace } };
  let last: unknown = "no status";
  const live = await until(
    `RayCluster ${name} being ready`,
    async () => {
      const found = await api.get(reference);
      last = found?.status ?? "no status";
      return found?.status?.state === "ready" ? found : undefined;
    },
    { seconds },
  ).catch((error: Error) => {
    throw new Error(`${error.message}\nits status: ${JSON.stringify(last)}`);
  });
  const { state, readyWorkerReplicas = 0, desiredWorkerReplicas = 0 } = live.status;
  return `${state}, ${readyWorkerReplicas} of ${desiredWorkerReplicas} workers ready`;
}

export interface PlacementOptions {
  /** Least number of Ray pods that must be there, of each role's label. */
  readonly expected: Readonly<Record<string, number>>;
  /** Nodes of roles apart from each other: a head's node holds heads alone. Not so on a one-node cluster. */
  readonly apart: boolean;
}

/** @throws Error where a Ray pod is on a node of another role, or anything but a head is on a head's node */
export async function checkPlacement(api: Api, { expected, apart }: PlacementOptions): Promise<string> {
  const pods = await api.list("v1", "Pod");
  const nodes = new Map((await api.list("v1", "Node")).map((node) => [node.metadata.name, node]));
  const ray = pods.filter(({ metadata }) => metadata.labels?.["ray.io/is-ray-node"] === "yes");
  const wrong: string[] = [];
  const found: Record<string, number> = {};
  for (const pod of ray) {
    const role = roleOf(pod);
    const node = nodes.get(pod.spec.nodeName);
    if (node === undefined) wrong.push(`${pod.metadata.name} is on no node: ${JSON.stringify(pod.status?.conditions)}`);
    else if (node.metadata.labels?.[role] !== "true")
      wrong.push(`${pod.metadata.name} wants ${role} and is on ${node.metadata.name}`);
    else found[role] = (found[role] ?? 0) + 1;
  }
  for (const [role, count] of Object.entries(expected))
    if ((found[`${prefix}/${role}`] ?? 0) < count)
      wrong.push(`${found[`${prefix}/${role}`] ?? 0} pods on ${role}, not ${count}`);
  if (apart) {
    const isHeads = (pod: KubernetesObject) =>
      nodes.get(pod.spec.nodeName ?? "")?.metadata.labels?.[`${prefix}/ray-head`] === "true";
    for (const pod of pods.filter(isHeads))
      if (pod.metadata.labels?.["ray.io/node-type"] !== "head")
        wrong.push(`${pod.metadata.namespace}/${pod.metadata.name} is on the head's node ${pod.spec.nodeName}`);
  }
  holds(wrong.length === 0, wrong.join("\n"));
  return Object.entries(found)
    .map(([role, count]) => `${count} on ${role.slice(prefix.length + 1)}`)
    .join(", ");
}
