import { type ClusterModel, poolOf, poolsOf, smallestMachine } from "../../model/cluster.ts";
import {
  type Amount,
  defaultFunction,
  defaultJob,
  describeAmount,
  functionsDisk,
  maintenanceDisk,
  nodesFor,
  podsPerNode,
  tableServiceDisk,
} from "../../model/fit.ts";
import { functionsRay } from "../../model/functions-cluster.ts";
import { describeMemory, parseMemory } from "../../model/quantity.ts";
import { type RayGroup, rayGroups, wholePod } from "../../model/ray-groups.ts";
import { type NodeRole, roleFacts, systemRole } from "../../model/roles.ts";
import { ownsFunctionsCluster, runsFunctions } from "../functions.ts";
import { runsMaintenance } from "../maintenance.ts";
import type { OwnPrometheus } from "../monitoring.ts";
import { errorIf, type Finding, warningIf } from "../report.ts";
import type { SharedConfig } from "../shared.ts";

/** Every pod fits an empty node of its role, and every pool has room for the replicas. */
export function checkPods(config: SharedConfig, cluster: ClusterModel): Finding[] {
  const { tableService } = config;
  const { workers } = rayGroups(config, cluster);
  const service: Amount = {
    cpus: tableService.cpus,
    memoryBytes: parseMemory(tableService.memory),
    gpus: 0,
    diskBytes: parseMemory(tableServiceDisk(tableService.writes).total),
  };
  return [
    ...checkRayPods(cluster, config, "ray"),
    ...(ownsFunctionsCluster(config) ? checkRayPods(cluster, functionsRay(config), "tableService.functions.ray") : []),
    ...checkHeads(config, cluster),
    ...workers.filter(({ role }) => role === "ray-worker-cpu").flatMap(checkDefaultJob),
    ...(tableService.enabled
      ? [
          ...checkFit(cluster, systemRole, "tableService", service, "a pod of the table service"),
          ...checkReplicas(cluster, systemRole, service, [
            ["tableService.replicas.min", tableService.replicas.min],
            ["tableService.replicas.max", tableService.replicas.max],
          ]),
        ]
      : []),
    ...(runsMaintenance(config)
      ? checkFit(cluster, systemRole, "maintenance", maintenanceAmount(config), "a run of the maintenance")
      : []),
    ...("crds" in config.monitoring
      ? checkFit(cluster, systemRole, "monitoring", prometheusAmount(config.monitoring), "the pod of Prometheus")
      : []),
    ...(runsFunctions(config)
      ? checkFit(cluster, systemRole, "tableService.functions", runnerAmount(config), "a runner of Functions")
      : []),
  ];
}

/** The pods of one RayCluster, by the key of its settings. */
function checkRayPods(cluster: ClusterModel, settings: Parameters<typeof rayGroups>[0], key: string): Finding[] {
  const { head, workers } = rayGroups(settings, cluster);
  return [
    ...checkFit(
      cluster,
      "ray-head",
      `${key}.head`,
      wholePod(head),
      "the head (with the autoscaler sidecar's 1 CPU and 1Gi)",
    ),
    ...workers.flatMap((worker) => {
      const group = groupKey(worker, key);
      const pod = wholePod(worker);
      return [
        ...checkFit(cluster, worker.role, group, pod, `a pod of worker group ${worker.name}`),
        ...checkReplicas(cluster, worker.role, pod, [
          [`${group}.minReplicas`, worker.minReplicas],
          [`${group}.maxReplicas`, worker.maxReplicas],
        ]),
      ];
    }),
  ];
}

const prometheusAmount = ({ cpus, memory }: OwnPrometheus): Amount => ({
  cpus,
  memoryBytes: parseMemory(memory),
  gpus: 0,
});

const runnerAmount = ({ tableService: { functions } }: SharedConfig): Amount => ({
  cpus: functions.cpus,
  memoryBytes: parseMemory(functions.memory),
  gpus: 0,
  diskBytes: parseMemory(functionsDisk.total),
});

const maintenanceAmount = ({ maintenance }: SharedConfig): Amount => ({
  cpus: maintenance.cpus,
  memoryBytes: parseMemory(maintenance.memory),
  gpus: 0,
  diskBytes: parseMemory(maintenanceDisk.total),
});

/** A place for the head of the client's RayCluster remains beside those of the stack's own. */
function checkHeads(config: SharedConfig, cluster: ClusterModel): Finding[] {
  const pool = poolOf(cluster, "ray-head");
  const node = cluster.capacity["ray-head"];
  if (pool === undefined || node === undefined) return [];
  const { create } = config.ray;
  const clients = wholePod(rayGroups(config, cluster).head);
  const heads = [
    clients,
    ...(create ? [clients] : []),
    ...(ownsFunctionsCluster(config) ? [wholePod(rayGroups(functionsRay(config), cluster).head)] : []),
  ];
  const needed = nodesFor(heads, node);
  return errorIf(
    needed !== undefined && pool.max < needed,
    `nodes.${pool.key}.max`,
    "the stack's own RayClusters take the only places for a head, and a client's RayCluster cannot start",
    `write ${needed} or more${create ? ", or ray.create: false" : ""}`,
  );
}

