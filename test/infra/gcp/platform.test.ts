import protos from "@google-cloud/container/build/protos/protos.json" with { type: "json" };
import { beforeAll, describe, expect, test } from "vitest";
import { objectRole } from "../../../infra/clouds/gcp/bucket-access.ts";
import { nodeRoles } from "../../../infra/clouds/gcp/node-identity.ts";
import { gkeTaintEffects } from "../../../infra/clouds/gcp/node-pool-plan.ts";
import { nodeLabels, nodeTaints, type PoolRole } from "../../../infra/model/roles.ts";
import type { Capture, PlannedResource } from "../../../infra/offline-plan/capture.ts";
import { revealed } from "../kubernetes/manifests.ts";
import { DependencyGraph, ofType } from "../support/graph.ts";
import { runStack } from "../support/stacks.ts";

let prod: Capture;
let adopted: Capture;

beforeAll(async () => {
  [prod, adopted] = await Promise.all([
    runStack("gcp-prod", "update"),
    runStack("gcp-dev", "update", {
      "lakehead:network": {
        mode: "adopt",
        network: "shared-vpc",
        subnetwork: "ray",
        podRange: "ray-pods",
        serviceRange: "ray-services",
      },
      "lakehead:bucket": { name: "existing-tables", create: false },
      "lakehead:operator": { mode: "addon", version: "1.4" },
      "lakehead:endpoint": { dns: false, publicCidrs: ["203.0.113.0/24"] },
      "lakehead:tableService": {
        image: "registry.example.com/lakehead:0.1.0",
        auth: { issuer: "https://login.example.com/", audience: "lakehead" },
        exposure: { mode: "public", host: "tables.example.com", allowedCidrs: ["198.51.100.0/24"] },
      },
    }),
  ]);
  for (const capture of [prod, adopted]) if (capture.failure !== undefined) throw new Error(capture.failure);
}, 60_000);

type Inputs = Record<string, unknown>;
function only(capture: Capture, type: string, name?: string): PlannedResource {
  const found = ofType(capture.resources, type).filter((resource) => name === undefined || resource.name === name);
  const [first] = found;
  if (first === undefined || found.length > 1)
    throw new Error(`${found.length} resources of type ${type} ${name ?? ""}`);
  return first;
}
const inputs = (capture: Capture, type: string, name?: string): Inputs => revealed(only(capture, type, name));

const nodePoolType = "gcp:container/nodePool:NodePool";
const clusterType = "gcp:container/cluster:Cluster";
const pools: readonly (readonly [name: string, role: PoolRole])[] = [
  ["system-pool", "system"],
  ["head-pool", "ray-head"],
  ["cpu-pool", "ray-worker-cpu"],
  ["gpu-pool", "ray-worker-gpu"],
];
interface NodeConfig {
  labels: Record<string, string>;
  taints?: { key: string; value: string; effect: string }[];
  spot: boolean;
  serviceAccount: string;
  oauthScopes: string[];
  diskSizeGb: number;
  workloadMetadataConfig: { mode: string };
  guestAccelerators?: { type: string; count: number; gpuDriverInstallationConfig: { gpuDriverVersion: string } }[];
}
const nodeConfig = (name: string): NodeConfig => inputs(prod, nodePoolType, name).nodeConfig as NodeConfig;

