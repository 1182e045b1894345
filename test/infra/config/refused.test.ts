import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { awsRegions } from "../../../infra/clouds/aws/regions.ts";
import { findForeignKeys } from "../../../infra/config/load.ts";
import { findPlaceholders } from "../../../infra/config/placeholders.ts";
import { describeFinding } from "../../../infra/config/report.ts";
import { findingsFor, minimal } from "./minimal.ts";

/** A value that once was accepted: its cloud, the overrides that set it, and the error. */
type Row = [name: string, cloud: "aws" | "gcp" | "kubeconfig", overrides: Record<string, unknown>, error: string];

const ownNamespace =
  "the namespace belongs to Kubernetes or the cloud, and the stack creates and deletes its own; write a namespace of its own, such as";
const otherAccount =
  "it belongs to the account 999900001111, and the stack to 111122223333; write an ARN of the stack's account, or correct lakehead:account";
const arm =
  "GKE taints Arm nodes with kubernetes.io/arch=arm64:NoSchedule, which no pod of the stack and of the client tolerates; write an x86 type such as n2-standard-8";
const certificate = (arn: string) => ({
  tableService: { exposure: { mode: "public", host: "tables.lakehead.dev", certificateArn: arn } },
});

const firewall = (waf: object) => ({
  tableService: { exposure: { mode: "public", host: "tables.lakehead.dev", zone: "Z0123456789ABC", waf } },
});
const internal = (change: object) => ({
  tableService: {
    exposure: {
      mode: "internal",
      host: "tables.lakehead.dev",
      certificateName: "tables-2026",
      proxyCidr: "10.42.16.0/23",
      ...change,
    },
  },
});

