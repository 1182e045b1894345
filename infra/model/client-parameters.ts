import { z } from "zod";
import type { Config } from "../clouds/schema.ts";
import { type RayGroup, rayGroups } from "./ray-groups.ts";
import { nodeSelector, type RoleOptions, tolerations } from "./roles.ts";

/** Who the runtime's client is, as a platform tells it. Plain values, so that the parameters show in a plan. */
export interface ClientIdentity {
  /** EKS_AUTH makes the client sign tokens for EKS itself; LOCAL makes it read a kubeconfig. */
  readonly configMethod: "EKS_AUTH" | "LOCAL";
  readonly region?: string;
  /** The role's name, never its ARN: the client recognises ARNs of the standard partition only. */
  readonly roleName?: string;
}

const smallestMemory = 64 * 2 ** 20;

/**
 * Bytes, as the client's `memory` is when it is an integer. Below 64 MiB no Ray process starts, so that such a value
 * is a number of MiB or GiB whose unit got lost, as in the documents' own example of 2048.
 */
const memoryBytes = z
  .int({ error: "a whole number of bytes" })
  .positive({ error: "a whole number of bytes" })
  .superRefine((bytes, context) => {
    if (bytes < smallestMemory) context.addIssue({ code: "custom", message: unitMistake(bytes) });
  });

function unitMistake(value: number): string {
  const [unit, factor] = value < 128 ? (["GiB", 2 ** 30] as const) : (["MiB", 2 ** 20] as const);
  return `${value} is ${value} bytes, which no Ray pod runs in; for ${value} ${unit} write ${value * factor}`;
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
    error: "a selector of at least one label: without one the pod lands on any node",
  }),
  num_gpus: z.int().positive().optional(),
  image: z.string().optional(),
  tolerations: z.array(toleration).optional(),
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
      min_replicas: z.int().min(0),
      max_replicas: z.int().min(1).optional(),
      ...groupShape,
    }),
  ),
  role_name: z.string().optional(),
});
export type ClientParameters = z.output<typeof clientParametersSchema>;

/**
 * The cluster that the client makes for itself. Not the stack's own RayCluster: the client deletes its cluster when
 * it is done with it, and would take the stack's along.
 */
export function clientClusterName(config: Config): string {
  return config.ray.create ? `${config.ray.name}-client` : config.ray.name;
}

/** What a person pastes into the client so that its clusters land on this stack's nodes, under its identities. */
export function clientParameters(config: Config, identity: ClientIdentity, options: RoleOptions): ClientParameters {
  const { head, workers } = rayGroups(config);
  const group = ({ role, cpus, memoryBytes, gpus, image }: RayGroup) => ({
    service_account: config.serviceAccount,
    num_cpus: cpus,
    memory: memoryBytes,
    node_selector: nodeSelector(role, options),
    ...(gpus > 0 ? { num_gpus: gpus } : {}),
    image,
    // A soft taint needs no toleration, and the cloud's admission adds the one for GPUs.
    ...(role === "ray-head" && options.headTaint === "NoSchedule"
      ? { tolerations: tolerations(role, options).map((entry) => ({ ...entry })) }
      : {}),
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
      min_replicas: worker.minReplicas,
      max_replicas: worker.maxReplicas,
      ...group(worker),
    })),
    ...(identity.roleName === undefined ? {} : { role_name: identity.roleName }),
  });
}
