import { z } from "zod";
import { defaultRoleOptions } from "../model/roles.ts";
import { kueue } from "../versions.ts";
import { egressSchema } from "./egress.ts";
import { count, cpus, flag, form, group, image, kubernetesName, labelPrefix, memory } from "./fields.ts";
import { maintenanceSchema, schedule } from "./maintenance.ts";
import type { MonitoringSettings } from "./monitoring.ts";
import { chart, type operatorSchema, raySchema } from "./ray.ts";
import type { exposureSchema, lendingShape, tableServiceSchema } from "./table-service.ts";

const maximumTags = 40;

/**
 * The stack's own tags and the configured ones, which win. IAM compares keys without case, and refuses two that are the same.
 */
export function withOwnTags(
  tags: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const configured = new Set(Object.keys(tags).map((key) => key.toLowerCase()));
  return { ...Object.fromEntries(Object.entries(own).filter(([key]) => !configured.has(key))), ...tags };
}

/** The keys that every cloud's configuration has. */
export const sharedShape = {
  clusterName: form(
    /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/,
    "at most 40 lower-case letters, digits and inner hyphens, starting with a letter",
  )
    .default("lancedb")
    .describe("Name of the Kubernetes cluster and `cluster_name` in the client's parameters; the client's default"),
  namespace: kubernetesName().default("lancedb").describe("Namespace of the runtime and of the table service"),
  serviceAccount: kubernetesName(30)
    .default("geneva-service-account")
    .describe("Kubernetes service account that the Ray pods run under; the client's default"),
  labelPrefix: labelPrefix
    .default(defaultRoleOptions.labelPrefix)
    .describe("Prefix of the node role labels `<label_prefix>/ray-head` and so on"),
  protect: flag(true, "Protect cluster, bucket, keys and network against deletion, in Pulumi's state and in the cloud"),
  tags: z
    .record(
      form(
        /^(?!aws:)[A-Za-z0-9][\w .:/=+@-]{0,127}$/i,
        "1 to 128 letters, digits, spaces and _.:/=+-@, and not aws: at the start",
      ),
      form(/^[\p{L}\p{N} _.:/=+@-]{0,256}$/u, "at most 256 letters, digits, spaces and _.:/=+-@"),
    )
    .refine((tags) => Object.keys(tags).length <= maximumTags, {
      error: `at most ${maximumTags} tags: AWS accepts 50 on a resource, and the stack and Kubernetes add up to 10`,
    })
    .default({})
    .describe(
      "Tags (AWS) or labels (Google Cloud: lower case, 63 characters) on every cloud resource, at most 40. The stack adds `project`, `stack` and `managed-by` where you write no such key",
    ),
  imagePullSecrets: z
    .array(kubernetesName(253))
    .default([])
    .describe(
      "Secrets of the namespace with which its pods pull images, Ray's included; create them once the namespace exists",
    ),
  egress: egressSchema,
  ray: raySchema,
  networkPolicies: flag(
    true,
    "Deny connections that are not needed, above all to Ray's unauthenticated ports from outside the namespace",
  ),
  quota: group("ResourceQuota of the namespace", {
    enabled: flag(true, "Limit the requests of the namespace"),
    cpus: cpus.default(256).describe("Sum of CPU requests"),
    memory: memory.default("1Ti").describe("Sum of memory requests"),
    gpus: count(0, 1024).default(8).describe("Sum of GPUs"),
    rayClusters: count(1, 1000).default(20).describe("Number of RayClusters, including the stack's own"),
    queue: group("Workers that wait where the quota would refuse them", {
      mode: z
        .enum(["none", "existing", "install"])
        .default("none")
        .describe(
          "The sums bound the workers of every RayCluster, and one that finds no room waits in a queue of Kueue: of the cluster's own (`existing`), or of one that the stack installs; see docs/geneva.md",
        ),
      namespace: kubernetesName().default("kueue-system").describe("Namespace of Kueue with `install`"),
      chart: chart(kueue.chart).describe("Chart location, for mirrors"),
      image: z.string().default(kueue.image).describe("Image repository without tag, for mirrors"),
    }),
  }),
  orphanCleanup: group("Cleanup of orphaned RayClusters", {
    enabled: flag(true, "Delete RayClusters of crashed clients"),
    schedule: schedule("17 * * * *", "When the cleanup runs, as a cron schedule in UTC"),
    idleHours: count(1, 24 * 30)
      .default(24)
      .describe("Hours without a worker pod above the minimum after which a RayCluster of a client counts as orphaned"),
    image: image.optional().describe("Image with Node 24.2 or later for the cleanup; default: the table service's"),
  }),
  maintenance: maintenanceSchema,
};

/** The client's keys that every cloud has. */
export const clientShape = {
  access: z
    .enum(["cluster-admin", "least-privilege"])
    .default("cluster-admin")
    .describe(
      "`cluster-admin`: the requirement of the runtime's documentation; `least-privilege`: a Role with only the verbs that the client uses",
    ),
  portForwarding: flag(true, "`use_portforwarding`: false only for a client inside the cluster or its network"),
};

/** The part of a configuration that every cloud has. */
export type SharedConfig = z.output<z.ZodObject<typeof sharedShape>> & {
  readonly operator: z.output<ReturnType<typeof operatorSchema>>;
  readonly client: z.output<z.ZodObject<typeof clientShape>>;
  readonly monitoring: MonitoringSettings;
  readonly tableService: z.output<
    ReturnType<typeof tableServiceSchema<ReturnType<typeof exposureSchema<Record<never, z.ZodType>>>>>
  > &
    Partial<z.output<z.ZodObject<typeof lendingShape>>>;
};