const rows: Row[] = [
  [
    "Kubernetes' own namespace",
    "aws",
    { namespace: "kube-system" },
    `error lakehead:namespace = "kube-system": ${ownNamespace} lancedb`,
  ],
  [
    "the default namespace",
    "kubeconfig",
    { namespace: "default" },
    `error lakehead:namespace = "default": ${ownNamespace} lancedb`,
  ],
  [
    "a namespace of GKE",
    "gcp",
    { namespace: "gke-managed-system" },
    `error lakehead:namespace = "gke-managed-system": ${ownNamespace} lancedb`,
  ],
  [
    "an operator in Kubernetes' own namespace",
    "aws",
    { operator: { namespace: "kube-system" } },
    `error lakehead:operator.namespace = "kube-system": ${ownNamespace} kuberay-system`,
  ],
  ...["table-service", "maintenance", "orphan-cleanup", "default"].map(
    (serviceAccount): Row => [
      `the service account ${serviceAccount}`,
      "aws",
      { serviceAccount },
      `error lakehead:serviceAccount = "${serviceAccount}": the namespace has another service account of this name; write another name, such as geneva-service-account`,
    ],
  ),
  [
    "a deployer of another account",
    "aws",
    { deployerArn: "arn:aws:iam::999900001111:role/deployer" },
    `error lakehead:deployerArn = "arn:aws:iam::999900001111:role/deployer": ${otherAccount}`,
  ],
  [
    "a key of another account",
    "aws",
    { bucket: { encryption: "aws:kms", kmsKeyArn: "arn:aws:kms:eu-central-1:999900001111:key/1" } },
    `error lakehead:bucket.kmsKeyArn = "arn:aws:kms:eu-central-1:999900001111:key/1": ${otherAccount}`,
  ],
  [
    "a key of another region",
    "aws",
    { bucket: { encryption: "aws:kms", kmsKeyArn: "arn:aws:kms:us-east-1:111122223333:key/1" } },
    'error lakehead:bucket.kmsKeyArn = "arn:aws:kms:us-east-1:111122223333:key/1": it is in the region us-east-1, and the stack in eu-central-1; write an ARN of eu-central-1',
  ],
  [
    "a certificate of another region",
    "aws",
    certificate("arn:aws:acm:us-east-1:111122223333:certificate/1"),
    'error lakehead:tableService.exposure.certificateArn = "arn:aws:acm:us-east-1:111122223333:certificate/1": it is in the region us-east-1, and the stack in eu-central-1; write an ARN of eu-central-1',
  ],
  [
    "a certificate of another account",
    "aws",
    certificate("arn:aws:acm:eu-central-1:999900001111:certificate/1"),
    `error lakehead:tableService.exposure.certificateArn = "arn:aws:acm:eu-central-1:999900001111:certificate/1": ${otherAccount}`,
  ],
  [
    "a key of another location",
    "gcp",
    { bucket: { kmsKeyName: "projects/p/locations/us/keyRings/r/cryptoKeys/k" } },
    'error lakehead:bucket.kmsKeyName = "projects/p/locations/us/keyRings/r/cryptoKeys/k": the key is in us, and the bucket in europe-west4; write a key of europe-west4',
  ],
  [
    "PrivateLink without TLS",
    "aws",
    {
      tableService: {
        exposure: { mode: "internal", privateLink: { allowedPrincipals: ["arn:aws:iam::444455556666:root"] } },
      },
    },
    'error lakehead:tableService.exposure.privateLink = {"allowedPrincipals":["arn:aws:iam::444455556666:root"],"acceptanceRequired":true,"privateDns":false}: tokens of other networks would cross without TLS; write host and certificateArn as well',
  ],
  [
    "a web ACL of another region",
    "aws",
    firewall({ webAclArn: "arn:aws:wafv2:us-east-1:111122223333:global/webacl/edge/1" }),
    'error lakehead:tableService.exposure.waf.webAclArn = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/edge/1": it is in the region us-east-1, and the stack in eu-central-1; write an ARN of eu-central-1',
  ],
  [
    "a limit beside a web ACL of one's own",
    "aws",
    firewall({
      webAclArn: "arn:aws:wafv2:eu-central-1:111122223333:regional/webacl/edge/1",
      requestsPerFiveMinutes: 100,
    }),
    "error lakehead:tableService.exposure.waf.requestsPerFiveMinutes = 100: a web ACL of your own has its own rules; leave it out, or leave out webAclArn",
  ],
  [
    "AWS's rules against SQL, which is what queries are made of",
    "aws",
    firewall({ managedRuleGroups: ["AWSManagedRulesSQLiRuleSet"] }),
    'warning lakehead:tableService.exposure.waf.managedRuleGroups = ["AWSManagedRulesSQLiRuleSet"]: the filters of queries are SQL, which AWSManagedRulesSQLiRuleSet refuses; leave that group out',
  ],
  [
    "TLS inside Google's network without the proxies' network",
    "gcp",
    internal({ proxyCidr: undefined }),
    "error lakehead:tableService.exposure.proxyCidr is missing: TLS inside the network needs host, certificateName and proxyCidr; write all three, or none for a load balancer without TLS",
  ],
  [
    "an allow list that GKE's internal Application Load Balancer does not have",
    "gcp",
    internal({ allowedCidrs: ["10.1.0.0/16"] }),
    'error lakehead:tableService.exposure.allowedCidrs = ["10.1.0.0/16"]: an internal Application Load Balancer of GKE does not limit callers by their address; leave it out: every caller in the network reaches the load balancer, and needs a token',
  ],
  [
    "proxies in the nodes' network",
    "gcp",
    internal({ proxyCidr: "10.42.0.0/23" }),
    'error lakehead:tableService.exposure.proxyCidr = "10.42.0.0/23": it overlaps network.nodeCidr; write networks that do not overlap',
  ],
  [
    "a network of proxies that is too small",
    "gcp",
    internal({ proxyCidr: "10.42.16.0/27" }),
    'error lakehead:tableService.exposure.proxyCidr = "10.42.16.0/27": Google accepts a /26 or larger; write a /23, which Google recommends',
  ],
  [
    "Private Service Connect without a subnetwork",
    "gcp",
    internal({ privateServiceConnect: { consumerProjects: ["analytics-prod"] } }),
    "error lakehead:tableService.exposure.privateServiceConnect.natCidr is missing: callers from other networks get addresses of a subnetwork for Private Service Connect; write a free network such as a /24",
  ],
  [
    "an allow list beside a Cloud Armor policy of one's own",
    "gcp",
    {
      tableService: {
        exposure: {
          mode: "public",
          host: "tables.lakehead.dev",
          allowedCidrs: ["8.8.8.0/24"],
          waf: { securityPolicy: "edge" },
        },
      },
    },
    'error lakehead:tableService.exposure.allowedCidrs = ["8.8.8.0/24"]: a Cloud Armor policy of your own decides who can connect; leave it out, or leave out waf.securityPolicy',
  ],
  [
    "a copy in the tables' own region",
    "aws",
    { bucket: { replica: { name: "tables-copy", region: "eu-central-1" } } },
    'error lakehead:bucket.replica = {"name":"tables-copy","region":"eu-central-1"}: the copy is another bucket in another region; write another name, and a region other than eu-central-1',
  ],
  [
    "a copy without versions",
    "aws",
    { bucket: { versioning: false, replica: { name: "tables-copy", region: "eu-west-1" } } },
    "error lakehead:bucket.versioning = false: S3 copies objects of versioned buckets only; write bucket.versioning: true, or leave out bucket.replica",
  ],
  [
    "a copy in no region",
    "gcp",
    { bucket: { dualRegion: { location: "EU", secondRegion: "europe-west99" } } },
    'error lakehead:bucket.dualRegion.secondRegion = "europe-west99": the cloud has no such region; write one of europe-',
  ],
  [
    "a key of one region for a bucket in two",
    "gcp",
    {
      bucket: {
        kmsKeyName: "projects/p/locations/europe-west4/keyRings/r/cryptoKeys/k",
        dualRegion: { location: "EU", secondRegion: "europe-west1" },
      },
    },
    'error lakehead:bucket.kmsKeyName = "projects/p/locations/europe-west4/keyRings/r/cryptoKeys/k": the key is in europe-west4 alone, and the bucket in two regions; write a key of the multi-region of EU',
  ],
  [
    "exceptions without a proxy",
    "aws",
    { egress: { noProxy: [".corp.example.org"] } },
    'error lakehead:egress.noProxy = [".corp.example.org"]: there is no proxy; write egress.proxy as well, or leave it out',
  ],
  [
    "a proxy before a cluster whose networks are not given",
    "kubeconfig",
    { egress: { proxy: "http://proxy.lakehead.dev:3128" } },
    "error lakehead:egress.noProxy = []: the networks of pods and Services are not known, and the proxy would get the connections between them; list them, such as 10.244.0.0/16 and 10.96.0.0/12",
  ],
  [
    "a private key among the certificates",
    "aws",
    { egress: { caBundle: "-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n" } },
    "error lakehead:egress.caBundle",
  ],
  [
    "a password in the address of the proxy",
    "aws",
    { egress: { proxy: "http://user:secret@proxy.lakehead.dev:3128" } },
    "error lakehead:egress.proxy",
  ],
  [
    "a zone of another region",
    "gcp",
    { nodes: { gpu: { zones: ["europe-west4-a", "us-central1-a"] } } },
    'error lakehead:nodes.gpu.zones = ["europe-west4-a","us-central1-a"]: us-central1-a is not in europe-west4; write zones of the region, such as europe-west4-b',
  ],
  [
    "a head with more local disk than its node on EKS",
    "aws",
    { ray: { head: { ephemeralStorage: "100Gi" } } },
    'error lakehead:ray.head.ephemeralStorage = "101Gi": the head (with the autoscaler sidecar\'s 1 CPU and 1Gi) requests 101Gi of local disk, and a node of nodes.head has 88.9Gi; request less, or write nodes.head.diskGiB: 114',
  ],
  [
    "a worker with more local disk than its node on GKE",
    "gcp",
    { nodes: { cpu: { diskGiB: 20 } } },
    'error lakehead:ray.cpuWorkers.ephemeralStorage = "12Gi": a pod of worker group cpu requests 12Gi of local disk, and a node of nodes.cpu has 7.5Gi; request less, or write nodes.cpu.diskGiB: 32',
  ],
  [
    "a worker with more local disk than its node of an existing cluster",
    "kubeconfig",
    { nodes: { cpu: { cpus: 8, memory: "16Gi", ephemeralStorage: "10Gi" } } },
    'error lakehead:ray.cpuWorkers.ephemeralStorage = "12Gi": a pod of worker group cpu requests 12Gi of local disk, and a node of nodes.cpu has 10Gi; request less, or use nodes with a larger disk',
  ],
  [
    "access logs in a bucket whose name would be too long",
    "aws",
    {
      bucket: { name: "a".repeat(52) },
      tableService: {
        exposure: {
          mode: "public",
          host: "tables.lakehead.dev",
          certificateArn: "arn:aws:acm:eu-central-1:111122223333:certificate/1",
          accessLogs: true,
        },
      },
    },
    `error lakehead:tableService.exposure.accessLogs = true: the bucket ${"a".repeat(52)}-access-logs would have a name of 64 characters, and S3 allows 63; write a bucket.name of at most 51 characters, or accessLogs: false`,
  ],
  [
    "a region that AWS does not have",
    "aws",
    { region: "eu-central-9" },
    'error lakehead:region = "eu-central-9": the cloud has no such region; write one of eu-central-1, eu-central-2, eu-north-1, eu-south-1, eu-south-2, eu-west-1, eu-west-2, eu-west-3',
  ],
  [
    "a region that Google Cloud does not have",
    "gcp",
    { region: "me-north1" },
    'error lakehead:region = "me-north1": the cloud has no such region; write one of me-central1, me-central2, me-west1',
  ],
  [
    "other GPUs than the machine's own",
    "gcp",
    { nodes: { gpu: { machineType: "g2-standard-48", accelerator: { type: "nvidia-tesla-t4", count: 4 } } } },
    'error lakehead:nodes.gpu.accelerator = {"type":"nvidia-tesla-t4","count":4}: g2-standard-48 has 4 nvidia-l4; leave the key out',
  ],
  [
    "a GPU that does not exist",
    "gcp",
    { nodes: { gpu: { machineType: "n1-standard-16", accelerator: { type: "nvidia-l5", count: 1 } } } },
    'error lakehead:nodes.gpu.accelerator = {"type":"nvidia-l5","count":1}: n1-standard-16 cannot have 1 nvidia-l5; write one of nvidia-tesla-t4 (1, 2, 4), nvidia-tesla-p4 (1, 2, 4), nvidia-tesla-p100 (1, 2, 4), nvidia-tesla-v100 (1, 2, 4, 8)',
  ],
  [
    "a GPU on a machine that takes none",
    "gcp",
    { nodes: { gpu: { machineType: "n2-standard-16", accelerator: { type: "nvidia-tesla-t4", count: 1 } } } },
    'error lakehead:nodes.gpu.accelerator = {"type":"nvidia-tesla-t4","count":1}: no GPU attaches to n2-standard-16; write a type with GPUs such as g2-standard-12 and leave the key out, or an N1 type',
  ],
  [
    "a fallback on which the role's pods do not fit",
    "aws",
    {
      nodes: { gpu: { fallback: [{ instanceTypes: ["g6.2xlarge"] }] } },
      ray: { gpuWorkers: { cpus: 8, memory: "16Gi" } },
    },
    'error lakehead:ray.gpuWorkers = {"cpus":8,"memory":"16Gi"}: a pod of worker group gpu requests 8 CPUs, 16Gi, 1 GPU, and a node of nodes.gpu.fallback.0 has 7.66 CPUs, 27.8Gi, 1 GPU; request less, or write g5.4xlarge under nodes.gpu.fallback.0, the smallest type that is large enough (15.64 CPUs, 57.4Gi, 1 GPU)',
  ],
  [
    "flex-start on spot nodes",
    "gcp",
    { nodes: { gpu: { fallback: [{ machineType: "g2-standard-16", spot: true, flexStart: {} }] } } },
    'error lakehead:nodes.gpu.fallback.0.flexStart = {"hours":168}: nodes of flex-start are no spot nodes, and come when a pod waits for one; write nodes.gpu.fallback.0.spot: false',
  ],
  [
    "GPUs that are not NVIDIA's",
    "aws",
    { nodes: { gpu: { instanceTypes: ["g4ad.4xlarge"], size: { cpus: 16, memory: "64Gi", gpus: 1 } } } },
    "error lakehead:nodes.gpu.instanceTypes = \"g4ad.4xlarge\": its accelerators are not NVIDIA's, and Ray's GPU images and the device plugin need NVIDIA's; write a type such as g6.4xlarge",
  ],
  [
    "Arm nodes on Google Cloud",
    "gcp",
    { nodes: { system: { machineType: "c4a-standard-4", diskType: "hyperdisk-balanced" } } },
    `error lakehead:nodes.system.machineType = "c4a-standard-4": ${arm}`,
  ],
  [
    "Arm nodes of unknown size on Google Cloud",
    "gcp",
    { nodes: { system: { machineType: "z9-standard-4", size: { cpus: 4, memory: "16Gi", architecture: "arm64" } } } },
    `error lakehead:nodes.system.machineType = "z9-standard-4": ${arm}`,
  ],
  [
    "a persistent disk on C4D",
    "gcp",
    { nodes: { head: { machineType: "c4d-standard-8" } } },
    'error lakehead:nodes.head.diskType = "pd-balanced": c4d-standard-8 has no persistent disks; write "hyperdisk-balanced"',
  ],
  [
    "a range of pods that is too small for the nodes",
    "gcp",
    { network: { mode: "create", podCidr: "10.44.0.0/20" } },
    'error lakehead:network.podCidr = "10.44.0.0/20": it holds 16 nodes, and the pools have up to 20; write a larger network, or lower the maxima under nodes',
  ],
  [
    "a range of nodes that is too small for the nodes",
    "gcp",
    { network: { mode: "create", nodeCidr: "10.42.0.0/28" } },
    'error lakehead:network.nodeCidr = "10.42.0.0/28": it holds 12 nodes, and the pools have up to 20; write a larger network, or lower the maxima under nodes',
  ],
  [
    "a VPC that is too small for the nodes",
    "aws",
    { network: { mode: "create", cidr: "10.42.0.0/23" } },
    'error lakehead:network.cidr = "10.42.0.0/23": its private subnets have 369 addresses, and 22 nodes with their pods need at least 374; write a larger network, or lower the maxima under nodes',
  ],
  ...["xn--tables", "sthree-tables", "amzn-s3-demo-tables", "tables-s3alias", "t--ol-s3", "t--x-s3", "t--table-s3"].map(
    (name): Row => [
      `the reserved bucket name ${name}`,
      "aws",
      { bucket: { name } },
      `error lakehead:bucket.name = "${name}": the cloud reserves names that match`,
    ],
  ),
  ...["goog-tables", "my-google-tables", "g00gle-tables"].map(
    (name): Row => [
      `the reserved bucket name ${name}`,
      "gcp",
      { bucket: { name } },
      `error lakehead:bucket.name = "${name}": the cloud reserves names that match`,
    ],
  ),
  ...(["aws", "gcp"] as const).map(
    (cloud): Row => [
      `a private network with access from the internet, on ${cloud}`,
      cloud,
      { endpoint: { publicCidrs: ["10.0.0.0/8"] } },
      'error lakehead:endpoint.publicCidrs = "10.0.0.0/8": no client on the internet has an address in 10.0.0.0/8; write the public address from which you connect',
    ],
  ),
  [
    "a label prefix with a path",
    "aws",
    { labelPrefix: "../x" },
    'error lakehead:labelPrefix = "../x": the value is invalid; expected a DNS name such as geneva.lancedb.com, without a slash',
  ],
  [
    "a path in the bucket that leaves it",
    "aws",
    { bucket: { prefix: "../x" } },
    'error lakehead:bucket.prefix = "../x": the value is invalid; expected a path such as lance/prod, without the parts . and ..',
  ],
  ...[
    ["61 * * * *", "a cron schedule whose minute is *, or from 0 to 59"],
    ["0 24 * * *", "a cron schedule whose hour is *, or from 0 to 23"],
    ["0 0 0 * *", "a cron schedule whose day of the month is *, or from 1 to 31"],
    ["0 0 1 foo *", "a cron schedule whose month is *, or from 1 to 12"],
    ["0 0 * * 7", "a cron schedule whose day of the week is *, or from 0 to 6"],
    ["*/0 * * * *", "a cron schedule whose minute is *, or from 0 to 59"],
    ["30-10 * * * *", "a cron schedule whose minute is *, or from 0 to 59"],
    ["@hourly", "five fields of a cron schedule, such as 17 * * * *"],
  ].map(
    ([schedule, expected]): Row => [
      `the schedule ${schedule}`,
      "aws",
      { orphanCleanup: { schedule } },
      `error lakehead:orphanCleanup.schedule = "${schedule}": the value is invalid; expected ${expected}`,
    ],
  ),
  [
    "a Python without images",
    "aws",
    { ray: { image: { python: "3.8" } } },
    'error lakehead:ray.image.python = "3.8": the value is invalid; expected one of 3.10, 3.11, 3.12, 3.13, for which Ray has images',
  ],
  [
    "an operator that does not exist",
    "aws",
    { operator: { version: "9.9.9" } },
    'error lakehead:operator.version = "9.9.9": no such version is known, the newest is 1.7.1; write "1.7.1"',
  ],
  [
    "an operator that is newer than this release",
    "aws",
    { operator: { version: "1.99.0" } },
    'warning lakehead:operator.version = "1.99.0": newer than 1.7.1, the version that this release is tested with',
  ],
  [
    "a Ray that does not exist",
    "gcp",
    { ray: { version: "9.9.9" } },
    'error lakehead:ray.version = "9.9.9": no such version is known',
  ],
];

