import { z } from "zod";
import { googleBudget } from "../../config/budget.ts";
import { dockerHubSchema } from "../../config/docker-hub.ts";
import {
  bucketPlace,
  bucketRetention,
  cidr,
  count,
  flag,
  form,
  group,
  hostname,
  minorVersion,
} from "../../config/fields.ts";
import { googleMonitoringSchema } from "../../config/monitoring.ts";
import { gpuEnabled, headTaint, machineSize, onDemand, spotAllowed } from "../../config/node-fields.ts";
import { operatorSchema } from "../../config/ray.ts";
import { clientShape, sharedShape } from "../../config/shared.ts";
import { exposureSchema, lendingShape, tableServiceSchema } from "../../config/table-service.ts";
import { gke } from "../../versions.ts";

interface PoolDefaults {
  readonly machineType: string;
  readonly min: number;
  readonly max: number;
  readonly diskGiB: number;
}

const machineType = form(/^[a-z][a-z0-9]*(-[a-z0-9]+)+$/, "a machine type such as n2-standard-8");

const accelerator = z
  .strictObject({
    type: form(/^nvidia-[a-z0-9-]+$/, "an accelerator type such as nvidia-l4").describe(
      "Accelerator type such as nvidia-l4",
    ),
    count: count(1, 16).describe("GPUs of one node"),
  })
  .optional()
  .describe("GPUs of one node; default: what the machine type has built in");

const flexStart = z
  .strictObject({
    hours: count(1, 168).default(168).describe("Hours after which Google takes the node back, at most seven days"),
  })
  .optional()
  .describe(
    "Wait for capacity by Google's flex-start, at its prices, for nodes that live for these hours. Not with spot",
  );

const fallbackShape = {
  machineType: machineType.describe("Machine type"),
  size: machineSize,
  spot: spotAllowed(false),
  max: count(1, 1000).optional().describe("Maximum number of nodes in all zones together; default: the pool's"),
};
/** Node pools beside that of a worker pool. */
const fallback = <Entry extends z.ZodType>(entry: Entry) =>
  z
    .array(entry)
    .max(5)
    .default([])
    .describe(
      "Node pools that serve the same pods. GKE adds a node to the cheapest that has room, or with `computeClasses` in this order behind the pool",
    );

const pool = <Spot extends z.ZodType>(defaults: PoolDefaults, minimum: number, spot: Spot) =>
  z.strictObject({
    machineType: machineType.default(defaults.machineType).describe("Machine type"),
    size: machineSize,
    min: count(minimum, 1000).default(defaults.min).describe("Minimum number of nodes in all zones together"),
    max: count(1, 1000).default(defaults.max).describe("Maximum number of nodes in all zones together"),
    diskGiB: count(20, 16_384).default(defaults.diskGiB).describe("Boot disk, GiB"),
    diskType: z
      .enum(["pd-balanced", "pd-ssd", "pd-standard", "hyperdisk-balanced"])
      .default("pd-balanced")
      .describe("Boot disk type"),
    zones: z
      .array(form(/^[a-z]+-[a-z]+\d+-[a-z]$/, "a zone such as europe-west4-a"))
      .min(1)
      .optional()
      .describe("Zones of the pool; default: the region's"),
    spot,
  });

const nodes = group("Node pools, one for each role", {
  system: pool({ machineType: "e2-standard-4", min: 2, max: 4, diskGiB: 50 }, 1, onDemand)
    .prefault({})
    .describe("Nodes for everything except Ray"),
  head: pool({ machineType: "n2-standard-8", min: 1, max: 2, diskGiB: 100 }, 1, onDemand)
    .extend({
      taint: headTaint,
    })
    .prefault({})
    .describe("Nodes labelled ray-head"),
  cpu: pool({ machineType: "n2-standard-16", min: 0, max: 10, diskGiB: 100 }, 0, spotAllowed(true))
    .extend({ fallback: fallback(z.strictObject(fallbackShape)) })
    .prefault({})
    .describe("Nodes labelled ray-worker-cpu"),
  gpu: pool({ machineType: "g2-standard-12", min: 0, max: 4, diskGiB: 200 }, 0, spotAllowed(false))
    .extend({
      enabled: gpuEnabled,
      accelerator,
      flexStart,
      fallback: fallback(z.strictObject({ ...fallbackShape, accelerator, flexStart })),
      driver: z.enum(["DEFAULT", "LATEST"]).default("DEFAULT").describe("NVIDIA driver that GKE installs"),
    })
    .prefault({})
    .describe("Nodes labelled ray-worker-gpu"),
});

