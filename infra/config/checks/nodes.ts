import type { Config, GcpConfig } from "../../clouds/schema.ts";
import { type Amount, allocatable, describeAmount, podsPerNode, smallestMachine } from "../../model/fit.ts";
import { acceleratorOf, findMachine } from "../../model/machines.ts";
import { type Pool, poolKey, poolMachines, pools, roleCapacity } from "../../model/pools.ts";
import { parseMemory } from "../../model/quantity.ts";
import { autoscalerSidecar, type RayGroup, rayGroups } from "../../model/ray-groups.ts";
import { type PoolRole, roleFacts, systemPool } from "../../model/roles.ts";
import { doubt, type Finding, refuse } from "../report.ts";

/** Pools by themselves: bounds, known machines of one size, GPUs where they belong, room for images. */
export function checkPools(config: Config): Finding[] {
  if (config.cloud === "kubeconfig") return [];
  return pools(config).flatMap((pool) => checkPool(config, pool));
}

function checkPool(config: Exclude<Config, { cloud: "kubeconfig" }>, pool: Pool): Finding[] {
  const key = `nodes.${pool.key}`;
  const found = poolMachines(config, pool);
  const machineKey = config.cloud === "aws" ? `${key}.instanceTypes` : `${key}.machineType`;
  const needsGpu = pool.role !== systemPool && roleFacts[pool.role].gpu;
  const findings: (Finding | undefined)[] = [
    pool.min > pool.max
      ? refuse(`${key}.min`, pool.min, `more than ${key}.max, which is ${pool.max}`, "lower min or raise max")
      : undefined,
    ...pool.machineNames
      .filter((name) => findMachine(config.cloud, name) === undefined && pool.size === undefined)
      .map((name) =>
        refuse(
          machineKey,
          name,
          "its size is not known here",
          `take one of a current family, such as m7i or n2-standard, or write ${key}.size`,
        ),
      ),
    new Set(found.map(({ cpus, memoryBytes, gpus, architecture }) => `${cpus} ${memoryBytes} ${gpus} ${architecture}`))
      .size > 1
      ? refuse(
          machineKey,
          pool.machineNames,
          "the types differ in size, and the autoscaler judges a whole group by one node",
          "list types of equal CPUs, memory, GPUs and architecture",
        )
      : undefined,
    ...found
      .filter(({ gpus }) => gpus > 0 !== needsGpu)
      .map(({ name }) =>
        needsGpu
          ? refuse(machineKey, name, "it has no GPU", "take one with GPUs, such as g6.4xlarge or g2-standard-12")
          : refuse(machineKey, name, "its GPUs would stand idle", "take one without GPUs"),
      ),
    config.cloud === "gcp" &&
    needsGpu &&
    found.some(({ name, gpus }) => gpus > 0 && acceleratorOf(name, config.nodes.gpu.accelerator) === undefined)
      ? refuse(
          `${key}.accelerator`,
          undefined,
          `what GPU ${pool.machineNames.join()} has is not known here, and GKE wants it named`,
          "write its type and count",
        )
      : undefined,
    ...(config.cloud === "gcp" ? [bootDisk(key, config.nodes[pool.key])] : []),
    needsGpu && pool.diskGiB < 100
      ? refuse(
          `${key}.diskGiB`,
          pool.diskGiB,
          "Ray's GPU images and a job's packages need 100 GiB",
          "write 100 or more",
        )
      : undefined,
  ];
  return findings.filter((finding) => finding !== undefined);
}

/** Google's newest families boot from Hyperdisk alone. Source: cloud.google.com/compute/docs/machine-resource */
function bootDisk(
  key: string,
  { machineType, diskType }: Pick<GcpConfig["nodes"]["cpu"], "machineType" | "diskType">,
): Finding | undefined {
  return /^[cn]4-/.test(machineType) && !diskType.startsWith("hyperdisk-")
    ? refuse(`${key}.diskType`, diskType, `${machineType} has no persistent disks`, 'write "hyperdisk-balanced"')
    : undefined;
}

