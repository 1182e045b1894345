import { z } from "zod";
import { amazonBudget } from "../../config/budget.ts";
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
import { amazonMonitoringSchema } from "../../config/monitoring.ts";
import { gpuEnabled, headTaint, machineSize, onDemand, spotAllowed } from "../../config/node-fields.ts";
import { chart, devicePluginSchema, operatorSchema } from "../../config/ray.ts";
import { clientShape, sharedShape } from "../../config/shared.ts";
import { exposureSchema, lendingShape, tableServiceSchema } from "../../config/table-service.ts";
import { clusterAutoscaler, eks, fluentBit, loadBalancerController } from "../../versions.ts";
import { privateLink, waf } from "./exposure/schema.ts";
import { arn } from "./fields.ts";

const retentionDays = z.literal([1, 3, 5, 7, 14, 30, 60, 90, 120, 180, 365, 400, 545, 731]);
const principal = z
  .string({ error: "an ARN such as arn:aws:iam::111122223333:role/team/deployer" })
  .regex(/^arn:aws[a-z-]*:iam::\d{12}:(role|user)\/[^*]+$/, {
    error: "the full ARN of an IAM role or user, with its path and without wildcards",
  });
const resourceId = (kind: string) =>
  z.string().regex(new RegExp(`^${kind}-[0-9a-f]+$`), { error: `an id such as ${kind}-0a1b2c3d4e5f` });

/** What an organization demands of roles. */
export const governance = z
  .strictObject({
    path: form(/^\/([\w+=,.@-]+\/)*$/, "a path with slashes at both ends, such as /team/")
      .max(512)
      .default("/")
      .describe("Path of every role"),
    permissionsBoundaryArn: arn("iam", "arn:aws:iam::111122223333:policy/boundary")
      .optional()
      .describe("Permissions boundary of every role; it must allow what the roles do"),
  })
  .prefault({});

const zoneLetter = form(/^[a-z]$/, "a zone letter such as a");

interface PoolDefaults {
  readonly instanceTypes: [string, ...string[]];
  readonly min: number;
  readonly max: number;
  readonly diskGiB: number;
}

const instanceTypes = z
  .array(form(/^[a-z0-9-]+\.[a-z0-9-]+$/, "an instance type such as m7i.2xlarge"))
  .min(1, { error: "at least one instance type" })
  .max(20);

/** Node groups beside that of a worker pool. */
const fallback = z
  .array(
    z.strictObject({
      instanceTypes: instanceTypes.describe("Instance types, all of one size"),
      size: machineSize,
      spot: spotAllowed(false),
      max: count(1, 1000).optional().describe("Maximum number of nodes; default: the pool's"),
    }),
  )
  .max(5)
  .default([])
  .describe(
    "Node groups that get a node in this order when the ones before find no machine, such as on-demand ones behind spot",
  );

const pool = <Spot extends z.ZodType>(defaults: PoolDefaults, minimum: number, spot: Spot) =>
  z.strictObject({
    instanceTypes: instanceTypes
      .default(defaults.instanceTypes)
      .describe("Instance types, all of one size; more types find more spot capacity"),
    size: machineSize,
    min: count(minimum, 1000).default(defaults.min).describe("Minimum number of nodes"),
    max: count(1, 1000).default(defaults.max).describe("Maximum number of nodes"),
    diskGiB: count(20, 16_384).default(defaults.diskGiB).describe("Encrypted gp3 root disk, GiB"),
    zones: z
      .array(zoneLetter)
      .min(1)
      .optional()
      .describe("Letters of the pool's zones; default: all of the network's. Not with an adopted network"),
    spot,
  });

const nodes = group("Node groups, one for each role", {
  system: pool({ instanceTypes: ["m7i.large"], min: 2, max: 6, diskGiB: 50 }, 1, onDemand)
    .prefault({})
    .describe("Nodes for everything except Ray"),
  head: pool({ instanceTypes: ["m7i.2xlarge"], min: 1, max: 2, diskGiB: 100 }, 1, onDemand)
    .extend({
      taint: headTaint,
    })
    .prefault({})
    .describe("Nodes labelled ray-head"),
  cpu: pool(
    { instanceTypes: ["c7i.4xlarge", "c6i.4xlarge", "c6a.4xlarge", "c7a.4xlarge"], min: 0, max: 10, diskGiB: 100 },
    0,
    spotAllowed(true),
  )
    .extend({ fallback })
    .prefault({})
    .describe("Nodes labelled ray-worker-cpu"),
  gpu: pool({ instanceTypes: ["g6.4xlarge"], min: 0, max: 4, diskGiB: 200 }, 0, spotAllowed(false))
    .extend({ enabled: gpuEnabled, fallback })
    .prefault({})
    .describe("Nodes labelled ray-worker-gpu"),
});