const network = z
  .discriminatedUnion(
    "mode",
    [
      z.strictObject({
        mode: z.literal("create").describe("Create a VPC network"),
        nodeCidr: cidr.default("10.42.0.0/20").describe("Nodes"),
        podCidr: cidr.default("10.44.0.0/14").describe("Pods (secondary range)"),
        serviceCidr: cidr.default("10.43.0.0/20").describe("Services (secondary range)"),
        controlPlaneCidr: cidr.default("172.16.0.0/28").describe("Control plane, a /28"),
        flowLogs: flag(false, "Record half of the connections of nodes and pods in Cloud Logging"),
      }),
      z.strictObject({
        mode: z.literal("adopt").describe("Use an existing network"),
        network: z.string().min(1).describe("Self link or name of the network"),
        subnetwork: z.string().min(1).describe("Self link or name of the subnetwork"),
        podRange: z.string().min(1).describe("Name of the secondary range of pods"),
        serviceRange: z.string().min(1).describe("Name of the secondary range of Services"),
        controlPlaneCidr: cidr.default("172.16.0.0/28").describe("Control plane, a /28"),
      }),
    ],
    { error: "create or adopt under `mode`" },
  )
  .prefault({ mode: "create" })
  .describe("The VPC-native network; a created one has Cloud NAT");

const bucket = z
  .strictObject({
    name: z
      .string({ error: "the bucket's name, unique in all of Cloud Storage" })
      .regex(/^[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]$/, { error: "3 to 63 lower-case letters, digits, - and _" })
      .describe("Name of the bucket"),
    ...bucketPlace,
    kmsKeyName: form(
      /^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[^/]+$/,
      "projects/<project>/locations/<location>/keyRings/<ring>/cryptoKeys/<key>",
    )
      .optional()
      .describe(
        "Customer-managed key; the project's Cloud Storage service agent needs permission to use it. Default: Google's key",
      ),
    ...bucketRetention,
    auditAccess: flag(
      false,
      "Record who reads and writes objects, by the Data Access logs of Cloud Storage. Google has this setting for a whole project: the stack sets it for every bucket of the project",
    ),
    dualRegion: z
      .strictObject({
        location: z
          .enum(["ASIA", "AU", "CA", "EU", "IN", "US"])
          .describe("Code of the area in which both regions are, by Google's table of locations"),
        secondRegion: z
          .string({ error: "a Google Cloud region such as europe-west1" })
          .describe("The region that has a copy, beside `region`"),
        turbo: flag(false, "Google's promise of a copy within 15 minutes, at a higher price"),
      })
      .optional()
      .describe("Keep every object in two regions. Decided when the bucket is made: a change replaces the bucket"),
  })
  .describe("The bucket that holds the Lance tables");

const waf = z
  .strictObject({
    securityPolicy: form(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, "the name of a global Cloud Armor policy")
      .optional()
      .describe("Name of a Cloud Armor policy of your own, instead of one that the stack makes of the keys below"),
    preconfiguredRules: z
      .array(form(/^[a-z0-9-]+-(stable|canary)$/, "a rule set such as rce-v33-stable"))
      .default(["cve-canary", "scannerdetection-v33-stable", "protocolattack-v33-stable"])
      .describe("Google's preconfigured rule sets, in their order"),
    sensitivity: count(1, 4)
      .default(1)
      .describe("Which rules of the sets count; from 2 on they refuse the user agents of scripts"),
    requestsPerMinute: count(1, 1_000_000)
      .optional()
      .describe("Requests of one address in a minute after which further ones get 429; default: no limit"),
  })
  .optional()
  .describe("Cloud Armor's rules against attacks, before the load balancer");

const internalTls = {
  host: hostname
    .optional()
    .describe("DNS name of the endpoint, with `certificateName`; point it at the output `tableServiceAddress`"),
  certificateName: form(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, "the name of a regional SSL certificate, without its path")
    .optional()
    .describe(
      "Name of a self-managed regional SSL certificate for `host`: an internal Application Load Balancer ends TLS on port 443, and `annotations` are those of its Ingress. Without one a passthrough load balancer without TLS, on port 80",
    ),
  proxyCidr: cidr
    .optional()
    .describe(
      "With `certificateName`: the network of the load balancer's proxies, a /26 or larger. In a network that the stack creates, it makes the proxy-only subnetwork; an adopted one must have it",
    ),
  privateServiceConnect: z
    .strictObject({
      consumerProjects: z
        .array(form(/^([a-z][a-z0-9-]{4,28}[a-z0-9]|\d+)$/, "a project id or number"))
        .min(1, { error: "at least one project" })
        .describe("Ids or numbers of the projects whose endpoints are accepted"),
      connectionsPerProject: count(1, 1000).default(10).describe("Maximum number of endpoints of one project"),
      natCidr: cidr
        .optional()
        .describe("Network of the callers' translated addresses, in a network that the stack creates"),
      natSubnetwork: z
        .string()
        .min(1)
        .optional()
        .describe("Self link of a subnetwork for Private Service Connect, in an adopted network"),
    })
    .optional()
    .describe("Publish the load balancer to networks of other projects; needs `certificateName`"),
} as const;