/** Every pod fits an empty node of its role; groups can reach what they promise. */
export function checkFit(config: Config): Finding[] {
  const { head, workers } = rayGroups(config);
  const headPod: Amount = {
    cpus: head.cpus + autoscalerSidecar.cpus,
    memoryBytes: head.memoryBytes + autoscalerSidecar.memoryBytes,
    gpus: 0,
  };
  const service: Amount = {
    cpus: config.tableService.cpus,
    memoryBytes: parseMemory(config.tableService.memory),
    gpus: 0,
  };
  return [
    ...fits(config, "ray-head", "ray.head", headPod, `the head (with the autoscaler sidecar's 1 CPU and 1Gi)`),
    ...workers.flatMap((worker) => [
      ...fits(config, worker.role, groupKey(worker), worker, `a pod of worker group ${worker.name}`),
      ...reachable(config, worker),
    ]),
    ...(config.tableService.enabled
      ? [
          ...fits(config, systemPool, "tableService", service, "a pod of the table service"),
          ...withinPool(config, systemPool, service, [
            ["tableService.replicas.min", config.tableService.replicas.min],
            ["tableService.replicas.max", config.tableService.replicas.max],
          ]),
        ]
      : []),
    ...architectures(config),
  ];
}

function groupKey({ role }: RayGroup): string {
  return role === "ray-worker-gpu" ? "ray.gpuWorkers" : "ray.cpuWorkers";
}

/** Nothing when the pod fits; otherwise what to change, by the smallest machine that would do. */
function fits(config: Config, role: PoolRole, key: string, pod: Amount, what: string): Finding[] {
  const node = roleCapacity(config, role);
  if (node === undefined || podsPerNode(pod, node) > 0) return [];
  const wish = `${what} asks for ${describeAmount(pod)}, a node of nodes.${poolKey(role)} has ${describeAmount(node)} for it`;
  const value = { cpus: pod.cpus, memory: describeAmount(pod).split(", ")[1] };
  return [refuse(key, value, wish, `ask for less, or ${biggerNode(config, role, pod)}`)];
}

function biggerNode(config: Config, role: PoolRole, pod: Amount): string {
  if (config.cloud === "kubeconfig") return "use larger nodes";
  const pool = pools(config).find((candidate) => candidate.role === role);
  const architecture = pool === undefined ? undefined : poolMachines(config, pool)[0]?.architecture;
  const machine = smallestMachine(config.cloud, pod, architecture);
  if (machine === undefined) return "split the work into smaller pods: no machine holds it";
  const room = describeAmount(allocatable(config.cloud, machine));
  return `set nodes.${poolKey(role)} to ${machine.name} (${room}), the smallest that does`;
}

function reachable(config: Config, group: RayGroup): Finding[] {
  const key = groupKey(group);
  return withinPool(config, group.role, group, [
    [`${key}.minReplicas`, group.minReplicas],
    [`${key}.maxReplicas`, group.maxReplicas],
  ]);
}

/** The least number of pods must find room when the pool is at its largest; that the greatest does is only sensible. */
function withinPool(
  config: Config,
  role: PoolRole,
  pod: Amount,
  [[minKey, min], [maxKey, max]]: readonly [readonly [string, number], readonly [string, number]],
): Finding[] {
  if (min > max) return [refuse(minKey, min, `more than ${maxKey}, which is ${max}`, "lower it, or raise the other")];
  const pool = pools(config).find((candidate) => candidate.role === role);
  const node = roleCapacity(config, role);
  const room = pool === undefined || node === undefined ? 0 : podsPerNode(pod, node) * pool.max;
  if (pool === undefined || room === 0) return [];
  const remedy = `raise nodes.${pool.key}.max, which makes room for ${room} pods, or lower it`;
  if (min > room) return [refuse(minKey, min, "the pool can never hold so many", remedy)];
  if (max > room) return [doubt(maxKey, max, "the pool cannot hold so many", remedy)];
  return [];
}

/** The client ships compiled packages to every Ray pod, so that all have one architecture. */
function architectures(config: Config): Finding[] {
  const ray = pools(config).filter(({ role }) => role !== systemPool);
  const found = new Set(ray.flatMap((pool) => poolMachines(config, pool).map(({ architecture }) => architecture)));
  const names = Object.fromEntries(ray.map((pool) => [pool.key, pool.machineNames]));
  return found.size > 1
    ? [
        refuse(
          "nodes",
          names,
          "Ray nodes of two architectures cannot share a job's packages",
          "take x86_64 or arm64 for all",
        ),
      ]
    : [];
}
