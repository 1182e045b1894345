import { type ClusterModel, roleArchitecture } from "./cluster.ts";
import { collectorAmount, type HistorySettings, historyEnvironment } from "./history.ts";
import { throughCache } from "./image-name.ts";
import { parseMemory } from "./quantity.ts";
import { type NodeRole, type RayRole, roleFacts, systemRole } from "./roles.ts";

/** Requests of the autoscaler sidecar in a head pod, in KubeRay and in the clusters that the runtime's client creates. */
export const autoscalerSidecar = { cpus: 1, memoryBytes: 2 ** 30, diskBytes: 2 ** 30 } as const;

/** What a configuration says about Ray pods. */
export interface RaySettings {
  readonly version: string;
  readonly logsToStderr: boolean;
  readonly image: {
    readonly repository: string;
    readonly python: string;
    readonly tag?: string | undefined;
    readonly digest?: string | undefined;
    readonly gpuDigest?: string | undefined;
  };
  readonly history: HistorySettings;
  readonly head: { readonly cpus: number; readonly memory: string; readonly ephemeralStorage: string };
  readonly cpuWorkers: WorkerSettings;
  readonly gpuWorkers: WorkerSettings;
}

interface WorkerSettings {
  readonly name: string;
  readonly cpus: number;
  readonly memory: string;
  readonly ephemeralStorage: string;
  readonly gpus: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/** One group of equal Ray pods. The client's parameters, the RayCluster and the fit checks derive from these. */
export interface RayGroup {
  readonly role: RayRole;
  readonly name: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly gpus: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly image: string;
  /** Whether the pod has a collector of Ray's history. */
  readonly collected: boolean;
}

export interface RayGroups {
  readonly head: RayGroup;
  readonly workers: readonly RayGroup[];
}

/** The environment of every Ray container. */
export const rayEnvironment = ({
  logsToStderr,
  history,
}: Pick<RaySettings, "logsToStderr" | "history">): Record<string, string> => ({
  ...(logsToStderr ? { RAY_LOG_TO_STDERR: "1" } : {}),
  ...(history.enabled ? historyEnvironment : {}),
});

/** The groups of a configuration; the GPU group exists only with GPU nodes. */
export function rayGroups({ ray }: { readonly ray: RaySettings }, cluster: ClusterModel): RayGroups {
  const group = (role: RayRole, { memory, ephemeralStorage, ...settings }: WorkerSettings): RayGroup => ({
    role,
    name: settings.name,
    cpus: settings.cpus,
    memoryBytes: parseMemory(memory),
    diskBytes: parseMemory(ephemeralStorage),
    gpus: settings.gpus,
    minReplicas: settings.minReplicas,
    maxReplicas: settings.maxReplicas,
    image: rayImage(ray, cluster, role),
    collected: ray.history.enabled,
  });
  return {
    head: group("ray-head", { ...ray.head, name: "head", gpus: 0, minReplicas: 1, maxReplicas: 1 }),
    workers: [
      group("ray-worker-cpu", ray.cpuWorkers),
      ...(cluster.hasGpuNodes ? [group("ray-worker-gpu", ray.gpuWorkers)] : []),
    ],
  };
}

/** The pod as the scheduler counts it: with the head's autoscaler, and the collector. */
export function wholePod(group: RayGroup): RayGroup {
  const sidecars = [
    ...(group.role === "ray-head" ? [autoscalerSidecar] : []),
    ...(group.collected ? [collectorAmount] : []),
  ];
  const sum = (field: "cpus" | "memoryBytes" | "diskBytes") =>
    sidecars.reduce((total, sidecar) => total + sidecar[field], group[field]);
  return { ...group, cpus: sum("cpus"), memoryBytes: sum("memoryBytes"), diskBytes: sum("diskBytes") };
}

/** Ray's image on the nodes of what is not Ray: a client has the version of Ray and of Python that the cluster has. */
export const rayClientImage = (ray: RaySettings, cluster: ClusterModel): string => {
  const [own, head] = ([systemRole, "ray-head"] as const).map((role) => roleArchitecture(cluster, role));
  const settings = own === head ? ray : { ...ray, image: { ...ray.image, digest: undefined } };
  return rayImage(settings, cluster, systemRole);
};

/** The image that the runtime's client chooses by default: `<repository>:<ray>-py<python>[-gpu][-aarch64]`. */
function rayImage({ version, image }: RaySettings, cluster: ClusterModel, role: NodeRole): string {
  const base = image.tag ?? `${version}-py${image.python.replace(".", "")}`;
  const arm = roleArchitecture(cluster, role) === "arm64" ? "-aarch64" : "";
  const { gpu } = roleFacts[role];
  // A tag of a registry can move, a digest cannot.
  const digest = gpu ? image.gpuDigest : image.digest;
  const pinned = digest === undefined ? "" : `@${digest}`;
  return `${throughCache(image.repository, cluster.dockerHubCache)}:${base}${gpu ? "-gpu" : ""}${arm}${pinned}`;
}