const accountId = form(
  /^[a-z]([a-z0-9-]{4,28}[a-z0-9])$/,
  "6 to 30 lower-case letters, digits and inner hyphens, starting with a letter",
);

export const gcpSchema = z.strictObject({
  cloud: z.literal("gcp").describe("Google Kubernetes Engine"),
  project: z
    .string({ error: "a Google Cloud project id" })
    .regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, { error: "a Google Cloud project id, not its number or name" })
    .describe("Google Cloud project id"),
  region: z
    .string({ error: "a Google Cloud region such as europe-west4" })
    .regex(/^[a-z]+-[a-z]+\d+$/, { error: "a Google Cloud region such as europe-west4, without a zone letter" })
    .describe("Google Cloud region"),
  kubernetesVersion: minorVersion
    .default(gke.default)
    .describe("Minimum Kubernetes minor version of the control plane; the release channel upgrades it"),
  releaseChannel: z.enum(["REGULAR", "STABLE", "RAPID", "EXTENDED"]).default("REGULAR").describe("GKE release channel"),
  endpoint: group("The Kubernetes API's endpoint", {
    publicCidrs: z
      .array(cidr)
      .default([])
      .describe("Networks with access to the control plane's IP address from the internet; empty for none"),
    dns: flag(
      true,
      "Also expose the control plane by its DNS name, which IAM protects; needed to deploy from outside the network",
    ),
  }),
  computeClasses: flag(
    false,
    "A ComputeClass for each pool with a `fallback`, which keeps their order. The pods of the role select it: give the client's program the stack's parameters again",
  ),
  encryptSecrets: flag(
    true,
    "Encrypt Kubernetes secrets with a Cloud KMS key that the stack creates, in addition to Google's own",
  ),
  network,
  nodes,
  bucket,
  runtimeAccountId: accountId.default("geneva-runtime").describe("Id of the Google service account of the Ray pods"),
  tableServiceAccountId: accountId
    .default("lakehead-tables")
    .describe("Id of the Google service account of the table service"),
  maintenanceAccountId: accountId
    .default("lakehead-maintenance")
    .describe("Id of the Google service account of the maintenance"),
  functionsAccountId: accountId
    .default("lakehead-functions")
    .describe("Id of the Google service account of the workers of Functions, on a RayCluster of their own"),
  functionsRunnerAccountId: accountId
    .default("lakehead-functions-runner")
    .describe("Id of the Google service account of the pods that commit what Functions compute"),
  historyAccountId: accountId
    .default("lakehead-history")
    .describe("Id of the Google service account of the history server of RayClusters"),
  operator: operatorSchema(["helm", "addon", "existing"]),
  dockerHub: dockerHubSchema,
  client: group("The runtime's client", {
    ...clientShape,
    accountId: accountId
      .default("geneva-client")
      .describe("Id of the Google service account that the client impersonates"),
    members: z
      .array(
        form(
          /^(user|group|serviceAccount|principal|principalSet):\S+$/,
          "an IAM member such as group:data@example.com",
        ),
      )
      .default([])
      .describe("IAM members that can impersonate the client's account"),
  }),
  tableService: tableServiceSchema(
    exposureSchema(
      {
        zone: form(
          /^(projects\/[^/]+\/managedZones\/)?[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/,
          "the name of a Cloud DNS zone, or projects/<project>/managedZones/<name>",
        )
          .optional()
          .describe("Cloud DNS zone of `host`: the stack points `host` at the load balancer"),
        accessLogs: flag(false, "Record every request in Cloud Logging"),
        waf,
      },
      internalTls,
    ),
  )
    .extend(lendingShape)
    .describe("The HTTP API over the Lance tables")
    .prefault({}),
  monitoring: googleMonitoringSchema,
  budget: googleBudget,
  ...sharedShape,
});
export type GcpConfig = z.output<typeof gcpSchema>;
