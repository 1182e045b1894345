import { type Line, ok, wrong } from "../../check-line.ts";
import type { Config, PlannedStack } from "../../clouds/schema.ts";
import { ownsFunctionsCluster } from "../../config/functions.ts";
import { functionsCluster } from "../../model/names.ts";
import { rayRoles, roleLabelKey } from "../../model/roles.ts";
import { isReady, type NodeFact, type PodFact, type RayClusterFact } from "../facts.ts";

export interface RayFacts {
  /** The RayClusters of the stack that exist, by name. */
  readonly clusters: Readonly<Record<string, RayClusterFact | undefined>>;
  /** Every pod of every namespace. */
  readonly pods: readonly PodFact[];
  readonly nodes: readonly NodeFact[];
}

const clusterLabel = "ray.io/cluster";

/** The names of the stack's RayClusters. */
export const rayClusterNames = (config: Config): readonly string[] => [
  ...(config.ray.create ? [config.ray.name] : []),
  ...(ownsFunctionsCluster(config) ? [functionsCluster] : []),
];

/** The RayClusters as the operator reports them, and their pods on the nodes of their roles. */
export function checkRay(stack: PlannedStack, { clusters, pods, nodes }: RayFacts): Line[] {
  const { config } = stack;
  return [
    ...(config.ray.create ? [] : [ok("RayCluster: not part of the stack; clients create their own")]),
    ...rayClusterNames(config).flatMap((name) => {
      const where = `${config.namespace}/${name}`;
      const cluster = clusters[name];
      if (cluster === undefined) return [wrong(`RayCluster ${where}: it does not exist`, "pulumi up")];
      const own = pods.filter(
        ({ metadata }) => metadata.namespace === config.namespace && metadata.labels?.[clusterLabel] === name,
      );
      return [checkState(where, cluster), ...own.flatMap((pod) => checkPod(stack, pod, nodes))];
    }),
    ...foreignPods(stack, pods, nodes),
  ];
}

function checkState(where: string, { status = {} }: RayClusterFact): Line {
  const { state, availableWorkerReplicas = 0, minWorkerReplicas = 0 } = status;
  const head = status.conditions?.find(({ type }) => type === "HeadPodReady");
  if (state !== "ready") {
    const why = [status.reason, head?.message].filter((text) => text !== undefined && text !== "").join("; ");
    return wrong(
      `RayCluster ${where}: ${state === undefined || state === "" ? "the operator has set no state" : `it is ${state}`}${why === "" ? "" : ` (${why})`}`,
      `kubectl describe raycluster -n ${where.replace("/", " ")}; pulling an image or starting a node takes minutes`,
    );
  }
  if (availableWorkerReplicas < minWorkerReplicas)
    return wrong(
      `RayCluster ${where}: ready, but has ${availableWorkerReplicas} workers, minimum ${minWorkerReplicas}`,
      `kubectl get pods -n ${where.replace("/", ` -l ${clusterLabel}=`)}`,
    );
  return ok(`RayCluster ${where}: ready, ${availableWorkerReplicas} workers`);
}

function checkPod({ config, cluster }: PlannedStack, pod: PodFact, nodes: readonly NodeFact[]): Line[] {
  const name = `pod ${pod.metadata.name}`;
  const look = `kubectl describe pod -n ${config.namespace} ${pod.metadata.name}`;
  const scheduled = pod.status.conditions?.find(({ type }) => type === "PodScheduled");
  if (pod.spec.nodeName === undefined)
    return [wrong(`${name}: not scheduled${scheduled?.message === undefined ? "" : ` (${scheduled.message})`}`, look)];
  const waiting = pod.status.containerStatuses?.find(({ state }) => state?.waiting !== undefined);
  if (!isReady(pod.status.conditions)) {
    const { reason = "starting", message = "" } = waiting?.state?.waiting ?? {};
    return [wrong(`${name}: not ready (${reason}${message === "" ? "" : `: ${message}`})`, look)];
  }
  const labels = nodes.find(({ metadata }) => metadata.name === pod.spec.nodeName)?.metadata.labels ?? {};
  const options = cluster.roles;
  const wanted = rayRoles.filter((role) => pod.spec.nodeSelector?.[roleLabelKey(role, options)] !== undefined);
  const elsewhere = wanted.filter((role) => labels[roleLabelKey(role, options)] === undefined);
  return elsewhere.length > 0
    ? [
        wrong(
          `${name}: on ${pod.spec.nodeName}, which is not a ${elsewhere.join(", ")} node`,
          `the node's label was removed: ${look}`,
        ),
      ]
    : [ok(`${name}: ready on ${pod.spec.nodeName}${wanted.length > 0 ? ` (${wanted.join(", ")})` : ""}`)];
}

/** Pods on head nodes that are neither heads nor part of a DaemonSet. */
function foreignPods({ cluster, facts }: PlannedStack, pods: readonly PodFact[], nodes: readonly NodeFact[]): Line[] {
  const { ownsNodes, ownNamespaces } = facts;
  if (!ownsNodes) return [];
  const key = roleLabelKey("ray-head", cluster.roles);
  const heads = new Set(nodes.flatMap(({ metadata }) => (metadata.labels?.[key] === undefined ? [] : [metadata.name])));
  const foreign = pods.filter(
    ({ metadata, spec, status }) =>
      spec.nodeName !== undefined &&
      heads.has(spec.nodeName) &&
      status.phase === "Running" &&
      metadata.labels?.["ray.io/node-type"] !== "head" &&
      !ownNamespaces?.test(metadata.namespace ?? "") &&
      !metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet" || kind === "Node"),
  );
  return foreign.map(({ metadata, spec }) =>
    wrong(
      `pod ${metadata.namespace}/${metadata.name}: runs on the head node ${spec.nodeName}, which is reserved for the head`,
      "give it a nodeSelector of another pool, or set nodes.head.taint: NoSchedule",
    ),
  );
}
