import { describe, expect, test } from "vitest";
import { parseConfig } from "../../../infra/config/parse.ts";
import { ConfigError } from "../../../infra/config/report.ts";
import { configOf, findingsFor, judge, minimal, raw, someDay } from "./minimal.ts";

const message = (value: unknown): string => {
  try {
    parseConfig(value, { today: someDay });
  } catch (cause) {
    if (cause instanceof ConfigError) return cause.message;
    throw cause;
  }
  return "accepted";
};

describe("a bad configuration", () => {
  test("is told of whole: each key, its value and what to write", () => {
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
  lakehead:region = "frankfurt": the value does not fit; expected an AWS region such as eu-central-1
  lakehead:account = 111122223333: the value does not fit; expected the account's id in quotes, such as "111122223333"
  lakehead:deployerArn is missing: the key is required; expected an ARN such as arn:aws:iam::111122223333:role/team/deployer
  lakehead:nodes.head.min = 0: the value does not fit; expected at least 1
  lakehead:nodes.head.spot = true: the value does not fit; expected false: losing this node ends every job
  lakehead:nodes.cpu.maximum = 3: there is no such key; remove it, or correct it by docs/stack-configuration.md
  lakehead:ray.head.memory = 8: the value does not fit; expected a quantity with its unit, such as "8Gi"`);
  });

  test("has its errors between keys told beside its errors of form", () => {
    const findings = judge(raw("aws", { region: "frankfurt", nodes: { cpu: { min: 50 } } }));
    expect(findings.map(({ key }) => key)).toEqual(["region", "nodes.cpu.min"]);
  });

  test("of a missing bucket and a wrong region still has its pods judged, and nothing judged by made-up values", () => {
    const { bucket: _, ...rest } = raw("aws", {
      region: "frankfurt",
      nodes: { head: { instanceTypes: ["m7i.xlarge"] } },
    });
    expect(judge(rest).map(({ key }) => key)).toEqual(["region", "bucket", "ray.head"]);
    const china = { deployerArn: "arn:aws-cn:iam::111122223333:role/deployer" };
    expect(judge(raw("aws", { ...china, region: "peking" })).map(({ key }) => key)).toEqual(["region"]);
  });

  test("without a cloud names the three", () => {
    expect(message({})).toContain(
      "lakehead:cloud is missing: the key is required; expected one of aws, gcp, kubeconfig",
    );
    expect(message({ cloud: "azure" })).toContain('lakehead:cloud = "azure"');
  });

  test("shortens a long value", () => {
    expect(message({ ...minimal.aws, region: "x".repeat(500) }).length).toBeLessThan(400);
  });

  test("of another cloud's keys is refused: there is nothing that GKE does with a device plugin of ours", () => {
    expect(findingsFor("gcp", { devicePlugin: { mode: "install" } })[0]).toContain("devicePlugin");
    expect(findingsFor("gcp", { devicePlugin: {} })[0]).toContain("there is no such key");
  });
});

/** cloud, what is laid over the minimal configuration, what must be said first. */
type Row = [name: string, cloud: "aws" | "gcp" | "kubeconfig", overrides: Record<string, unknown>, said: string];

const rows: Row[] = [
  [
    "a head that fits no node",
    "aws",
    { nodes: { head: { instanceTypes: ["m7i.xlarge"] } } },
    `error lakehead:ray.head = {"cpus":5,"memory":"9Gi"}: the head (with the autoscaler sidecar's 1 CPU and 1Gi) asks for 5 CPUs, 9Gi, a node of nodes.head has 3.67 CPUs, 13Gi for it; ask for less, or set nodes.head to c7i.2xlarge (7.66 CPUs, 13Gi), the smallest that does`,
  ],
  [
    "a GPU worker that fits no node, on Google Cloud",
    "gcp",
    { nodes: { gpu: { machineType: "g2-standard-8" } } },
    `error lakehead:ray.gpuWorkers = {"cpus":8,"memory":"16Gi"}: a pod of worker group gpu asks for 8 CPUs, 16Gi, 1 GPU, a node of nodes.gpu has 7.46 CPUs, 27.7Gi, 1 GPU for it; ask for less, or set nodes.gpu to g2-standard-12 (11.45 CPUs, 42.7Gi, 1 GPU), the smallest that does`,
  ],
  [
    "a pod that fits no machine at all",
    "aws",
    { ray: { cpuWorkers: { cpus: 500 } }, quota: { enabled: false } },
    "split the work into smaller pods: no machine holds it",
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
    "a pod of the table service asks for 1 CPUs, 32Gi, a node of nodes.system has",
  ],
  [
    "instance types of different size",
    "aws",
    { nodes: { cpu: { instanceTypes: ["c7i.4xlarge", "m7i.4xlarge"] } } },
    'error lakehead:nodes.cpu.instanceTypes = ["c7i.4xlarge","m7i.4xlarge"]: the types differ in size, and the autoscaler judges a whole group by one node; list types of equal CPUs, memory, GPUs and architecture',
  ],
  [
    "an instance type that nobody knows",
    "aws",
    { nodes: { system: { instanceTypes: ["zz9.large"] } } },
    'error lakehead:nodes.system.instanceTypes = "zz9.large": its size is not known here',
  ],
  [
    "a GPU pool without GPUs",
    "aws",
    { nodes: { gpu: { instanceTypes: ["m7i.4xlarge"] } } },
    'error lakehead:nodes.gpu.instanceTypes = "m7i.4xlarge": it has no GPU; take one with GPUs',
  ],
  [
    "a GPU whose name GKE wants and nobody knows",
    "gcp",
    { nodes: { gpu: { machineType: "z9-highgpu-1g", size: { cpus: 16, memory: "64Gi", gpus: 1 } } } },
    "error lakehead:nodes.gpu.accelerator is missing: what GPU z9-highgpu-1g has is not known here",
  ],
  [
    "GPUs where no GPU work runs",
    "gcp",
    { nodes: { cpu: { machineType: "g2-standard-16" } } },
    'error lakehead:nodes.cpu.machineType = "g2-standard-16": its GPUs would stand idle',
  ],
  [
    "GPUs that nothing makes known to Kubernetes",
    "aws",
    { devicePlugin: { mode: "existing" } },
    'warning lakehead:devicePlugin.mode = "existing": a new cluster has no device plugin, and without one no node has a GPU to give',
  ],
  [
    "a disk that GPU images fill",
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
    "more workers at the least than the pool holds",
    "aws",
    { ray: { cpuWorkers: { minReplicas: 50, maxReplicas: 60 } }, quota: { enabled: false } },
    "error lakehead:ray.cpuWorkers.minReplicas = 50: the pool can never hold so many; raise nodes.cpu.max, which makes room for 30 pods, or lower it",
  ],
  [
    "more workers at the most than the pool holds",
    "aws",
    { ray: { cpuWorkers: { maxReplicas: 60 } }, quota: { enabled: false } },
    "warning lakehead:ray.cpuWorkers.maxReplicas = 60: the pool cannot hold so many",
  ],
  [
    "more table service pods than the system nodes hold",
    "aws",
    { tableService: { replicas: { min: 2, max: 40 } } },
    "warning lakehead:tableService.replicas.max = 40: the pool cannot hold so many; raise nodes.system.max, which makes room for 6 pods, or lower it",
  ],
  [
    "fewer table service pods at the most than at the least",
    "aws",
    { tableService: { replicas: { min: 4, max: 2 } } },
    "error lakehead:tableService.replicas.min = 4: more than tableService.replicas.max, which is 2; lower it, or raise the other",
  ],
  [
    "a Kubernetes version without support",
    "aws",
    { kubernetesVersion: "1.29" },
    'error lakehead:kubernetesVersion = "1.29": the provider\'s standard support does not cover it; write one of 1.34, 1.35, 1.36',
  ],
  [
    "a version that YAML read as a number",
    "aws",
    { kubernetesVersion: 1.35 },
    'a version in quotes, such as "1.35": unquoted, YAML reads it as a number',
  ],
  [
    "an operator below the runtime's floor",
    "aws",
    { operator: { version: "1.0.0" } },
    'error lakehead:operator.version = "1.0.0": the runtime needs KubeRay 1.1.0 or later; write "1.7.1"',
  ],
  [
    "an operator that ignores what the client asks for",
    "aws",
    { operator: { version: "1.3.2" } },
    'warning lakehead:operator.version = "1.3.2": below 1.4.0 KubeRay ignores the autoscaler version',
  ],
  [
    "Ray below the runtime's floor",
    "aws",
    { ray: { version: "2.42.1" } },
    'error lakehead:ray.version = "2.42.1": the runtime needs Ray 2.43.0 or later; write "2.56.0"',
  ],
  ["Ray with a known hole", "aws", { ray: { version: "2.50.0" } }, "CVE-2026-27482 is fixed in Ray 2.54.0"],
  [
    "an operator that is there, of unknown version",
    "aws",
    { operator: { mode: "existing" } },
    "error lakehead:operator.version is missing: needed with operator.mode existing; write the version of the operator that runs in the cluster",
  ],
  [
    "an add-on without a published pairing",
    "gcp",
    { operator: { mode: "addon" } },
    "error lakehead:operator.version is missing: no operator version is published for GKE 1.35's add-on (only 1.30 with 1.1, 1.31 with 1.2); use operator.mode helm, or write the version that the add-on of your clusters brings",
  ],
  [
    "an add-on with another version than it brings",
    "gcp",
    { kubernetesVersion: "1.31", operator: { mode: "addon", version: "1.7.1" } },
    'error lakehead:operator.version = "1.7.1": GKE 1.31\'s add-on brings 1.2; leave it out, or write "1.2"',
  ],
  [
    "the add-on on EKS",
    "aws",
    { operator: { mode: "addon" } },
    'lakehead:operator.mode = "addon": the value does not fit',
  ],
  [
    "tokens that the versions do not know",
    "aws",
    { operator: { version: "1.4.0" }, ray: { auth: "token", version: "2.54.0" } },
    "token authentication needs KubeRay 1.5.1 (the operator's is 1.4.0)",
  ],
  [
    "ranges that overlap",
    "gcp",
    { network: { mode: "create", serviceCidr: "10.44.0.0/20" } },
    'error lakehead:network.serviceCidr = "10.44.0.0/20": it overlaps network.podCidr; write networks apart',
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
    "10.42.0.0/26 is too small for 3 zones; give a network of /24 or larger",
  ],
  ["a network too large for a VPC", "aws", { network: { mode: "create", cidr: "10.0.0.0/8" } }, "a /16 at the largest"],
  [
    "a pool in a zone that the network lacks",
    "aws",
    { nodes: { gpu: { zones: ["d"] } } },
    'error lakehead:nodes.gpu.zones = ["d"]: the network has no zone d; add it to network.zones',
  ],
  [
    "nodes without a way out",
    "aws",
    { network: { mode: "create", nat: "none" } },
    'warning lakehead:network.nat = "none": nodes reach AWS alone',
  ],
  [
    "a Kubernetes API that its own first up does not reach",
    "aws",
    { endpoint: { publicCidrs: [] } },
    "its first `up` does not; list the address that you deploy from",
  ],
  [
    "a Kubernetes API that the internet reaches",
    "gcp",
    { endpoint: { publicCidrs: ["0.0.0.0/0"] } },
    "the whole internet reaches the Kubernetes API's login",
  ],
  [
    "a control plane range of a size that GKE refuses",
    "gcp",
    { network: { mode: "create", controlPlaneCidr: "172.16.0.0/24" } },
    "GKE takes a /28 only",
  ],
  [
    "an ARN of another partition",
    "aws",
    { region: "us-gov-west-1" },
    'error lakehead:deployerArn = "arn:aws:iam::111122223333:role/deployer": us-gov-west-1 is in the partition aws-us-gov; write an ARN that begins arn:aws-us-gov:',
  ],
  [
    "a principal by a wildcard",
    "aws",
    { client: { principals: ["arn:aws:iam::111122223333:role/*"] } },
    "the full ARN of an IAM role or user",
  ],
  [
    "a key without its encryption",
    "aws",
    { bucket: { kmsKeyArn: "arn:aws:kms:eu-central-1:111122223333:key/1" } },
    "a key has no meaning with bucket.encryption AES256",
  ],
  [
    "tables that are protected and free to be deleted",
    "gcp",
    { bucket: { forceDestroy: true } },
    "error lakehead:bucket.forceDestroy = true: the tables would be protected and free to be deleted at once; write false, or protect: false as well",
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
    "lakehead:tableService.exposure.certificateArn is missing: the key is required",
  ],
  [
    "a table service without an image",
    "aws",
    { tableService: { image: undefined } },
    "error lakehead:tableService.image is missing: the table service has no image; build the Dockerfile",
  ],
  [
    "an image that moves",
    "aws",
    { tableService: { image: "registry.example.com/lakehead:latest" } },
    "a tag that does not move, unlike latest",
  ],
  [
    "a table service that nobody can call",
    "aws",
    { tableService: { auth: { issuer: undefined } } },
    "error lakehead:tableService.auth.issuer is missing: nobody could be let in",
  ],
  [
    "an issuer whose every token is let in",
    "aws",
    { tableService: { auth: { audience: undefined } } },
    "any token of the issuer, for whatever service, would be let in",
  ],
  [
    "an issuer without TLS",
    "aws",
    { tableService: { auth: { issuer: "http://login.example.com/" } } },
    "an https:// URL",
  ],
  [
    "a quota below what the stack needs",
    "aws",
    { quota: { memory: "4Gi" } },
    'error lakehead:quota.memory = "4Gi": the stack\'s own pods ask for 13Gi at the least',
  ],
  [
    "a quota below what the stack can grow to",
    "aws",
    { quota: { gpus: 1 } },
    "warning lakehead:quota.gpus = 1: the stack's own pods ask for 4 at the most; write 4 or more",
  ],
  ["worker groups of one name", "aws", { ray: { gpuWorkers: { name: "cpu" } } }, "both worker groups have this name"],
  [
    "an operator that dies with the namespace of its clusters",
    "aws",
    { operator: { namespace: "lancedb" } },
    "the operator would live in the runtime's namespace and be deleted with it",
  ],
  [
    "one identity for two workloads",
    "gcp",
    { tableServiceAccountId: "geneva-runtime" },
    "the runtime, the table service and the client would share an identity",
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
    "write one of at most 67 characters",
  ],
  [
    "a viewer who is the deployer",
    "aws",
    { viewerArns: ["arn:aws:iam::111122223333:role/deployer"] },
    'error lakehead:viewerArns = "arn:aws:iam::111122223333:role/deployer": it has an access entry already, and EKS takes one for each principal; leave it out',
  ],
  [
    "a viewer listed twice",
    "aws",
    { viewerArns: ["arn:aws:iam::111122223333:role/a", "arn:aws:iam::111122223333:role/a"] },
    'error lakehead:viewerArns = "arn:aws:iam::111122223333:role/a": it has an access entry already',
  ],
  [
    "an auditor who is a viewer",
    "aws",
    {
      viewerArns: ["arn:aws:iam::111122223333:role/a"],
      auditorArns: ["arn:aws:iam::111122223333:role/a"],
    },
    'error lakehead:auditorArns = "arn:aws:iam::111122223333:role/a": it has an access entry already',
  ],
  [
    "a tag that is no label on Google Cloud",
    "gcp",
    { tags: { team: "Data Platform" } },
    'error lakehead:tags.team = "Data Platform": Google Cloud\'s labels take no such value; use lower-case letters, digits, - and _',
  ],
  [
    "endpoints whose names are not known",
    "aws",
    {
      region: "cn-north-1",
      deployerArn: "arn:aws-cn:iam::111122223333:role/deployer",
      network: { mode: "create", nat: "none" },
    },
    'error lakehead:network.nat = "none": the interface endpoints of AWS in China have names of their own',
  ],
  ["a reserved label prefix", "aws", { labelPrefix: "node.kubernetes.io" }, "kubernetes.io and k8s.io are reserved"],
  [
    "restrictions that an unknown ingress cannot keep",
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
    "no annotation for this works on every IngressClass",
  ],
  [
    "a cleanup without an image",
    "aws",
    { tableService: { enabled: false } },
    "error lakehead:orphanCleanup.image is missing: without a table service there is no image to run the cleanup with",
  ],
  [
    "a store's address without a scheme",
    "kubeconfig",
    { database: { uri: "s3://tables", storageOptions: { aws_endpoint: "minio:9000" } } },
    'error lakehead:database.storageOptions.aws_endpoint = "minio:9000": it is no address with a scheme',
  ],
  [
    "a volume that two pods cannot share",
    "kubeconfig",
    { tableService: { replicas: { max: 3 } } },
    "a path is on one volume",
  ],
];

describe("is refused, or doubted:", () => {
  test.each(rows)("%s (%s)", (_, cloud, overrides, said) => {
    const found = findingsFor(cloud, overrides);
    expect(found.find((line) => line.includes(said)) ?? found.join("\n")).toContain(said);
  });
});

describe("is accepted:", () => {
  test.each(["aws", "gcp", "kubeconfig"] as const)("the least of %s, without a warning", (cloud) => {
    expect(findingsFor(cloud)).toEqual([]);
    expect(configOf(cloud).cloud).toBe(cloud);
  });

  test("a machine type that is not known, by its size, which pods are judged by", () => {
    const head = (memory: string) => ({
      nodes: { head: { instanceTypes: ["zz9.large"], size: { cpus: 8, memory } } },
    });
    expect(findingsFor("aws", head("32Gi"))).toEqual([]);
    expect(findingsFor("aws", head("8Gi"))[0]).toContain("lakehead:ray.head");
  });

  test("static tokens in place of an issuer", () => {
    const overrides = { tableService: { auth: { issuer: undefined, audience: undefined } } };
    expect(findingsFor("aws", overrides, { secrets: new Set(["staticTokens"]) })).toEqual([]);
  });

  test("the documents' pairings of GKE and its add-on, though Google's standard support is over", () => {
    for (const kubernetesVersion of ["1.30", "1.31"]) {
      const found = judge(raw("gcp", { kubernetesVersion, operator: { mode: "addon" } }));
      expect(found.every(({ level }) => level === "warning")).toBe(true);
    }
  });

  test("a version whose support ends, with a word about it", () => {
    const found = findingsFor("aws", { kubernetesVersion: "1.34" }, { today: new Date("2026-11-20") });
    expect(found).toEqual([
      'warning lakehead:kubernetesVersion = "1.34": its standard support ends on 2026-12-02; move to 1.36 in time',
    ]);
  });
});