const network = z
  .discriminatedUnion(
    "mode",
    [
      z.strictObject({
        mode: z.literal("create").describe("Create a VPC"),
        cidr: cidr.default("10.42.0.0/16").describe("Network of the VPC"),
        zones: z
          .array(zoneLetter)
          .min(2, { error: "at least two zones: EKS needs them" })
          .max(7)
          .default(["a", "b", "c"])
          .describe(
            "Letters of the availability zones. Append only: a zone's position decides its subnets. An additional zone replaces the node groups without `zones`",
          ),
        nat: z
          .enum(["none", "single", "zone"])
          .default("single")
          .describe(
            "NAT gateways: one, one for each zone, or none (interface endpoints reach AWS, and charts and images must come from a mirror inside AWS)",
          ),
        flowLogs: flag(false, "Record every connection of the VPC in CloudWatch Logs, for `logRetentionDays`"),
      }),
      z.strictObject({
        mode: z.literal("adopt").describe("Use an existing VPC"),
        vpcId: resourceId("vpc").describe("Id of the VPC"),
        cidr: cidr.describe("Network of the VPC"),
        privateSubnetIds: z.array(resourceId("subnet")).min(2).describe("Subnets of the nodes, in at least two zones"),
        publicSubnetIds: z.array(resourceId("subnet")).default([]).describe("Subnets of public load balancers"),
        privateRouteTableIds: z
          .array(resourceId("rtb"))
          .default([])
          .describe("Route tables that get an S3 gateway endpoint; empty when they already have one"),
      }),
    ],
    { error: "create or adopt under `mode`" },
  )
  .prefault({ mode: "create" })
  .describe("The VPC");

const bucketName = z
  .string({ error: "the bucket's name, unique in all of S3" })
  .regex(/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/, { error: "3 to 63 lower-case letters, digits and inner hyphens" });

const bucket = z
  .strictObject({
    name: bucketName.describe("Name of the bucket"),
    ...bucketPlace,
    encryption: z.enum(["AES256", "aws:kms"]).default("AES256").describe("Encryption at rest"),
    kmsKeyArn: arn("kms", "arn:aws:kms:eu-central-1:111122223333:key/…")
      .optional()
      .describe("Key for aws:kms; default: a key that the stack creates, or none with an existing bucket"),
    ...bucketRetention,
    auditAccess: flag(
      false,
      "Record who reads, writes and deletes each object of the tables, by a trail of CloudTrail in the bucket `<bucket.name>-audit-logs`, for `logRetentionDays`",
    ),
    replica: z
      .strictObject({
        name: bucketName.describe("Name of the bucket that holds the copy"),
        region: z.string({ error: "an AWS region such as eu-west-1" }).describe("Its region, another one of AWS"),
      })
      .optional()
      .describe("Copy every new object to a bucket in another region, which the stack creates; needs `versioning`"),
  })
  .describe("The bucket that holds the Lance tables");

const endpoint = group("The Kubernetes API's endpoint", {
  publicCidrs: z
    .array(cidr)
    .default([])
    .describe(
      "Networks with access to the Kubernetes API from the internet; empty for none (deploy from inside the VPC)",
    ),
  privateCidrs: z
    .array(cidr)
    .optional()
    .describe(
      "Networks in the VPC, or connected to it, with access to the private Kubernetes API; default: the VPC's own",
    ),
});

const addonVersion = form(/^v\d+\.\d+\.\d+-eksbuild\.\d+$/, "an add-on version such as v1.19.3-eksbuild.7").optional();

