import { z } from "zod";
import { count, cpus, form, group, memory } from "../../config/fields.ts";
import { monitoringSchema } from "../../config/monitoring.ts";
import { headTaint } from "../../config/node-fields.ts";
import { devicePluginSchema, operatorSchema } from "../../config/ray.ts";
import { clientShape, sharedShape } from "../../config/shared.ts";
import { exposureSchema, tableServiceSchema } from "../../config/table-service.ts";

const capacity = z.strictObject({
  cpus: cpus.describe("Allocatable CPUs of one node"),
  memory: memory.describe("Allocatable memory of one node"),
  gpus: count(0, 16).default(0).describe("GPUs of one node"),
  ephemeralStorage: memory.optional().describe("Allocatable local disk of one node; without it the fit is not checked"),
});

export const existingSchema = z.strictObject({
  cloud: z.literal("kubeconfig").describe("Any cluster that a kubeconfig reaches: kind, k3d or your own"),
  kubeconfigPath: z
    .string()
    .min(1)
    .optional()
    .describe("Path of a kubeconfig; default: $KUBECONFIG or ~/.kube/config. The secret `kubeconfig` overrides it"),
  context: z.string().min(1).optional().describe("Context in the kubeconfig; default: the current one"),
  database: group("The Lance tables", {
    uri: form(/^(s3:\/\/|gs:\/\/|\/)\S+$/, "s3://…, gs://… or an absolute path in the pod")
      .default("/data")
      .describe("Location of the Lance tables; a path is on a volume that the stack claims"),
    storageOptions: z
      .record(z.string(), z.string())
      .default({})
      .describe(
        "Storage options without credentials, such as `region` or `endpoint`; the secret `storageOptions` adds keys",
      ),
    volumeSize: memory.default("10Gi").describe("Size of the volume when `uri` is a path"),
  }),
  accountAnnotations: z
    .record(z.string(), z.string())
    .default({})
    .describe("Annotations of the runtime's service account; the client rejects an account without a cloud identity"),
  nodes: group("Capacity of the cluster's nodes, to check that pods fit; the nodes must already have the labels", {
    head: capacity.optional().describe("Nodes labelled ray-head"),
    cpu: capacity.optional().describe("Nodes labelled ray-worker-cpu"),
    gpu: capacity.optional().describe("Nodes labelled ray-worker-gpu; without this key there are no GPU workers"),
    headTaint,
  }),
  operator: operatorSchema(["helm", "existing"]),
  devicePlugin: devicePluginSchema,
  client: group("The runtime's client", clientShape),
  tableService: tableServiceSchema(
    exposureSchema({
      ingressClass: z.string().min(1).describe("IngressClass that serves `host`"),
      tlsSecret: z.string().min(1).describe("Name of the TLS secret for `host`"),
    }),
  ).prefault({}),
  monitoring: monitoringSchema,
  ...sharedShape,
});
export type ExistingConfig = z.output<typeof existingSchema>;

/** The secrets of this cloud, with their descriptions. */
export const existingSecrets = {
  storageOptions: "Storage options with credentials, as a JSON object (cloud: kubeconfig)",
  functionsStorageOptions:
    "The same for the workers of Functions on a RayCluster of their own: keys that read tables and put objects named `fn-*` in their `data` folders (cloud: kubeconfig)",
  kubeconfig: "The contents of a kubeconfig (cloud: kubeconfig)",
} as const;
