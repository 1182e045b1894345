import { z } from "zod";
import { defaultRoleOptions } from "../model/roles.ts";
import { count, cpus, image, kubernetesName, labelPrefix, memory } from "./fields.ts";
import { type operatorSchema, raySchema } from "./ray.ts";
import type { exposureSchema, tableServiceSchema } from "./table-service.ts";

/** The keys that every cloud's configuration has. */
export const sharedShape = {
  clusterName: z
    .string()
    .regex(/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/, {
      error: "at most 40 lower-case letters, digits and inner hyphens, starting with a letter",
    })
    .default("lancedb")
    .describe("Name of the Kubernetes cluster and `cluster_name` in the client's parameters; the client's default"),
  namespace: kubernetesName().default("lancedb").describe("Namespace of the runtime and of the table service"),
  serviceAccount: kubernetesName(30)
    .default("geneva-service-account")
    .describe("Kubernetes service account that the Ray pods run under; the client's default"),
  labelPrefix: labelPrefix
    .default(defaultRoleOptions.labelPrefix)
    .describe("Prefix of the node role labels `<label_prefix>/ray-head` and so on"),
  protect: z
    .boolean()
    .default(true)
    .describe("Protect cluster, bucket, keys and network against deletion, in Pulumi's state and in the cloud"),
  tags: z
    .record(z.string().regex(/^[a-z][a-z0-9_-]{0,62}$/), z.string().max(63))
    .default({})
    .describe(
      "Tags (AWS) or labels (Google Cloud) on every cloud resource, beside `project`, `stack` and `managed-by`",
    ),
  ray: raySchema,
  networkPolicies: z
    .boolean()
    .default(true)
    .describe("Deny what is not needed, above all Ray's unauthenticated ports from outside the namespace"),
  quota: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Bound what the namespace can ask for"),
      cpus: cpus.default(256).describe("Sum of CPU requests"),
      memory: memory.default("1Ti").describe("Sum of memory requests"),
      gpus: count(0, 1024).default(8).describe("Sum of GPUs"),
      rayClusters: count(1, 1000).default(20).describe("Number of RayClusters, the stack's own among them"),
    })
    .prefault({})
    .describe("ResourceQuota of the namespace"),
  orphanCleanup: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Delete RayClusters that their clients left behind"),
      schedule: z
        .string()
        .regex(/^\S+ \S+ \S+ \S+ \S+$/, { error: "five fields of a cron schedule" })
        .default("17 * * * *")
        .describe("When to look, as a cron schedule in UTC"),
      idleHours: count(1, 24 * 30)
        .default(24)
        .describe(
          "Hours without a worker pod after which a RayCluster that the stack does not own counts as left behind",
        ),
      image: image
        .optional()
        .describe("Image with Node 24.2 or later that runs the cleanup; default: the table service's"),
    })
    .prefault({})
    .describe("Cleanup of orphaned RayClusters"),
};

/** How the runtime's client gets into the cluster, beside what the cloud's own schema adds. */
export const clientShape = {
  access: z
    .enum(["cluster-admin", "least-privilege"])
    .default("cluster-admin")
    .describe(
      "`cluster-admin` is what the runtime's documents ask for; `least-privilege` is a Role with the verbs that the client uses",
    ),
  portForwarding: z
    .boolean()
    .default(true)
    .describe("`use_portforwarding`: false only for a client that runs inside the cluster or its network"),
};

/** What every cloud's configuration has, whatever it adds. */
export type SharedConfig = z.output<z.ZodObject<typeof sharedShape>> & {
  readonly operator: z.output<ReturnType<typeof operatorSchema>>;
  readonly client: z.output<z.ZodObject<typeof clientShape>>;
  readonly tableService: z.output<
    ReturnType<typeof tableServiceSchema<ReturnType<typeof exposureSchema<Record<never, z.ZodType>>>>>
  >;
};