describe("a configuration that a cloud or Kubernetes would refuse later", () => {
  test.each(rows)("with %s is refused", (_name, cloud, overrides, error) => {
    const found = findingsFor(cloud, overrides);
    expect(found.filter((line) => line.startsWith(error))).not.toEqual([]);
  });
});

describe("a configuration is accepted with", () => {
  test.each<[string, "aws" | "gcp", Record<string, unknown>]>([
    ["an Arm cluster on AWS", "aws", { nodes: { system: { instanceTypes: ["m7g.large"] } } }],
    [
      "C4 nodes on Hyperdisk",
      "gcp",
      { nodes: { head: { machineType: "c4-standard-8", diskType: "hyperdisk-balanced" } } },
    ],
    [
      "G4 nodes, whose GPU has a name",
      "gcp",
      { nodes: { gpu: { machineType: "g4-standard-48", diskType: "hyperdisk-balanced" } } },
    ],
    [
      "A4 nodes, whose GPU has a name",
      "gcp",
      { nodes: { gpu: { machineType: "a4-highgpu-8g", diskType: "hyperdisk-balanced" } } },
    ],
    ["P5en nodes", "aws", { nodes: { gpu: { instanceTypes: ["p5en.48xlarge"] } } }],
    ["G7e nodes", "aws", { nodes: { gpu: { instanceTypes: ["g7e.4xlarge"] } } }],
    [
      "GPUs attached to N1 machines",
      "gcp",
      { nodes: { gpu: { machineType: "n1-standard-16", accelerator: { type: "nvidia-tesla-t4", count: 1 } } } },
    ],
    [
      "a schedule with names, ranges, lists and steps",
      "aws",
      { orphanCleanup: { schedule: "*/5,7 0-6/2 1,15 JAN-MAR mon" } },
    ],
    [
      "a certificate of its own account and region",
      "aws",
      certificate("arn:aws:acm:eu-central-1:111122223333:certificate/1"),
    ],
    ["a public address with access", "aws", { endpoint: { publicCidrs: ["8.8.8.8/32"] } }],
  ])("%s", (_name, cloud, overrides) => {
    expect(findingsFor(cloud, overrides)).toEqual([]);
  });
});