describe("node pools", () => {
  test.each(pools)("%s carries its role's labels and taints, and hides the node's identity from pods", (name, role) => {
    const config = nodeConfig(name);
    expect(config.labels).toEqual(nodeLabels(role));
    expect(config.taints ?? []).toEqual(
      nodeTaints(role).map(({ key, value, effect }) => ({ key, value, effect: gkeTaintEffects[effect] })),
    );
    expect(config.workloadMetadataConfig).toEqual({ mode: "GKE_METADATA" });
    expect(config.serviceAccount).toBe("lancedb-nodes@example-lakehead-prod.iam.gserviceaccount.com");
  });

  test("only workers are spot, and only workers begin and end at nothing", () => {
    const bounds = pools.map(([name]) => {
      const { autoscaling, initialNodeCount } = inputs(prod, nodePoolType, name);
      return { name, spot: nodeConfig(name).spot, ...(autoscaling as Inputs), initialNodeCount };
    });
    expect(bounds).toMatchObject([
      { name: "system-pool", spot: false, totalMinNodeCount: 3, initialNodeCount: 1 },
      { name: "head-pool", spot: false, totalMinNodeCount: 1, initialNodeCount: 1 },
      { name: "cpu-pool", spot: true, totalMinNodeCount: 0, initialNodeCount: 0 },
      { name: "gpu-pool", spot: false, totalMinNodeCount: 0, initialNodeCount: 0 },
    ]);
    for (const [name] of pools) expect(only(prod, nodePoolType, name).ignoreChanges).toEqual(["initialNodeCount"]);
  });

  test("the GPU pool declares its taint, which GKE gives only to later pools, names its GPU and its driver", () => {
    const { guestAccelerators, taints } = nodeConfig("gpu-pool");
    expect(guestAccelerators).toEqual([
      { type: "nvidia-l4", count: 1, gpuDriverInstallationConfig: { gpuDriverVersion: "DEFAULT" } },
    ]);
    expect(taints).toEqual([{ key: "nvidia.com/gpu", value: "present", effect: "NO_SCHEDULE" }]);
  });

  test("no pool waits for another: each takes minutes", () => {
    const graph = new DependencyGraph(prod.resources);
    const all = ofType(prod.resources, nodePoolType);
    expect(all).toHaveLength(4);
    for (const one of all) expect(all.filter(({ urn }) => graph.before(one.urn).has(urn))).toEqual([]);
  });

  test("nodes exist only while they can reach the internet and log: after NAT and grants, gone before them", () => {
    const graph = new DependencyGraph(prod.resources);
    const needs = [
      ...ofType(prod.resources, "gcp:compute/routerNat:RouterNat"),
      ...ofType(prod.resources, "gcp:projects/iAMMember:IAMMember").filter(({ name }) =>
        name.startsWith("node-identity"),
      ),
    ];
    expect(needs).toHaveLength(1 + nodeRoles.length);
    expect(graph.violations(ofType(prod.resources, nodePoolType), needs)).toEqual([]);
  });
});

test("the namespace, and every Ray pod that anyone made in it, is gone before any node is", () => {
  const graph = new DependencyGraph(prod.resources);
  const namespace = ofType(prod.resources, "kubernetes:core/v1:Namespace").filter(({ name }) => name === "namespace");
  const workloads = ofType(
    prod.resources,
    "kubernetes:ray.io/v1:RayCluster",
    "kubernetes:apps/v1:Deployment",
    "kubernetes:batch/v1:CronJob",
    "kubernetes:helm.sh/v3:Release",
  );
  expect([namespace.length, workloads.length]).toEqual([1, 4]);
  expect(graph.violations(namespace, ofType(prod.resources, nodePoolType))).toEqual([]);
  expect(graph.violations(workloads, namespace)).toEqual([]);
});

describe("the cluster", () => {
  test("is private, VPC-native, on its channel, with workload identity and policies that are enforced", () => {
    expect(inputs(prod, clusterType)).toMatchObject({
      name: "lancedb",
      location: "europe-west4",
      networkingMode: "VPC_NATIVE",
      ipAllocationPolicy: { clusterSecondaryRangeName: "pods", servicesSecondaryRangeName: "services" },
      privateClusterConfig: {
        enablePrivateNodes: true,
        enablePrivateEndpoint: true,
        masterIpv4CidrBlock: "172.16.0.16/28",
      },
      releaseChannel: { channel: "REGULAR" },
      minMasterVersion: "1.35",
      workloadIdentityConfig: { workloadPool: "example-lakehead-prod.svc.id.goog" },
      datapathProvider: "ADVANCED_DATAPATH",
      removeDefaultNodePool: true,
      deletionProtection: true,
    });
    expect(inputs(prod, clusterType)).not.toHaveProperty("nodeVersion");
    expect(only(prod, clusterType).protect).toBe(true);
  });

  test("the Ray add-on is off beside the Helm chart", () => {
    expect(inputs(prod, clusterType)).toMatchObject({ addonsConfig: { rayOperatorConfigs: [{ enabled: false }] } });
    expect(ofType(prod.resources, "kubernetes:helm.sh/v3:Release")).toHaveLength(1);
  });

  test("with the add-on there is neither chart nor definitions, and still a RayCluster", () => {
    expect(inputs(adopted, clusterType)).toMatchObject({ addonsConfig: { rayOperatorConfigs: [{ enabled: true }] } });
    expect(ofType(adopted.resources, "kubernetes:helm.sh/v3:Release", "kubernetes:yaml/v2:ConfigGroup")).toEqual([]);
    expect(ofType(adopted.resources, "kubernetes:ray.io/v1:RayCluster")).toHaveLength(1);
  });

  test("an endpoint by address is open to the named networks and to nobody else", () => {
    expect(inputs(adopted, clusterType)).toMatchObject({
      deletionProtection: false,
      privateClusterConfig: { enablePrivateEndpoint: false },
      masterAuthorizedNetworksConfig: {
        cidrBlocks: [{ cidrBlock: "203.0.113.0/24" }],
        gcpPublicCidrsAccessEnabled: false,
      },
      controlPlaneEndpointsConfig: { dnsEndpointConfig: { allowExternalTraffic: false } },
    });
  });

  test("every enumerated value is one that Google's own SDK knows", () => {
    const api = protos.nested.google.nested.container.nested.v1.nested;
    const known = (values: object, value: unknown) => expect(Object.keys(values)).toContain(value);
    const cluster = inputs(prod, clusterType) as Record<string, never> & {
      releaseChannel: { channel: string };
      loggingConfig: { enableComponents: string[] };
      monitoringConfig: { enableComponents: string[] };
      securityPostureConfig: { mode: string; vulnerabilityMode: string };
    };
    known(api.ReleaseChannel.nested.Channel.values, cluster.releaseChannel.channel);
    known(api.DatapathProvider.values, cluster.datapathProvider);
    for (const component of cluster.loggingConfig.enableComponents)
      known(api.LoggingComponentConfig.nested.Component.values, component);
    for (const component of cluster.monitoringConfig.enableComponents)
      known(api.MonitoringComponentConfig.nested.Component.values, component);
    known(api.SecurityPostureConfig.nested.Mode.values, cluster.securityPostureConfig.mode);
    known(api.SecurityPostureConfig.nested.VulnerabilityMode.values, cluster.securityPostureConfig.vulnerabilityMode);
    for (const [name] of pools) {
      const config = nodeConfig(name);
      known(api.WorkloadMetadataConfig.nested.Mode.values, config.workloadMetadataConfig.mode);
      for (const { effect } of config.taints ?? []) known(api.NodeTaint.nested.Effect.values, effect);
      for (const { gpuDriverInstallationConfig } of config.guestAccelerators ?? [])
        known(
          api.GPUDriverInstallationConfig.nested.GPUDriverVersion.values,
          gpuDriverInstallationConfig.gpuDriverVersion,
        );
      const { autoscaling } = inputs(prod, nodePoolType, name) as { autoscaling: { locationPolicy: string } };
      known(api.NodePoolAutoscaling.nested.LocationPolicy.values, autoscaling.locationPolicy);
    }
  });
});

