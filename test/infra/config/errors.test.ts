import { describe, expect, test } from "vitest";
import { stackDefinition } from "../../../infra/clouds/schema.ts";
import { parseConfig } from "../../../infra/config/parse.ts";
import { ConfigError } from "../../../infra/config/report.ts";
import { configOf, findingsFor, judge, minimal, raw, someDay } from "./minimal.ts";

const message = (value: unknown): string => {
  try {
    parseConfig(stackDefinition, value, { today: someDay });
  } catch (cause) {
    if (cause instanceof ConfigError) return cause.message;
    throw cause;
  }
  return "accepted";
};

describe("an invalid configuration", () => {
  test("reports every error at once: each key, its value and what to write", () => {
    expect(
      message({
        ...minimal.aws,
        region: "frankfurt",
        account: 111122223333,
        deployerArn: undefined,
        nodes: { head: { min: 0, spot: true }, cpu: { maximum: 3 } },
        ray: { head: { memory: 8 } },
      }),
    ).toBe(`The stack's configuration has 7 errors:
  lakehead:region = "frankfurt": the value is invalid; expected an AWS region such as eu-central-1
  lakehead:account = 111122223333: the value is invalid; expected the account's id in quotes, such as "111122223333"
  lakehead:deployerArn is missing: the key is required; expected an ARN such as arn:aws:iam::111122223333:role/team/deployer
  lakehead:nodes.head.min = 0: the value is invalid; expected at least 1
  lakehead:nodes.head.spot = true: the value is invalid; expected false: losing this node ends every job
  lakehead:nodes.cpu.maximum = 3: the key does not exist; remove it, or find its name in docs/stack-configuration.md
  lakehead:ray.head.memory = 8: the value is invalid; expected a quantity with its unit, such as "8Gi"`);
  });

  test("reports errors between keys together with schema errors", () => {
    const findings = judge(raw("aws", { region: "frankfurt", nodes: { cpu: { min: 50 } } }));
    expect(findings.map(({ key }) => key)).toEqual(["region", "nodes.cpu.min"]);
  });

  test("without a required key still has its pods checked, and no finding names a placeholder", () => {
    const { bucket: _, ...rest } = raw("aws", {
      region: "frankfurt",
      nodes: { head: { instanceTypes: ["m7i.xlarge"] } },
    });
    expect(judge(rest).map(({ key }) => key)).toEqual(["region", "bucket", "ray.head"]);
    const china = { deployerArn: "arn:aws-cn:iam::111122223333:role/deployer" };
    expect(judge(raw("aws", { ...china, region: "peking" })).map(({ key }) => key)).toEqual(["region"]);
  });

  test("without a cloud lists the three", () => {
    expect(message({})).toContain(
      "lakehead:cloud is missing: the key is required; expected one of aws, gcp, kubeconfig",
    );
    expect(message({ cloud: "azure" })).toContain('lakehead:cloud = "azure"');
  });

  test("shortens a long value", () => {
    expect(message({ ...minimal.aws, region: "x".repeat(500) }).length).toBeLessThan(400);
  });

  test("is rejected with a key of another cloud: GKE installs its own device plugin", () => {
    expect(findingsFor("gcp", { devicePlugin: { mode: "install" } })[0]).toContain("devicePlugin");
    expect(findingsFor("gcp", { devicePlugin: {} })[0]).toContain("the key does not exist");
  });
});

const functionsOn = (functions: object = {}) => ({ writes: true, functions: { enabled: true, ...functions } });

/** Overrides of a minimal configuration, and a part of the finding that they cause. */
type Row = [name: string, cloud: "aws" | "gcp" | "kubeconfig", overrides: Record<string, unknown>, said: string];

