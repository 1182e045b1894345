import type { Config } from "../clouds/schema.ts";
import { roleArchitecture } from "./pools.ts";
import { parseMemory } from "./quantity.ts";
import { type NodeRole, roleFacts } from "./roles.ts";

/** What the autoscaler sidecar asks for beside the head container, in KubeRay and in the runtime's own clusters. */
export const autoscalerSidecar = { cpus: 1, memoryBytes: 2 ** 30 } as const;

/** One group of equal Ray pods. The client's parameters, the RayCluster and the fit are all made from these. */
export interface RayGroup {
  readonly role: NodeRole;
  readonly name: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly image: string;
}

export interface RayGroups {
  readonly head: RayGroup;
  readonly workers: readonly RayGroup[];
}

/** The groups of a configuration; the GPU group exists when nodes with GPUs do. */
export function rayGroups(config: Config): RayGroups {
  const { head, cpuWorkers, gpuWorkers } = config.ray;
  const worker = (role: NodeRole, group: typeof cpuWorkers): RayGroup => ({
    role,
    name: group.name,
    cpus: group.cpus,
    memoryBytes: parseMemory(group.memory),
    gpus: group.gpus,
    minReplicas: group.minReplicas,
    maxReplicas: group.maxReplicas,
    image: rayImage(config, role),
  });
  return {
    head: {
      role: "ray-head",
      name: "head",
      cpus: head.cpus,
      memoryBytes: parseMemory(head.memory),
      gpus: 0,
      minReplicas: 1,
      maxReplicas: 1,
      image: rayImage(config, "ray-head"),
    },
    workers: [
      worker("ray-worker-cpu", cpuWorkers),
      ...(hasGpuNodes(config) ? [worker("ray-worker-gpu", gpuWorkers)] : []),
    ],
  };
}

/** Whether the stack has nodes with GPUs. */
export function hasGpuNodes(config: Config): boolean {
  return config.cloud === "kubeconfig" ? config.nodes.gpu !== undefined : config.nodes.gpu.enabled;
}

/** The image that the runtime's client would choose itself: `<repository>:<ray>-py<python>[-gpu][-aarch64]`. */
export function rayImage(config: Config, role: NodeRole): string {
  const { repository, python, tag } = config.ray.image;
  const base = tag ?? `${config.ray.version}-py${python.replace(".", "")}`;
  const arm = roleArchitecture(config, role) === "arm64" ? "-aarch64" : "";
  return `${repository}:${base}${roleFacts[role].gpu ? "-gpu" : ""}${arm}`;
}