export const awsSchema = z.strictObject({
  cloud: z.literal("aws").describe("Amazon EKS"),
  region: z
    .string({ error: "an AWS region such as eu-central-1" })
    .regex(/^[a-z]{2,4}(-[a-z]+)+-\d$/, { error: "an AWS region such as eu-central-1" })
    .describe("AWS region"),
  account: z
    .string({ error: 'the account\'s id in quotes, such as "111122223333"' })
    .regex(/^\d{12}$/, { error: "the twelve digits of an AWS account id" })
    .describe("AWS account id; credentials of any other account are rejected"),
  deployerArn: principal.describe(
    "IAM role or user that runs `pulumi up`; becomes cluster administrator, because EKS's own access entry for the creator is disabled",
  ),
  viewerArns: z
    .array(principal)
    .default([])
    .describe("IAM roles that can read the cluster except secrets and access rules: enough for a preview"),
  auditorArns: z
    .array(principal)
    .default([])
    .describe(
      "IAM roles that can read everything in the cluster including secrets, as a refresh does: for the drift job",
    ),
  iam: governance.describe("What an organization demands of the stack's roles"),
  kubernetesVersion: minorVersion.default(eks.default).describe("Kubernetes minor version"),
  endpoint,
  logRetentionDays: retentionDays
    .default(90)
    .describe("Days that logs are kept: the control plane's, flow logs and access logs"),
  logKmsKeyArn: arn("kms", "arn:aws:kms:eu-central-1:111122223333:key/…")
    .optional()
    .describe(
      "Key that encrypts the log groups; its policy must let `logs.<region>.amazonaws.com` use it. Default: CloudWatch's own key",
    ),
  podLogs: group("Logs of pods that outlive them, by Fluent Bit", {
    enabled: flag(
      false,
      "Send the output of every pod to the log group `/aws/eks/<clusterName>/pods`; without it the output goes with the pod",
    ),
    retentionDays: retentionDays.optional().describe("Days that the output is kept; default: `logRetentionDays`"),
    chart: chart(fluentBit.chart).describe("Chart location, for mirrors"),
    image: z.string().default(fluentBit.image).describe("Image repository without tag, for mirrors"),
  }),
  addons: group("EKS add-on versions instead of the pinned ones for the Kubernetes version", {
    vpcCni: addonVersion.describe("Version of vpc-cni"),
    kubeProxy: addonVersion.describe("Version of kube-proxy"),
    coredns: addonVersion.describe("Version of coredns"),
    ebsCsi: addonVersion.describe("Version of aws-ebs-csi-driver"),
    metricsServer: addonVersion.describe("Version of metrics-server"),
  }),
  network,
  nodes,
  nodeUpdates: group("How nodes get fixes", {
    release: z
      .enum(["latest", "pinned"])
      .default("pinned")
      .describe(
        "`latest`: each `up` moves the nodes to AWS's newest machine image, one after another, which ends the jobs on them; `pinned`: they keep the image of their creation, or of the last upgrade of Kubernetes",
      ),
    repair: flag(true, "EKS replaces a node that stays unready for half an hour"),
  }),
  bucket,
  autoscaler: group("The cluster autoscaler", {
    chart: chart(clusterAutoscaler.chart).describe("Chart location, for mirrors"),
    image: z.string().default(clusterAutoscaler.image).describe("Image repository without tag"),
  }),
  loadBalancerController: group("The load balancer controller, installed when the table service is exposed", {
    chart: chart(loadBalancerController.chart).describe("Chart location, for mirrors"),
    image: z.string().default(loadBalancerController.image).describe("Image repository without tag"),
    crds: z
      .string()
      .default(loadBalancerController.crds)
      .describe("Base URL or directory of `v<version>/helm/aws-load-balancer-controller/crds/*.yaml`"),
  }),
  operator: operatorSchema(["helm", "existing"]),
  devicePlugin: devicePluginSchema,
  dockerHub: dockerHubSchema,
  client: group("The runtime's client", {
    ...clientShape,
    roleName: form(/^[\w+=,.@-]{1,64}$/, "1 to 64 characters of an IAM role name")
      .default("geneva-client-role")
      .describe("IAM role that the client assumes, and `role_name` in its parameters; the default is the client's"),
    principals: z
      .array(principal)
      .default([])
      .describe("IAM roles and users that can assume the client role; empty: only the deployer"),
  }),
  tableService: tableServiceSchema(
    exposureSchema(
      {
        certificateArn: arn("acm", "arn:aws:acm:eu-central-1:111122223333:certificate/…")
          .optional()
          .describe("ACM certificate for `host`; required without `zone`, with the exposure `public`"),
        zone: form(/^Z[A-Z0-9]{1,31}$/, "the id of a Route 53 hosted zone, such as Z0123456789ABCDEFGHIJ")
          .optional()
          .describe(
            "Id of the Route 53 hosted zone of `host`: the stack points `host` at the load balancer and, without `certificateArn`, requests and validates the certificate",
          ),
        accessLogs: flag(
          false,
          "Record every request in the bucket `<bucket.name>-access-logs`, which the stack creates, for `logRetentionDays`",
        ),
        waf,
      },
      {
        host: hostname
          .optional()
          .describe("DNS name of the endpoint, with `certificateArn`; point it at the output `tableServiceAddress`"),
        certificateArn: arn("acm", "arn:aws:acm:eu-central-1:111122223333:certificate/…")
          .optional()
          .describe(
            "ACM certificate for `host`: the load balancer ends TLS on port 443. Without one it has no TLS, on port 80",
          ),
        privateLink,
      },
    ),
  )
    .extend({
      ...lendingShape,
      vendingHours: count(1, 12)
        .default(1)
        .describe(
          "Life of a lent credential in hours, with `vending`; a right that is withdrawn ends with it. lance-ray and Daft must commit a write before it ends",
        ),
    })
    .describe("The HTTP API over the Lance tables")
    .prefault({}),
  monitoring: amazonMonitoringSchema,
  budget: amazonBudget,
  ...sharedShape,
});
export type AwsConfig = z.output<typeof awsSchema>;