const rows: Row[] = [
  [
    "a head that fits no node",
    "aws",
    { nodes: { head: { instanceTypes: ["m7i.xlarge"] } } },
    `error lakehead:ray.head = {"cpus":5,"memory":"9Gi"}: the head (with the autoscaler sidecar's 1 CPU and 1Gi) requests 5 CPUs, 9Gi, and a node of nodes.head has 3.67 CPUs, 13Gi; request less, or write c7i.2xlarge under nodes.head, the smallest type that is large enough (7.66 CPUs, 13Gi)`,
  ],
  [
    "no head node for a client's RayCluster",
    "gcp",
    { nodes: { head: { max: 1 } } },
    "error lakehead:nodes.head.max = 1: the stack's own RayClusters take the only places for a head, and a client's RayCluster cannot start; write 2 or more, or ray.create: false",
  ],
  [
    "workers too small for a job of the client with default sizes",
    "aws",
    { ray: { cpuWorkers: { cpus: 4, memory: "2Gi" } } },
    'warning lakehead:ray.cpuWorkers = {"cpus":4,"memory":"2Gi","maxReplicas":10}: a job of the client with default sizes requests 1.2 CPUs, 5.1Gi, of which one worker must have 1 CPUs, 4Gi; write cpus: 2 and memory: 6Gi, or give num_cpus and memory to every UDF',
  ],
  [
    "a worker group too small for the parts of such a job together",
    "aws",
    { ray: { cpuWorkers: { cpus: 1, memory: "8Gi", maxReplicas: 1 } } },
    "warning lakehead:ray.cpuWorkers",
  ],
  [
    "a GPU worker that fits no node, on Google Cloud",
    "gcp",
    { nodes: { gpu: { machineType: "g2-standard-8" } } },
    `error lakehead:ray.gpuWorkers = {"cpus":8,"memory":"16Gi"}: a pod of worker group gpu requests 8 CPUs, 16Gi, 1 GPU, and a node of nodes.gpu has 7.46 CPUs, 27.7Gi, 1 GPU; request less, or write g2-standard-12 under nodes.gpu, the smallest type that is large enough (11.45 CPUs, 42.7Gi, 1 GPU)`,
  ],
  [
    "a pod that fits no machine at all",
    "aws",
    { ray: { cpuWorkers: { cpus: 500 } }, quota: { enabled: false } },
    "divide the work into smaller pods: no machine type is large enough",
  ],
  [
    "a pod that does not fit the cluster that is there",
    "kubeconfig",
    { nodes: { head: { cpus: 4, memory: "8Gi" } } },
    "use larger nodes",
  ],
  [
    "a table service that fits no system node",
    "aws",
    { tableService: { memory: "32Gi" } },
    "a pod of the table service requests 1 CPUs, 32Gi, and a node of nodes.system has",
  ],
  [
    "instance types of different size",
    "aws",
    { nodes: { cpu: { instanceTypes: ["c7i.4xlarge", "m7i.4xlarge"] } } },
    'error lakehead:nodes.cpu.instanceTypes = ["c7i.4xlarge","m7i.4xlarge"]: the types differ in size, and the autoscaler assumes that all nodes of a group are equal; list types of equal CPUs, memory, GPUs and architecture',
  ],
  [
    "an instance type of unknown size",
    "aws",
    { nodes: { system: { instanceTypes: ["zz9.large"] } } },
    'error lakehead:nodes.system.instanceTypes = "zz9.large": the size of this type is unknown',
  ],
  [
    "a GPU pool without GPUs",
    "aws",
    { nodes: { gpu: { instanceTypes: ["m7i.4xlarge"] } } },
    'error lakehead:nodes.gpu.instanceTypes = "m7i.4xlarge": the type has no GPU; write a type with GPUs, such as g5.xlarge',
  ],
  [
    "a GPU whose name is unknown, on Google Cloud",
    "gcp",
    { nodes: { gpu: { machineType: "z9-highgpu-1g", size: { cpus: 16, memory: "64Gi", gpus: 1 } } } },
    "error lakehead:nodes.gpu.accelerator is missing: the GPU of z9-highgpu-1g is unknown, and GKE requires its name",
  ],
  [
    "GPUs on CPU worker nodes",
    "gcp",
    { nodes: { cpu: { machineType: "g2-standard-16" } } },
    'error lakehead:nodes.cpu.machineType = "g2-standard-16": nothing on these nodes uses its GPUs',
  ],
  [
    "GPU nodes without a device plugin",
    "aws",
    { devicePlugin: { mode: "existing" } },
    'warning lakehead:devicePlugin.mode = "existing": a new cluster has no device plugin, and without one its GPUs cannot be requested',
  ],
  [
    "a disk too small for GPU images",
    "aws",
    { nodes: { gpu: { diskGiB: 50 } } },
    "error lakehead:nodes.gpu.diskGiB = 50: Ray's GPU images and a job's packages need 100 GiB; write 100 or more",
  ],
  [
    "a boot disk that the machine family does not have",
    "gcp",
    { nodes: { head: { machineType: "n4-standard-8" } } },
    'error lakehead:nodes.head.diskType = "pd-balanced": n4-standard-8 has no persistent disks; write "hyperdisk-balanced"',
  ],
  [
    "Ray nodes of two architectures",
    "aws",
    { nodes: { cpu: { instanceTypes: ["c7g.4xlarge"] } } },
    "Ray nodes of two architectures cannot share a job's packages",
  ],
  [
    "a minimum of workers that the pool cannot hold",
    "aws",
    { ray: { cpuWorkers: { minReplicas: 50, maxReplicas: 60 } }, quota: { enabled: false } },
    "error lakehead:ray.cpuWorkers.minReplicas = 50: nodes.cpu.max allows nodes for only 30 such pods; raise nodes.cpu.max, or write 30 or less",
  ],
  [
    "a maximum of workers that the pool cannot hold",
    "aws",
    { ray: { cpuWorkers: { maxReplicas: 60 } }, quota: { enabled: false } },
    "warning lakehead:ray.cpuWorkers.maxReplicas = 60: nodes.cpu.max allows nodes for only 30 such pods",
  ],
  [
    "a maximum of table service pods that the system nodes cannot hold",
    "aws",
    { tableService: { replicas: { min: 2, max: 40 } } },
    "warning lakehead:tableService.replicas.max = 40: nodes.system.max allows nodes for only 6 such pods; raise nodes.system.max, or write 6 or less",
  ],
  [
    "a maximum of table service pods below the minimum",
    "aws",
    { tableService: { replicas: { min: 4, max: 2 } } },
    "error lakehead:tableService.replicas.min = 4: more than tableService.replicas.max, which is 2; lower it, or raise tableService.replicas.max",
  ],
  [
    "a Kubernetes version without support",
    "aws",
    { kubernetesVersion: "1.29" },
    'error lakehead:kubernetesVersion = "1.29": the provider\'s standard support does not include it; write one of 1.34, 1.35, 1.36',
  ],
  [
    "a version that YAML read as a number",
    "aws",
    { kubernetesVersion: 1.35 },
    'a version in quotes, such as "1.35": unquoted, YAML reads it as a number',
  ],
  [
    "an operator below the runtime's minimum",
    "aws",
    { operator: { version: "1.0.0" } },
    'error lakehead:operator.version = "1.0.0": the runtime needs KubeRay 1.1.0 or later; write "1.7.1"',
  ],
  [
    "an operator that ignores what the client requests",
    "aws",
    { operator: { version: "1.3.2" } },
    'warning lakehead:operator.version = "1.3.2": KubeRay before 1.4.0 ignores the autoscaler version that the runtime\'s client requests',
  ],
  [
    "Ray below the runtime's minimum",
    "aws",
    { ray: { version: "2.42.1" } },
    'error lakehead:ray.version = "2.42.1": the runtime needs Ray 2.43.0 or later; write "2.56.0"',
  ],
  ["Ray with a known hole", "aws", { ray: { version: "2.50.0" } }, "CVE-2026-27482 is fixed in Ray 2.54.0"],
  [
    "an existing operator of unknown version",
    "aws",
    { operator: { mode: "existing" } },
    "error lakehead:operator.version is missing: the key is required with operator.mode existing; write the version of the operator that runs in the cluster",
  ],
  [
    "an add-on without a published pairing",
    "gcp",
    { operator: { mode: "addon" } },
    "error lakehead:operator.version is missing: the operator version of GKE 1.35's add-on is not published (only 1.30 with 1.1, 1.31 with 1.2); write operator.mode: helm, or the version that the add-on of your clusters installs",
  ],
  [
    "an add-on with another version than its own",
    "gcp",
    { kubernetesVersion: "1.31", operator: { mode: "addon", version: "1.7.1" } },
    'error lakehead:operator.version = "1.7.1": GKE 1.31\'s add-on installs 1.2; leave it out, or write "1.2"',
  ],
  [
    "the add-on on EKS",
    "aws",
    { operator: { mode: "addon" } },
    'lakehead:operator.mode = "addon": the value is invalid',
  ],
  [
    "token authentication that the versions do not support",
    "aws",
    { operator: { version: "1.4.0" }, ray: { auth: "token", version: "2.54.0" } },
    "token authentication needs KubeRay 1.5.1 (the operator is 1.4.0)",
  ],
  [
    "ranges that overlap",
    "gcp",
    { network: { mode: "create", serviceCidr: "10.44.0.0/20" } },
    'error lakehead:network.serviceCidr = "10.44.0.0/20": it overlaps network.podCidr; write networks that do not overlap',
  ],
  [
    "a network with host bits",
    "aws",
    { network: { mode: "create", cidr: "10.42.0.1/16" } },
    "an IPv4 network in CIDR form with no host bits set",
  ],
  [
    "a network too small for its zones",
    "aws",
    { network: { mode: "create", cidr: "10.42.0.0/26" } },
    "10.42.0.0/26 is too small for 3 zones; write a network of /24 or larger",
  ],
  [
    "a network too large for a VPC",
    "aws",
    { network: { mode: "create", cidr: "10.0.0.0/8" } },
    "a VPC's network is at most a /16",
  ],
  [
    "a pool in a zone that the network does not have",
    "aws",
    { nodes: { gpu: { zones: ["d"] } } },
    'error lakehead:nodes.gpu.zones = ["d"]: network.zones does not list d; add it to network.zones',
  ],
  [
    "nodes without access to the internet",
    "aws",
    { network: { mode: "create", nat: "none" } },
    'warning lakehead:network.nat = "none": nodes reach AWS but no public registry and no package index',
  ],
  [
    "a Kubernetes API that the first `up` cannot reach",
    "aws",
    { endpoint: { publicCidrs: [] } },
    "the first `up` cannot reach it; list the address that you deploy from",
  ],
  [
    "a Kubernetes API that is open to the internet",
    "gcp",
    { endpoint: { publicCidrs: ["0.0.0.0/0"] } },
    "the Kubernetes API is reachable from the whole internet",
  ],
  [
    "a control plane range of a size that GKE refuses",
    "gcp",
    { network: { mode: "create", controlPlaneCidr: "172.16.0.0/24" } },
    "GKE accepts only a /28",
  ],
  [
    "an ARN of another partition",
    "aws",
    { region: "us-gov-west-1" },
    'error lakehead:deployerArn = "arn:aws:iam::111122223333:role/deployer": us-gov-west-1 is in the partition aws-us-gov; write an ARN that begins with arn:aws-us-gov:',
  ],
  [
    "a principal with a wildcard",
    "aws",
    { client: { principals: ["arn:aws:iam::111122223333:role/*"] } },
    "the full ARN of an IAM role or user",
  ],
  [
    "a KMS key without aws:kms encryption",
    "aws",
    { bucket: { kmsKeyArn: "arn:aws:kms:eu-central-1:111122223333:key/1" } },
    "bucket.encryption AES256 does not use a key",
  ],
  [
    "a protected bucket with forceDestroy",
    "gcp",
    { bucket: { forceDestroy: true } },
    "error lakehead:bucket.forceDestroy = true: it lets a destroy delete the tables, which protect: true forbids; write false, or protect: false as well",
  ],
  [
    "a public service in a network without public subnets",
    "aws",
    {
      network: {
        mode: "adopt",
        vpcId: "vpc-0123",
        cidr: "10.0.0.0/16",
        privateSubnetIds: ["subnet-01", "subnet-02"],
      },
      tableService: {
        exposure: {
          mode: "public",
          host: "tables.example.com",
          certificateArn: "arn:aws:acm:eu-central-1:111122223333:certificate/1",
        },
      },
    },
    "a public load balancer needs subnets in two zones",
  ],
  [
    "a public service without a certificate",
    "aws",
    { tableService: { exposure: { mode: "public", host: "tables.example.com" } } },
    "error lakehead:tableService.exposure.certificateArn is missing: the load balancer has no certificate; write the id of the host's Route 53 zone",
  ],
  [
    "a cache of Docker Hub without an account, which ECR needs",
    "aws",
    { dockerHub: { cache: true } },
    "error lakehead:dockerHub.username is missing: the cache pulls from Docker Hub only with an account and its token",
  ],
  [
    "a cache of Docker Hub without a token",
    "gcp",
    { dockerHub: { cache: true, username: "lakehead" } },
    "error lakehead:dockerHubToken is missing: the cache pulls from Docker Hub only with an account and its token; pulumi config set --secret dockerHubToken",
  ],
  [
    "a cluster name that makes the prefix of the cache too long",
    "aws",
    { clusterName: "a-cluster-of-20-lett", dockerHub: { cache: true, username: "lakehead" } },
    'error lakehead:clusterName = "a-cluster-of-20-lett": the prefix of the cache of Docker Hub would be a-cluster-of-20-lett/docker-hub, and ECR accepts 30 characters; write at most 19 characters',
  ],
  [
    "a cache of Docker Hub that cannot reach it",
    "aws",
    { network: { mode: "create", nat: "none" }, dockerHub: { cache: true, username: "lakehead" } },
    "error lakehead:dockerHub.cache = true: through interface endpoints, ECR fills its cache only where the subnet has a route to the internet",
  ],
  [
    "a zone by its name, which is not its id",
    "aws",
    { tableService: { exposure: { mode: "public", host: "tables.example.com", zone: "example.com" } } },
    "the id of a Route 53 hosted zone",
  ],
  [
    "a table service without an image where the stack has no registry",
    "kubeconfig",
    { tableService: { image: undefined } },
    "error lakehead:tableService.image is missing: the table service has no image, and the stack builds one only where it makes the registry; build the Dockerfile",
  ],
  [
    "an image with the tag latest",
    "aws",
    { tableService: { image: "registry.example.com/lakehead:latest" } },
    "a fixed tag or a digest: latest changes",
  ],
  [
    "a table service without an issuer or static tokens",
    "aws",
    { tableService: { auth: { issuer: undefined } } },
    "error lakehead:tableService.auth.issuer is missing: no caller could authenticate",
  ],
  [
    "an issuer without an audience",
    "aws",
    { tableService: { auth: { audience: undefined } } },
    "the table service would accept tokens that the issuer made for other services",
  ],
  [
    "a client id of a console that is off",
    "aws",
    { tableService: { auth: { consoleClientId: "console" } } },
    'lakehead:tableService.auth.consoleClientId = "console": the client id would have no effect; write tableService.console: true',
  ],
  [
    "writes in less memory than their processes need",
    "aws",
    { tableService: { writes: true, memory: "1Gi" } },
    'warning lakehead:tableService.memory = "1Gi": two processes that write and one that reads need at least 2Gi with tableService.writes; write 2Gi or more',
  ],
  [
    "a proxy that Functions may not reach",
    "aws",
    {
      tableService: { writes: true, functions: { enabled: true, prefixes: ["docs.lance"] } },
      egress: { proxy: "http://proxy.lakehead.dev:3128" },
    },
    "warning lakehead:tableService.functions.egressCidrs = []: Functions' pods reach public addresses alone, and the proxy http://proxy.lakehead.dev:3128 has a private one in most networks; write its network, such as 10.1.2.0/28",
  ],
  [
    "an issuer without TLS",
    "aws",
    { tableService: { auth: { issuer: "http://login.example.com/" } } },
    "an https:// URL",
  ],
  [
    "a quota below the minimum of the stack's pods",
    "aws",
    { quota: { memory: "4Gi" } },
    'error lakehead:quota.memory = "4Gi": the stack\'s own pods request at least 13Gi',
  ],
  [
    "a quota below the maximum of the stack's pods",
    "aws",
    { quota: { gpus: 1 } },
    "warning lakehead:quota.gpus = 1: the stack's own pods request up to 4; write 4 or more",
  ],
  [
    "a quota without room for a client's RayCluster beside the stack's own",
    "aws",
    { quota: { memory: "24Gi" } },
    "warning lakehead:quota.memory = \"24Gi\": a client's RayCluster with one CPU worker and the stack's own pods request at least 30Gi; write ",
  ],
  [
    "a quota without a RayCluster for a client",
    "aws",
    { quota: { rayClusters: 1 } },
    "error lakehead:quota.rayClusters = 1: the quota admits no more RayClusters than the stack's own, and a client cannot create another; write 2 or more, or ray.create: false",
  ],
  ["worker groups of one name", "aws", { ray: { gpuWorkers: { name: "cpu" } } }, "both worker groups have this name"],
  [
    "an operator in the runtime's namespace",
    "aws",
    { operator: { namespace: "lancedb" } },
    "a destroy would delete the operator with the runtime's namespace, before the RayClusters in it",
  ],
  [
    "a quota without a RayCluster for Functions",
    "aws",
    { quota: { rayClusters: 2 }, tableService: functionsOn() },
    "error lakehead:quota.rayClusters = 2: the quota admits no more RayClusters than the stack's own, and a client cannot create another; write 3 or more, or ray.create: false",
  ],
  [
    "a head of Functions without a place",
    "aws",
    {
      nodes: { head: { instanceTypes: ["m7i.2xlarge"], max: 1 } },
      ray: { create: false },
      tableService: functionsOn({ ray: { head: { cpus: 4 } } }),
    },
    "error lakehead:nodes.head.max = 1: the stack's own RayClusters take the only places for a head, and a client's RayCluster cannot start; write 2 or more",
  ],
  [
    "a worker of Functions that fits no node",
    "aws",
    { tableService: functionsOn({ ray: { cpuWorkers: { cpus: 64 } } }) },
    "error lakehead:tableService.functions.ray.cpuWorkers",
  ],
  [
    "secrets of Functions without values",
    "aws",
    { tableService: functionsOn({ secrets: ["team$openai"] }) },
    `pulumi config set --secret functionSecrets '{"team$openai": "…"}'`,
  ],
  [
    "prefixes of Functions on the stack's RayCluster",
    "aws",
    { tableService: functionsOn({ cluster: "shared", prefixes: ["docs.lance"] }) },
    "Functions have the identity of its pods, which reaches all tables",
  ],
  [
    "the service's records as a prefix of Functions",
    "aws",
    { tableService: functionsOn({ prefixes: ["_lakehead"] }) },
    "a folder of tables, such as docs.lance",
  ],
  [
    "a RayCluster with the name of that for Functions",
    "aws",
    { ray: { name: "functions" } },
    "the RayCluster of Functions has this name",
  ],
  [
    "one identity for two workloads",
    "gcp",
    { tableServiceAccountId: "geneva-runtime" },
    "two of the runtime, the table service, the maintenance, Functions and the client would share an identity",
  ],
  ["a name that KubeRay cannot derive a Service from", "aws", { ray: { name: "1geneva" } }, "starting with a letter"],
  [
    "a name that is too long with what KubeRay appends",
    "aws",
    { ray: { name: "g".repeat(47) } },
    "at most 46 characters",
  ],
  [
    "a label prefix that makes tags too long for AWS",
    "aws",
    { labelPrefix: `${"p".repeat(60)}.example` },
    "write at most 67 characters",
  ],
  [
    "a viewer who is the deployer",
    "aws",
    { viewerArns: ["arn:aws:iam::111122223333:role/deployer"] },
    'error lakehead:viewerArns = "arn:aws:iam::111122223333:role/deployer": the principal already has an access entry, and EKS accepts one for each; leave it out',
  ],
  [
    "a viewer listed twice",
    "aws",
    { viewerArns: ["arn:aws:iam::111122223333:role/a", "arn:aws:iam::111122223333:role/a"] },
    'error lakehead:viewerArns = "arn:aws:iam::111122223333:role/a": the principal already has an access entry',
  ],
  [
    "an auditor who is a viewer",
    "aws",
    {
      viewerArns: ["arn:aws:iam::111122223333:role/a"],
      auditorArns: ["arn:aws:iam::111122223333:role/a"],
    },
    'error lakehead:auditorArns = "arn:aws:iam::111122223333:role/a": the principal already has an access entry',
  ],
  [
    "a tag value that Google Cloud does not accept as a label",
    "gcp",
    { tags: { team: "Data Platform" } },
    'error lakehead:tags.team = "Data Platform": Google Cloud does not accept this key or value in a label; use at most 63 lower-case letters, digits, - and _, and a letter at the start of the key',
  ],
  [
    "a tag key that Google Cloud does not accept as a label",
    "gcp",
    { tags: { CostCenter: "a" } },
    'error lakehead:tags.CostCenter = "a": Google Cloud does not accept this key',
  ],
  ["a tag of AWS's own namespace", "aws", { tags: { "aws:owner": "a" } }, "and not aws: at the start"],
  [
    "more tags than AWS accepts",
    "aws",
    { tags: Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`k${index}`, "v"])) },
    "at most 40 tags: AWS accepts 50",
  ],
  [
    "a GKE cluster that nobody reaches",
    "gcp",
    { endpoint: { dns: false } },
    'error lakehead:endpoint = {"publicCidrs":[],"dns":false}: the Kubernetes API is reachable only from the network that this stack creates',
  ],
  [
    "a certificate without the name that it is for",
    "aws",
    {
      tableService: {
        exposure: { mode: "internal", certificateArn: "arn:aws:acm:eu-central-1:111122223333:certificate/1" },
      },
    },
    "TLS needs the certificate and the name that it is for; write both host and certificateArn",
  ],
  ["a digest of Ray's image that is none", "gcp", { ray: { image: { digest: "latest" } } }, "a digest: sha256: and 64"],
  ["a path of roles without its last slash", "aws", { iam: { path: "/team" } }, "a path with slashes at both ends"],
  [
    "a credential among the plain storage options, which is not repeated",
    "kubeconfig",
    { database: { uri: "s3://tables", storageOptions: { aws_secret_access_key: "hunter2" } } },
    'error lakehead:database.storageOptions.aws_secret_access_key = "…": a credential would stand in the stack\'s file',
  ],
  [
    "interface endpoints in China",
    "aws",
    {
      region: "cn-north-1",
      deployerArn: "arn:aws-cn:iam::111122223333:role/deployer",
      network: { mode: "create", nat: "none" },
    },
    'error lakehead:network.nat = "none": AWS in China has other names for its interface endpoints, which this stack does not know',
  ],
  ["a reserved label prefix", "aws", { labelPrefix: "node.kubernetes.io" }, "kubernetes.io and k8s.io are reserved"],
  [
    "network restrictions on an existing ingress controller",
    "kubeconfig",
    {
      tableService: {
        exposure: {
          mode: "public",
          host: "tables.example.com",
          ingressClass: "nginx",
          tlsSecret: "tls",
          allowedCidrs: ["10.0.0.0/8"],
        },
      },
    },
    "no annotation restricts the networks for every IngressClass",
  ],
  [
    "a cleanup without an image",
    "aws",
    { tableService: { enabled: false } },
    "error lakehead:orphanCleanup.image is missing: the cleanup runs in the table service's image, and the table service is disabled",
  ],
  [
    "a maintenance without the table service's image",
    "aws",
    { tableService: { enabled: false }, maintenance: { enabled: true } },
    "error lakehead:maintenance.enabled = true: the maintenance runs in the table service's image, and the table service is disabled",
  ],
  [
    "a run of the maintenance that fits no node",
    "aws",
    { maintenance: { enabled: true, memory: "900Gi" } },
    "a run of the maintenance",
  ],
  [
    "a limit of the maintenance that no table has",
    "aws",
    { maintenance: { rules: [{ compaction: { smallFragments: 1 } }] } },
    "error lakehead:maintenance.rules.0.compaction.smallFragments = 1: the value is invalid; expected a whole number from 2 to 1000000",
  ],
  [
    "a pattern of the maintenance with an empty segment",
    "aws",
    { maintenance: { rules: [{ tables: ["prod$$a"] }] } },
    "has an empty segment",
  ],
  [
    "a store's address without a scheme",
    "kubeconfig",
    { database: { uri: "s3://tables", storageOptions: { aws_endpoint: "minio:9000" } } },
    'error lakehead:database.storageOptions.aws_endpoint = "minio:9000": the address has no scheme',
  ],
  [
    "a volume that two pods cannot share",
    "kubeconfig",
    { tableService: { replicas: { max: 3 } } },
    "database.uri is a path on one volume",
  ],
];