/** A function of the client without `num_cpus` and `memory` finds a CPU worker, and its job finds room in the group. */
function checkDefaultJob(worker: RayGroup): Finding[] {
  const group: Amount = {
    cpus: worker.cpus * worker.maxReplicas,
    memoryBytes: worker.memoryBytes * worker.maxReplicas,
    gpus: 0,
  };
  const fits = podsPerNode(defaultFunction, worker) > 0 && podsPerNode(defaultJob, group) > 0;
  return warningIf(
    !fits,
    [
      groupKey(worker, "ray"),
      { cpus: worker.cpus, memory: describeAmount(worker).split(", ")[1], maxReplicas: worker.maxReplicas },
    ],
    `a job of the client with default sizes requests ${describeAmount(defaultJob)}, of which one worker must have ${describeAmount(defaultFunction)}`,
    "write cpus: 2 and memory: 6Gi, or give num_cpus and memory to every UDF",
  );
}

function groupKey({ role }: RayGroup, key: string): string {
  return `${key}.${roleFacts[role].key}Workers`;
}

/** An error for each pool of the role that the pod does not fit, with the smallest machine on which it does. */
function checkFit(cluster: ClusterModel, role: NodeRole, key: string, pod: Amount, what: string): Finding[] {
  return places(cluster, role).flatMap(({ path, node }) => {
    if (podsPerNode(pod, node) > 0) return [];
    if (podsPerNode({ ...pod, diskBytes: 0 }, node) > 0) return noDisk(cluster, role, key, pod, node, what);
    const problem = `${what} requests ${describeAmount(pod)}, and a node of ${path} has ${describeAmount(node)}`;
    const value = { cpus: pod.cpus, memory: describeAmount(pod).split(", ")[1] };
    return errorIf(true, [key, value], problem, `request less, or ${largerNode(cluster, role, path, pod)}`);
  });
}

/** What pods can request on a node of each of a role's pools, whose size is known. */
function places(cluster: ClusterModel, role: NodeRole): { readonly path: string; readonly node: Amount }[] {
  const fallbacks = poolsOf(cluster, role).slice(1);
  const known = [
    { path: `nodes.${roleFacts[role].key}`, node: cluster.capacity[role] },
    ...fallbacks.map(({ path, capacity }) => ({ path, node: capacity })),
  ];
  return known.flatMap(({ path, node }) => (node === undefined ? [] : [{ path, node }]));
}

/** The largest boot disk that a pool can have, GiB. */
const largestDisk = 16_384;

/** An error for the disk alone, with the smallest one that is large enough. */
function noDisk(
  cluster: ClusterModel,
  role: NodeRole,
  key: string,
  pod: Amount,
  node: Amount,
  what: string,
): Finding[] {
  const needed = pod.diskBytes ?? 0;
  const { machines } = cluster;
  const sizes = Array.from({ length: largestDisk }, (_, index) => index + 1);
  const enough = machines && sizes.find((diskGiB) => machines.allocatableDisk(diskGiB) >= needed);
  return errorIf(
    true,
    [`${key}.ephemeralStorage`, describeMemory(needed)],
    `${what} requests ${describeMemory(needed)} of local disk, and a node of nodes.${roleFacts[role].key} has ${describeMemory(node.diskBytes ?? 0)}`,
    `request less, or ${enough === undefined ? "use nodes with a larger disk" : `write nodes.${roleFacts[role].key}.diskGiB: ${enough}`}`,
  );
}

function largerNode(cluster: ClusterModel, role: NodeRole, path: string, pod: Amount): string {
  if (cluster.machines === undefined) return "use larger nodes";
  const machine = smallestMachine(cluster.machines, pod, poolOf(cluster, role)?.machines[0]?.architecture);
  if (machine === undefined) return "divide the work into smaller pods: no machine type is large enough";
  const capacity = describeAmount(cluster.machines.allocatable(machine));
  return `write ${machine.name} under ${path}, the smallest type that is large enough (${capacity})`;
}

/** The minimum of replicas must fit the pool at its maximum; that the maximum does not is a warning. */
function checkReplicas(
  cluster: ClusterModel,
  role: NodeRole,
  pod: Amount,
  [[minKey, min], [maxKey, max]]: readonly [readonly [string, number], readonly [string, number]],
): Finding[] {
  if (min > max)
    return errorIf(true, [minKey, min], `more than ${maxKey}, which is ${max}`, `lower it, or raise ${maxKey}`);
  const [pool, ...fallbacks] = poolsOf(cluster, role);
  if (pool?.capacity === undefined || podsPerNode(pod, pool.capacity) === 0) return [];
  const capacity = [pool, ...fallbacks].reduce(
    (sum, { capacity: node, max: nodes }) => sum + (node === undefined ? 0 : podsPerNode(pod, node) * nodes),
    0,
  );
  const problem = `nodes.${pool.key}.max allows nodes for only ${capacity} such pods`;
  const remedy = `raise nodes.${pool.key}.max, or write ${capacity} or less`;
  if (min > capacity) return errorIf(true, [minKey, min], problem, remedy);
  return warningIf(max > capacity, [maxKey, max], problem, remedy);
}