/** Foreign part: the partitions of AWS's SDK. */
test("the regions of AWS are those of its SDK", () => {
  const load = createRequire(createRequire(import.meta.url).resolve("@aws-sdk/client-ec2"));
  const { partition } = load("@aws-sdk/core/client") as { partition(region: string): { name: string } };
  expect(partition("eu-central-1").name).toBe("aws");
  const source = load("node:fs").readFileSync(load.resolve("@aws-sdk/core/client"), "utf8") as string;
  const known = new Set(source.match(/"[a-z]{2,4}-(?:[a-z]+-)+\d"(?=: \{)/g)?.map((name) => name.slice(1, -1)));
  expect(known.size).toBeGreaterThan(30);
  expect(awsRegions.filter((region) => !known.has(region))).toEqual([]);
  const ours = (region: string) => ["aws", "aws-cn", "aws-us-gov", "aws-eusc"].includes(partition(region).name);
  expect([...known].filter((region) => ours(region) && !awsRegions.includes(region))).toEqual([]);
});

describe("a placeholder", () => {
  const lines = (raw: Record<string, unknown>) =>
    findPlaceholders(raw).map((finding) => describeFinding(finding).trim());

  test("is found at every depth, with its key and what to write", () => {
    expect(
      lines({
        account: "444455556666",
        viewerArns: ["arn:aws:iam::444455556666:role/preview"],
        endpoint: { publicCidrs: ["203.0.113.7/32", "198.51.100.0/24", "8.8.8.8/32"] },
        bucket: { name: "example-lakehead-dev", versioning: true },
        client: { members: ["group:data@example.com"] },
        tableService: { image: "registry.example.com/lakehead:0.2.0", auth: { issuer: "https://login.example.com/" } },
      }),
    ).toEqual([
      "lakehead:account = \"444455556666\": the account id is a placeholder of AWS's documentation; write your own account's id",
      "lakehead:viewerArns = \"arn:aws:iam::444455556666:role/preview\": the account id is a placeholder of AWS's documentation; write your own account's id",
      'lakehead:endpoint.publicCidrs = "203.0.113.7/32": the network is reserved for documentation (RFC 5737); write your own network',
      'lakehead:endpoint.publicCidrs = "198.51.100.0/24": the network is reserved for documentation (RFC 5737); write your own network',
      'lakehead:bucket.name = "example-lakehead-dev": the name is a placeholder of the example stacks; write your own name',
      'lakehead:client.members = "group:data@example.com": the domain is reserved for documentation (RFC 2606); write your own domain',
      'lakehead:tableService.image = "registry.example.com/lakehead:0.2.0": the domain is reserved for documentation (RFC 2606); write your own domain',
      'lakehead:tableService.auth.issuer = "https://login.example.com/": the domain is reserved for documentation (RFC 2606); write your own domain',
    ]);
  });

  test("is no other name that contains one", () => {
    expect(
      lines({
        bucket: { name: "my-example-tables" },
        issuer: "https://example.company.dev/",
        tags: { a: "1111222233334" },
      }),
    ).toEqual([]);
  });
});

describe("a key of another namespace", () => {
  const lines = (all: Record<string, string>) =>
    findForeignKeys(all, "lakehead").map((finding) => describeFinding(finding).trim());

  test("is refused with the key to write", () => {
    expect(lines({ "lakehaed:region": "eu-central-1", "lakehead:cloud": "aws" })).toEqual([
      'lakehaed:region = "eu-central-1": no program reads the namespace lakehaed; write lakehead:region',
    ]);
  });

  test("of a provider is refused with where the provider's settings come from", () => {
    expect(lines({ "aws:region": "eu-central-1" })).toEqual([
      'aws:region = "eu-central-1": the stack\'s aws provider does not read this key; write lakehead:region and lakehead:account, and select credentials by AWS_PROFILE',
    ]);
    expect(lines({ "gcp:project": "p" })[0]).toContain("write lakehead:project and lakehead:region");
    expect(lines({ "kubernetes:context": "c" })[0]).toContain("lakehead:context");
  });

  test("of the engine is accepted", () => {
    expect(lines({ "pulumi:disable-default-providers": '["*"]' })).toEqual([]);
  });
});

test("the minimal configurations of these tests are accepted", () => {
  for (const cloud of Object.keys(minimal) as (keyof typeof minimal)[]) expect(findingsFor(cloud)).toEqual([]);
});
