import { type Amount, podsPerNode } from "./fit.ts";
import type { Machine, MachineCatalogue } from "./machines.ts";
import { parseMemory } from "./quantity.ts";
import {
  type NodeRole,
  nodeRoles,
  nodeSelector,
  type PoolKey,
  type RoleOptions,
  roleFacts,
  systemRole,
} from "./roles.ts";

/**
 * What a stack's configuration says about its cluster, in terms that every cloud shares. Each cloud derives one from
 * its own configuration; checks, workloads and the client's parameters read nothing else about nodes.
 */
export interface ClusterModel {
  readonly roles: RoleOptions;
  /** The node pools that the stack creates, system first; none on an existing cluster. */
  readonly pools: readonly Pool[];
  /** What pods can request on a node of each role, fallbacks apart. A role without an entry has no nodes, or nodes of unknown size. */
  readonly capacity: Readonly<Partial<Record<NodeRole, Amount>>>;
  /** Whether there are nodes with GPUs. */
  readonly hasGpuNodes: boolean;
  /** Selects the nodes of everything that is not Ray; empty where no node has the label. */
  readonly systemNodeSelector: Readonly<Record<string, string>>;
  /** Kubernetes minor version such as 1.35; undefined on an existing cluster. */
  readonly kubernetesVersion: string | undefined;
  /** KubeRay version that runs with the stack; undefined when it is unknown, which the checks refuse. */
  readonly operatorVersion: string | undefined;
  /** Host and path of the stack's cache of Docker Hub, by way of which its images are pulled; undefined without one. */
  readonly dockerHubCache: string | undefined;
  /** Settings of NVIDIA's device plugin; undefined when the stack does not install it. */
  readonly devicePlugin: DevicePlugin | undefined;
  /** Networks of nodes, pods and Services, and hosts that they reach directly; empty where the stack does not know them. */
  readonly ownNetworks: readonly string[];
  /** Machine types that a pool can name; undefined on an existing cluster. */
  readonly machines: MachineCatalogue | undefined;
}

export interface DevicePlugin {
  readonly chart: { readonly repository: string; readonly name: string };
  /** Exact version of the chart and the image. */
  readonly version: string;
  /** Image repository without tag. */
  readonly image: string;
}

/** A node pool that the stack creates. */
export interface Pool {
  readonly role: NodeRole;
  /** Its key under `nodes`, which its fallbacks share. */
  readonly key: PoolKey;
  /** Its place in the order of a role's pools: 0, and from 1 on for what is tried when the ones before have no machine. */
  readonly rank: number;
  /** Its path in the configuration, such as `nodes.gpu` or `nodes.gpu.fallback.0`. */
  readonly path: string;
  /** The key that names its machine types, such as `nodes.head.machineType`. */
  readonly machineKey: string;
  readonly machineNames: readonly string[];
  /** The machine types whose size is known. */
  readonly machines: readonly Machine[];
  readonly min: number;
  readonly max: number;
  readonly diskGiB: number;
  readonly spot: boolean;
  readonly zones: readonly string[] | undefined;
  /** What pods can request on one of its nodes; undefined where the size is unknown. */
  readonly capacity: Amount | undefined;
}

/** The keys of a pool that every cloud's configuration has. */
export interface PoolSettings {
  readonly size?: (Omit<Machine, "name" | "memoryBytes"> & { readonly memory: string }) | undefined;
  readonly min: number;
  readonly max: number;
  readonly diskGiB: number;
  readonly spot: boolean;
  readonly zones?: readonly string[] | undefined;
  /** What is tried in this order when the pool finds no machine. */
  readonly fallback?: readonly { readonly max?: number | undefined }[] | undefined;
}

export interface CreatedCluster<Settings extends PoolSettings> {
  readonly labelPrefix: string;
  readonly nodes: Readonly<Record<PoolKey, Settings>> & {
    readonly head: { readonly taint: RoleOptions["headTaint"] };
    readonly gpu: { readonly enabled: boolean };
  };
  readonly kubernetesVersion: string;
}

interface CreatedParts<Settings>
  extends Pick<ClusterModel, "operatorVersion" | "dockerHubCache" | "devicePlugin" | "ownNetworks"> {
  readonly machines: MachineCatalogue;
  /** The key of a pool that names its machine types. */
  readonly machineKey: string;
  machineNames(pool: Settings): readonly string[];
  /** The settings of a pool's fallbacks, complete. */
  fallbacks(pool: Settings): readonly Settings[];
  /** Of RoleOptions. */
  readonly computeClasses?: readonly NodeRole[];
  /** GPUs that the configuration attaches to each machine of a pool. */
  attachedGpus?(pool: Settings): number;
}

