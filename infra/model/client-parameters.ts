import { z } from "zod";
import type { CatalogPod } from "./catalog.ts";
import type { ClusterModel } from "./cluster.ts";
import { collector, type HistoryStore, historyGraceSeconds, historyVolume } from "./history.ts";
import { jobLabels } from "./names.ts";
import { type QueueSettings, queueLabels } from "./queue.ts";
import type { PodExtras } from "./ray-cluster.ts";
import { type RayGroup, type RaySettings, rayEnvironment, rayGroups } from "./ray-groups.ts";
import { nodeSelector, tolerations } from "./roles.ts";

/** How the runtime's client authenticates. Plain values, so that an offline plan shows the parameters. */
export interface ClientIdentity {
  /** With EKS_AUTH the client signs EKS tokens; with LOCAL it reads a kubeconfig. */
  readonly configMethod: "EKS_AUTH" | "LOCAL";
  readonly region?: string;
  /** The role's name, not its ARN: the client accepts only ARNs of the standard partition. */
  readonly roleName?: string;
  /** The extra of the client's package for this cloud. */
  readonly extra?: "aws" | "gcp";
  /** The database as the client opens it. */
  readonly database: {
    readonly uri: string;
    /** Storage options without secrets. */
    readonly storageOptions: Readonly<Record<string, string>>;
    /** Whether it needs others, which the stack keeps secret. */
    readonly secretStorageOptions: boolean;
  };
}

const smallestMemory = 64 * 2 ** 20;

/**
 * Bytes: the client reads an integer `memory` as bytes. No Ray process starts with less than 64 MiB, so a smaller value
 * is a number of MiB or GiB without its unit, such as 2048 in the runtime's documentation.
 */
const memoryBytes = z
  .int({ error: "a whole number of bytes" })
  .positive({ error: "a whole number of bytes" })
  .superRefine((bytes, context) => {
    if (bytes < smallestMemory) context.addIssue({ code: "custom", message: unitMistake(bytes) });
  });

function unitMistake(value: number): string {
  const [unit, factor] = value < 128 ? (["GiB", 2 ** 30] as const) : (["MiB", 2 ** 20] as const);
  return `${value} means ${value} bytes, too little for a Ray pod; for ${value} ${unit} write ${value * factor}`;
}

const toleration = z.strictObject({
  key: z.string(),
  operator: z.enum(["Equal", "Exists"]),
  value: z.string().optional(),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
});

const groupShape = {
  service_account: z.string().min(1),
  num_cpus: z.number().positive(),
  memory: memoryBytes,
  node_selector: z.record(z.string(), z.string()).refine((selector) => Object.keys(selector).length > 0, {
    error: "a selector of at least one label: without one the pod can run on any node",
  }),
  num_gpus: z.int().positive().optional(),
  image: z.string().optional(),
  tolerations: z.array(toleration).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  volumes: z.record(z.string(), z.looseObject({})).optional(),
  mounts: z.array(z.tuple([z.string(), z.string()])).optional(),
  env_vars: z.record(z.string(), z.string()).optional(),
  k8s_spec_override: z.looseObject({}).optional(),
};

/** The client's cluster creation parameters, names exact. `memory` is in bytes. */
export const clientParametersSchema = z.strictObject({
  name: z.string().regex(/^[a-z]([a-z0-9-]{0,51}[a-z0-9])?$/),
  namespace: z.string().min(1).max(63),
  cluster_name: z.string().min(1),
  config_method: z.enum(["EKS_AUTH", "LOCAL"]),
  region: z.string().optional(),
  use_portforwarding: z.boolean(),
  head_group: z.strictObject(groupShape),
  worker_groups: z.array(
    z.strictObject({
      name: z.string().min(1),
      replicas: z.int().min(0),
      min_replicas: z.int().min(0),
      max_replicas: z.int().min(1).optional(),
      ...groupShape,
    }),
  ),
  role_name: z.string().optional(),
});
export type ClientParameters = z.output<typeof clientParametersSchema>;

export interface ClientConfig extends QueueSettings {
  readonly clusterName: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly client: { readonly portForwarding: boolean };
  readonly ray: RaySettings & { readonly create: boolean; readonly name: string };
}

/**
 * The name of the RayCluster that the client creates. It differs from the stack's own RayCluster, because the client
 * deletes its cluster at the end.
 */
export function clientClusterName({ ray }: Pick<ClientConfig, "ray">): string {
  return ray.create ? `${ray.name}-client` : ray.name;
}

/**
 * The client's parameters for clusters on this stack's nodes, under its identities.
 * @param stack its name, which the pods carry as a label
 */
export function clientParameters(
  config: ClientConfig,
  cluster: ClusterModel,
  identity: ClientIdentity,
  stack: string,
  { catalogPod, history }: PodExtras = {},
): ClientParameters {
  const { head, workers } = rayGroups(config, cluster);
  const { roles } = cluster;
  const environment = { ...rayEnvironment(config.ray), ...catalogPod?.env };
  const group = ({ role, cpus, memoryBytes, gpus, image }: RayGroup) => ({
    service_account: config.serviceAccount,
    num_cpus: cpus,
    memory: memoryBytes,
    node_selector: nodeSelector(role, roles),
    ...(gpus > 0 ? { num_gpus: gpus } : {}),
    image,
    // PreferNoSchedule needs no toleration, and Kubernetes' admission adds the one for GPUs.
    ...(role === "ray-head" && roles.headTaint === "NoSchedule"
      ? { tolerations: tolerations(role, roles).map((entry) => ({ ...entry })) }
      : {}),
    labels: { [jobLabels.stack]: stack, ...(role === "ray-head" ? {} : queueLabels(config)) },
    ...(Object.keys(environment).length === 0 ? {} : { env_vars: environment }),
    ...podFields(catalogPod, history),
    // The client merges it into its own pod, which has neither.
    ...(history === undefined
      ? {}
      : {
          k8s_spec_override: {
            template: {
              spec: {
                terminationGracePeriodSeconds: historyGraceSeconds,
                initContainers: [collector(config.ray.history, history, { isHead: role === "ray-head" })],
              },
            },
          },
        }),
  });
  return clientParametersSchema.parse({
    name: clientClusterName(config),
    namespace: config.namespace,
    cluster_name: config.clusterName,
    config_method: identity.configMethod,
    ...(identity.region === undefined ? {} : { region: identity.region }),
    use_portforwarding: config.client.portForwarding,
    head_group: group(head),
    worker_groups: workers.map((worker) => ({
      name: worker.name,
      // The client's default is 1, which starts a node of every group, and is refused below min_replicas.
      replicas: worker.minReplicas,
      min_replicas: worker.minReplicas,
      max_replicas: worker.maxReplicas,
      ...group(worker),
    })),
    ...(identity.roleName === undefined ? {} : { role_name: identity.roleName }),
  });
}

/** The client mounts volumes for writing; a projected one is read-only in any case. */
function podFields(catalogPod: CatalogPod | undefined, history: HistoryStore | undefined) {
  const volumes: (readonly [name: string, source: object, path: string])[] = [
    ...(catalogPod === undefined
      ? []
      : [[catalogPod.volume.name, { projected: catalogPod.volume.projected }, catalogPod.mount.mountPath] as const]),
    ...(history === undefined ? [] : [[historyVolume.name, { emptyDir: {} }, historyVolume.mountPath] as const]),
  ];
  if (volumes.length === 0) return {};
  return {
    volumes: Object.fromEntries(volumes.map(([name, source]) => [name, source])),
    mounts: volumes.map(([name, , path]) => [name, path]),
  };
}