describe("identities", () => {
  const project = "example-lakehead-prod";

  test.each([
    ["runtime-identity-user", "geneva-service-account"],
    ["table-service-identity-user", "table-service"],
  ])("%s: the one Kubernetes account acts as it, once the project's identity pool exists", (name, account) => {
    expect(inputs(prod, "gcp:serviceaccount/iAMMember:IAMMember", name)).toMatchObject({
      role: "roles/iam.workloadIdentityUser",
      member: `serviceAccount:${project}.svc.id.goog[lancedb/${account}]`,
    });
    const grant = only(prod, "gcp:serviceaccount/iAMMember:IAMMember", name);
    const graph = new DependencyGraph(prod.resources);
    expect(graph.violations([grant], [only(prod, clusterType)])).toEqual([]);
  });

  test("each of the three gets at the tables by a grant of its own, on their prefix alone", () => {
    const grants = ofType(prod.resources, "gcp:storage/managedFolderIamMember:ManagedFolderIamMember").map(revealed);
    expect(grants).toHaveLength(3);
    for (const grant of grants) expect(grant).toMatchObject({ role: objectRole, managedFolder: "lance/" });
    expect(grants.map(({ member }) => member).sort()).toEqual(
      ["geneva-client", "geneva-runtime", "lakehead-tables"].map(
        (id) => `serviceAccount:${id}@${project}.iam.gserviceaccount.com`,
      ),
    );
    expect(ofType(prod.resources, "gcp:storage/bucketIAMMember:BucketIAMMember")).toEqual([]);
  });

  test("without a prefix the grants are on the bucket, which is where Google keeps them", () => {
    const grants = ofType(adopted.resources, "gcp:storage/bucketIAMMember:BucketIAMMember").map(revealed);
    expect(grants).toHaveLength(3);
    for (const grant of grants) expect(grant).toMatchObject({ bucket: "existing-tables", role: objectRole });
  });

  test("on the project there are the nodes' roles and the right to describe clusters, and nothing else", () => {
    const roles = new Set(
      [
        ...ofType(prod.resources, "gcp:projects/iAMMember:IAMMember"),
        ...ofType(adopted.resources, "gcp:projects/iAMMember:IAMMember"),
      ].map((grant) => revealed(grant).role),
    );
    expect([...roles].sort()).toEqual([...nodeRoles, "roles/container.clusterViewer"].sort());
  });

  test("people act as the client on that one account, never on the project", () => {
    const impersonators = ofType(prod.resources, "gcp:serviceaccount/iAMMember:IAMMember")
      .map(revealed)
      .filter(({ role }) => role === "roles/iam.serviceAccountTokenCreator");
    expect(impersonators.map(({ member }) => member)).toEqual([
      "group:data-scientists@example.com",
      "serviceAccount:feature-pipelines@example-lakehead-prod.iam.gserviceaccount.com",
    ]);
  });

  test("the client administers the cluster, as the documents ask, unless the configuration narrows it", () => {
    const [binding] = ofType(adopted.resources, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding").filter(
      ({ name }) => name.startsWith("client-access"),
    );
    expect(binding && revealed(binding)).toMatchObject({
      roleRef: { kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "User", name: "geneva-client@example-lakehead-dev.iam.gserviceaccount.com" }],
    });
  });

  test("grants are added, never imposed: no policy or binding that would remove other people's", () => {
    const authoritative = [...prod.resources, ...adopted.resources].filter(({ type }) =>
      /IAM(Policy|Binding)/i.test(type),
    );
    expect(authoritative).toEqual([]);
  });
});