/** Nodes of all pools at their maximum, fallbacks included. */
export function maximumNodes({ nodes: { gpu, ...others } }: Pick<CreatedCluster<PoolSettings>, "nodes">): number {
  return [...Object.values(others), ...(gpu.enabled ? [gpu] : [])]
    .flatMap(({ max, fallback = [] }) => [max, ...fallback.map((one) => one.max ?? max)])
    .reduce((sum, max) => sum + max, 0);
}

/** The model of a cluster that the stack creates with a pool for each role, and its fallbacks after it. */
export function createdCluster<Settings extends PoolSettings>(
  { labelPrefix, nodes, kubernetesVersion }: CreatedCluster<Settings>,
  parts: CreatedParts<Settings>,
): ClusterModel {
  const { machines, machineKey, operatorVersion, dockerHubCache, devicePlugin, ownNetworks, computeClasses } = parts;
  const roles = { labelPrefix, headTaint: nodes.head.taint, ...(computeClasses ? { computeClasses } : {}) };
  const pools = nodeRoles
    .filter((role) => !roleFacts[role].gpu || nodes.gpu.enabled)
    .flatMap((role) => {
      const { key } = roleFacts[role];
      return [nodes[key], ...parts.fallbacks(nodes[key])].map((settings, rank): Pool => {
        const path = `nodes.${key}${rank === 0 ? "" : `.fallback.${rank - 1}`}`;
        const names = parts.machineNames(settings);
        const known = names.flatMap((name) => machineOf(name, settings, parts) ?? []);
        const [first] = known;
        return {
          role,
          key,
          rank,
          path,
          machineKey: `${path}.${machineKey}`,
          machineNames: names,
          machines: known,
          min: settings.min,
          max: settings.max,
          diskGiB: settings.diskGiB,
          spot: settings.spot,
          zones: settings.zones,
          capacity: first && {
            ...machines.allocatable(first),
            diskBytes: machines.allocatableDisk(settings.diskGiB),
          },
        };
      });
    });
  const capacities = pools.flatMap(({ role, rank, capacity }) =>
    rank > 0 || capacity === undefined ? [] : [[role, capacity] as const],
  );
  return {
    roles,
    pools,
    capacity: Object.fromEntries(capacities),
    hasGpuNodes: nodes.gpu.enabled,
    systemNodeSelector: nodeSelector(systemRole, roles),
    kubernetesVersion,
    operatorVersion,
    dockerHubCache,
    devicePlugin: nodes.gpu.enabled ? devicePlugin : undefined,
    ownNetworks,
    machines,
  };
}

/** The size of a machine type by its name, or as the pool's configuration has it. */
function machineOf<Settings extends PoolSettings>(
  name: string,
  settings: Settings,
  { machines, attachedGpus }: CreatedParts<Settings>,
): Machine | undefined {
  const { size } = settings;
  const machine =
    machines.find(name) ?? (size === undefined ? undefined : { ...size, name, memoryBytes: parseMemory(size.memory) });
  return machine && { ...machine, gpus: Math.max(machine.gpus, attachedGpus?.(settings) ?? 0) };
}

/** The pools of a role, in the order in which they are tried. */
export const poolsOf = ({ pools }: ClusterModel, role: NodeRole): readonly Pool[] =>
  pools.filter((pool) => pool.role === role);

export function poolOf({ pools }: ClusterModel, role: NodeRole): Pool | undefined {
  return pools.find((pool) => pool.role === role);
}

/** The processor architecture of a role's nodes; x86_64 where it is unknown. */
export function roleArchitecture(cluster: ClusterModel, role: NodeRole): Machine["architecture"] {
  return poolOf(cluster, role)?.machines[0]?.architecture ?? "x86_64";
}

/** The smallest suggested machine of that architecture on which the pod fits, by GPUs, then CPUs, then memory. */
export function smallestMachine(
  { suggested, allocatable }: MachineCatalogue,
  pod: Amount,
  architecture: Machine["architecture"] = "x86_64",
): Machine | undefined {
  return suggested
    .filter((machine) => machine.architecture === architecture && machine.gpus > 0 === pod.gpus > 0)
    .filter((machine) => podsPerNode(pod, allocatable(machine)) > 0)
    .toSorted((a, b) => a.gpus - b.gpus || a.cpus - b.cpus || a.memoryBytes - b.memoryBytes)[0];
}