describe("a finding for", () => {
  test.each(rows)("%s (%s)", (_, cloud, overrides, said) => {
    const found = findingsFor(cloud, overrides);
    expect(found.find((line) => line.includes(said)) ?? found.join("\n")).toContain(said);
  });
});

describe("no error for", () => {
  test.each(["aws", "gcp", "kubeconfig"] as const)("the required keys of %s, nor a warning", (cloud) => {
    expect(findingsFor(cloud)).toEqual([]);
    expect(configOf(cloud).cloud).toBe(cloud);
  });

  test.each(["aws", "gcp"] as const)("a table service without an image on %s, where the stack builds it", (cloud) => {
    expect(findingsFor(cloud, { tableService: { image: undefined } })).toEqual([]);
  });

  test("a cache of Docker Hub with its account, and on Google Cloud without one", () => {
    const dockerHub = { cache: true, username: "lakehead" };
    expect(findingsFor("aws", { dockerHub }, { secrets: new Set(["dockerHubToken"]) })).toEqual([]);
    expect(findingsFor("gcp", { dockerHub: { cache: true } })).toEqual([]);
  });

  test("a public host with a zone or a certificate", () => {
    const exposure = { mode: "public", host: "tables.example.com" };
    const certificateArn = "arn:aws:acm:eu-central-1:111122223333:certificate/1";
    for (const more of [{ zone: "Z0123456789ABC" }, { certificateArn }])
      expect(findingsFor("aws", { tableService: { exposure: { ...exposure, ...more } } })).toEqual([]);
  });

  test("an unknown machine type with a size, which pods are checked against", () => {
    const head = (memory: string) => ({
      nodes: { head: { instanceTypes: ["zz9.large"], size: { cpus: 8, memory } } },
    });
    expect(findingsFor("aws", head("32Gi"))).toEqual([]);
    expect(findingsFor("aws", head("8Gi"))[0]).toContain("lakehead:ray.head");
  });

  test("one head node, when it holds two heads or the stack creates no RayCluster", () => {
    expect(findingsFor("gcp", { nodes: { head: { machineType: "n2-standard-16", max: 1 } } })).toEqual([]);
    expect(findingsFor("gcp", { nodes: { head: { max: 1 } }, ray: { create: false } })).toEqual([]);
  });

  test("static tokens in place of an issuer", () => {
    const overrides = { tableService: { auth: { issuer: undefined, audience: undefined } } };
    expect(findingsFor("aws", overrides, { secrets: new Set(["staticTokens"]) })).toEqual([]);
  });

  test("the published pairings of GKE and its add-on after the end of standard support", () => {
    for (const kubernetesVersion of ["1.30", "1.31"]) {
      const found = judge(raw("gcp", { kubernetesVersion, operator: { mode: "addon" } }));
      expect(found.every(({ level }) => level === "warning")).toBe(true);
    }
  });

  test("a version whose support ends soon, but a warning", () => {
    const found = findingsFor("aws", { kubernetesVersion: "1.34" }, { today: new Date("2026-11-20") });
    expect(found).toEqual([
      'warning lakehead:kubernetesVersion = "1.34": its standard support ends on 2026-12-02; upgrade to 1.36',
    ]);
  });
});