describe("the bucket", () => {
  test("is uniform, closed to the public, versioned and protected, and no destroy empties it", () => {
    expect(inputs(prod, "gcp:storage/bucket:Bucket")).toMatchObject({
      uniformBucketLevelAccess: true,
      publicAccessPrevention: "enforced",
      versioning: { enabled: true },
      forceDestroy: false,
    });
    expect(only(prod, "gcp:storage/bucket:Bucket")).toMatchObject({ protect: true, retainOnDelete: true });
  });

  test("one that exists is used and not touched", () => {
    expect(ofType(adopted.resources, "gcp:storage/bucket:Bucket")).toEqual([]);
    expect(adopted.resources.find(({ kind }) => kind === "stack")?.outputs).toMatchObject({
      databaseUri: "gs://existing-tables",
    });
  });
});

describe("the network", () => {
  test("has ranges for pods and services, and NAT for nodes without addresses", () => {
    expect(inputs(prod, "gcp:compute/subnetwork:Subnetwork")).toMatchObject({
      ipCidrRange: "10.64.0.0/20",
      privateIpGoogleAccess: true,
      secondaryIpRanges: [
        { rangeName: "pods", ipCidrRange: "10.68.0.0/14" },
        { rangeName: "services", ipCidrRange: "10.65.0.0/20" },
      ],
    });
    expect(inputs(prod, "gcp:compute/routerNat:RouterNat")).toMatchObject({ natIpAllocateOption: "AUTO_ONLY" });
  });

  test("one that exists is used as it is", () => {
    expect(
      ofType(
        adopted.resources,
        "gcp:compute/network:Network",
        "gcp:compute/subnetwork:Subnetwork",
        "gcp:compute/router:Router",
      ),
    ).toEqual([]);
    expect(inputs(adopted, clusterType)).toMatchObject({
      network: "shared-vpc",
      subnetwork: "ray",
      ipAllocationPolicy: { clusterSecondaryRangeName: "ray-pods", servicesSecondaryRangeName: "ray-services" },
    });
  });
});

describe("the public endpoint", () => {
  test("probes reach both ports of the nodes that the pools tag", () => {
    const firewall = inputs(prod, "gcp:compute/firewall:Firewall");
    expect(firewall).toMatchObject({
      sourceRanges: ["35.191.0.0/16", "130.211.0.0/22"],
      allows: [{ protocol: "tcp", ports: ["8080", "9090"] }],
    });
    for (const [name] of pools)
      expect(inputs(prod, nodePoolType, name)).toMatchObject({ nodeConfig: { tags: firewall.targetTags } });
  });

  test("networks that may connect become a policy that the back end uses; the whole internet needs none", () => {
    expect(ofType(prod.resources, "gcp:compute/securityPolicy:SecurityPolicy")).toEqual([]);
    const policy = only(adopted, "gcp:compute/securityPolicy:SecurityPolicy");
    expect(revealed(policy)).toMatchObject({
      rules: [
        { action: "allow", match: { config: { srcIpRanges: ["198.51.100.0/24"] } } },
        { action: "deny(403)", priority: 2_147_483_647, match: { config: { srcIpRanges: ["*"] } } },
      ],
    });
    const backend = inputs(adopted, "kubernetes:cloud.google.com/v1:BackendConfig");
    expect(backend).toMatchObject({ spec: { securityPolicy: { name: expect.stringContaining("public-endpoint") } } });
  });

  test("the Ingress is gone before its address and its policies are", () => {
    const graph = new DependencyGraph(prod.resources);
    expect(
      graph.violations(
        ofType(prod.resources, "kubernetes:networking.k8s.io/v1:Ingress"),
        ofType(prod.resources, "gcp:compute/globalAddress:GlobalAddress", "gcp:compute/sSLPolicy:SSLPolicy"),
      ),
    ).toEqual([]);
  });
});
