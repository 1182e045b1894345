import { beforeAll, describe, expect, test } from "vitest";
import { nodeIamRoles } from "../../../infra/clouds/gcp/nodes/node-identity.ts";
import { tableGrants } from "../../../infra/clouds/gcp/storage/bucket-access.ts";
import type { Capture, PlannedResource } from "../../../infra/offline-plan/capture.ts";
import { plaintext } from "../../../infra/offline-plan/values.ts";
import { DependencyGraph, ofType } from "../../support/infra/graph.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { revealed } from "../kubernetes/manifests.ts";
import { textFaults } from "../program/checks/texts.ts";
import { configured } from "../program/suite.ts";

/** A stack that differs from the examples in every choice of the Google Cloud half; a golden plan holds the examples. */
let adopted: Capture;

beforeAll(async () => {
  const nodes = configured("gcp-dev", "nodes");
  adopted = await runStack(
    "gcp-dev",
    "update",
    {
      "lakehead:dockerHub": { cache: true, username: "lakehead" },
      "lakehead:network": {
        mode: "adopt",
        network: "shared-vpc",
        subnetwork: "ray",
        podRange: "ray-pods",
        serviceRange: "ray-services",
      },
      "lakehead:bucket": { name: "existing-tables", create: false },
      // A head more, of the RayCluster for Functions.
      "lakehead:nodes": { ...nodes, head: { ...nodes.head, max: 3 } },
      "lakehead:operator": { mode: "addon", version: "1.4" },
      "lakehead:encryptSecrets": false,
      "lakehead:endpoint": { dns: false, publicCidrs: ["203.0.113.0/24"] },
      "lakehead:tableService": {
        image: "registry.example.com/lakehead:0.2.0",
        auth: { issuer: "https://login.example.com/", audience: "lakehead" },
        writes: true,
        functions: { enabled: true, prefixes: ["docs.lance"] },
        vending: true,
        exposure: {
          mode: "public",
          host: "tables.example.com",
          zone: "projects/dns-host/managedZones/example",
          allowedCidrs: ["198.51.100.0/24"],
        },
      },
    },
    { "lakehead:dockerHubToken": "hub-token" },
  );
  if (adopted.failure !== undefined) throw new Error(adopted.failure);
}, 120_000);

function only(type: string): PlannedResource {
  const [first, ...others] = ofType(adopted.resources, type);
  if (first === undefined || others.length > 0) throw new Error(`${others.length + 1} resources of type ${type}`);
  return first;
}
const inputs = (type: string): Record<string, unknown> => revealed(only(type));
const clusterType = "gcp:container/cluster:Cluster";

test("the texts are those that the cloud accepts", () => expect(textFaults(adopted).findings).toEqual([]));

test("lent tokens are the table service's own, without another account", () => {
  const configMap = adopted.resources.find(({ type, name }) => type.endsWith(":ConfigMap") && name === "table-service");
  expect(configMap?.inputs.data).toMatchObject({
    LAKEHEAD_VENDING: "google",
    LAKEHEAD_DATABASE: "gs://existing-tables",
  });
  expect(configMap?.inputs.data).not.toHaveProperty("LAKEHEAD_VENDING_ROLE");
});

describe("the cluster", () => {
  test("with the Ray add-on has no chart and no definitions, but a RayCluster", () => {
    expect(inputs(clusterType)).toMatchObject({ addonsConfig: { rayOperatorConfigs: [{ enabled: true }] } });
    expect(ofType(adopted.resources, "kubernetes:helm.sh/v3:Release", "kubernetes:yaml/v2:ConfigGroup")).toEqual([]);
    expect(
      ofType(adopted.resources, "kubernetes:ray.io/v1:RayCluster")
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["functions-cluster", "ray-cluster"]);
  });

  test("with publicCidrs has an IP endpoint for those networks only", () => {
    expect(inputs(clusterType)).toMatchObject({
      deletionProtection: false,
      privateClusterConfig: { enablePrivateEndpoint: false },
      masterAuthorizedNetworksConfig: {
        cidrBlocks: [{ cidrBlock: "203.0.113.0/24" }],
        gcpPublicCidrsAccessEnabled: false,
      },
      controlPlaneEndpointsConfig: { dnsEndpointConfig: { allowExternalTraffic: false } },
    });
  });

  test("without encryptSecrets has no key, and Google's own encryption", () => {
    expect(inputs(clusterType)).toMatchObject({ databaseEncryption: { state: "DECRYPTED" } });
    expect(adopted.resources.filter(({ type }) => type.startsWith("gcp:kms/"))).toEqual([]);
  });

  test("in an adopted network creates no network of its own", () => {
    expect(
      ofType(
        adopted.resources,
        "gcp:compute/network:Network",
        "gcp:compute/subnetwork:Subnetwork",
        "gcp:compute/router:Router",
      ),
    ).toEqual([]);
    expect(inputs(clusterType)).toMatchObject({
      network: "shared-vpc",
      subnetwork: "ray",
      ipAllocationPolicy: { clusterSecondaryRangeName: "ray-pods", servicesSecondaryRangeName: "ray-services" },
    });
  });
});

describe("identities", () => {
  test("without a prefix get their grants on the bucket", () => {
    const grants = ofType(adopted.resources, "gcp:storage/bucketIAMMember:BucketIAMMember").map(revealed);
    expect(grants).toHaveLength(4);
    expect(grants).toEqual(grants.map(() => expect.objectContaining({ bucket: "existing-tables" })));
  });

  test("with writes may put and delete objects: the table service no more than that", () => {
    const grants = ofType(adopted.resources, "gcp:storage/bucketIAMMember:BucketIAMMember").map(revealed);
    expect(grants.map(({ member, role }) => [String(member).split(/[:@]/)[1], role]).sort()).toEqual([
      ["geneva-client", "roles/storage.objectAdmin"],
      ["geneva-runtime", "roles/storage.objectAdmin"],
      ["lakehead-maintenance", "roles/storage.objectUser"],
      ["lakehead-tables", "roles/storage.objectUser"],
    ]);
  });

  test("of Functions reach the folders of the stack's key: workers add files of values, the runner keeps the jobs, too", () => {
    const grants = ofType(adopted.resources, "gcp:storage/managedFolderIamMember:ManagedFolderIamMember").map(revealed);
    const seen = grants.map(({ member, role, managedFolder, condition }) => [
      String(member).split(/[:@]/)[1],
      String(role).split(".").at(-1),
      managedFolder,
      (condition as { expression: string } | undefined)?.expression,
    ]);
    const [worker, runner] = ["lakehead-functions", "lakehead-functions-runner"];
    expect(seen.toSorted()).toEqual([
      [worker, "objectCreator", "docs.lance/", 'resource.name.extract("/data/fn-{file}") != ""'],
      [worker, "objectViewer", "docs.lance/", 'resource.name.extract("/_lakehead/{path}") == ""'],
      [runner, "objectUser", "_lakehead/", undefined],
      [runner, "objectUser", "docs.lance/", undefined],
    ]);
    const policies = ofType(adopted.resources, "kubernetes:networking.k8s.io/v1:NetworkPolicy").map(revealed);
    const worked = policies.find(({ metadata }) => (metadata as { name: string }).name === "functions-worker");
    expect(JSON.stringify(worked)).toContain("169.254.169.254/32");
  });

  test("without writes may put and delete only objects of tags", () => {
    expect(tableGrants["read-and-tag"]).toEqual([
      { suffix: "", role: "roles/storage.objectViewer" },
      expect.objectContaining({
        role: "roles/storage.objectUser",
        condition: expect.objectContaining({ expression: 'resource.name.extract("/_refs/tags/{tag}") != ""' }),
      }),
    ]);
  });

  test("have on the project only the nodes' roles and the right to describe clusters", () => {
    const grants = ofType(adopted.resources, "gcp:projects/iAMMember:IAMMember");
    const roles = new Set(grants.map((grant) => revealed(grant).role));
    expect([...roles].sort()).toEqual([...nodeIamRoles, "roles/container.clusterViewer"].sort());
  });

  test("of the client get cluster-admin by default", () => {
    const [binding] = ofType(adopted.resources, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding").filter(
      ({ name }) => name.startsWith("client-access"),
    );
    expect(binding && revealed(binding)).toMatchObject({
      roleRef: { kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "User", name: "geneva-client@example-lakehead-dev.iam.gserviceaccount.com" }],
    });
  });

  test("are granted by members only: a policy or binding would remove the grants of others", () => {
    const grants = adopted.resources.filter(({ type }) => /IAM/i.test(type));
    expect(grants.length).toBeGreaterThan(5);
    expect(grants.filter(({ type }) => !/IAMMember$/i.test(type))).toEqual([]);
  });
});

test("a zone of another project gets the host's record, which points at the reserved address", () => {
  expect(inputs("gcp:dns/recordSet:RecordSet")).toMatchObject({
    project: "dns-host",
    managedZone: "example",
    name: "tables.example.com.",
    type: "A",
  });
  const graph = new DependencyGraph(adopted.resources);
  const [record, address] = [only("gcp:dns/recordSet:RecordSet"), only("gcp:compute/globalAddress:GlobalAddress")];
  expect(graph.violations([record], [address])).toEqual([]);
});

test("a cache of Docker Hub pulls as the configured account, and serves Ray's image", () => {
  const secret = "projects/sample-project/secrets/lancedb-docker-hub";
  expect(inputs("gcp:artifactregistry/repository:Repository")).toMatchObject({
    mode: "REMOTE_REPOSITORY",
    repositoryId: "lancedb-docker-hub",
    remoteRepositoryConfig: {
      upstreamCredentials: {
        usernamePasswordCredentials: { username: "lakehead", passwordSecretVersion: `${secret}/versions/1` },
      },
    },
  });
  expect(inputs("gcp:secretmanager/secretVersion:SecretVersion")).toMatchObject({ secret, secretData: "hub-token" });
  expect([...plaintext(only("gcp:secretmanager/secretVersion:SecretVersion").inputs)].join()).not.toContain(
    "hub-token",
  );
  expect(inputs("gcp:secretmanager/secretIamMember:SecretIamMember")).toMatchObject({
    role: "roles/secretmanager.secretAccessor",
    member: expect.stringContaining("@gcp-sa-artifactregistry.iam.gserviceaccount.com"),
  });
  for (const cluster of ofType(adopted.resources, "kubernetes:ray.io/v1:RayCluster"))
    expect(JSON.stringify(revealed(cluster)), cluster.name).toContain(
      '"image":"europe-west4-docker.pkg.dev/example-lakehead-dev/lancedb-docker-hub/rayproject/ray:2.56.0-py312"',
    );
});

test("an existing bucket is used but not changed", () => {
  expect(ofType(adopted.resources, "gcp:storage/bucket:Bucket")).toEqual([]);
  expect(adopted.resources.find(({ kind }) => kind === "stack")?.outputs).toMatchObject({
    databaseUri: "gs://existing-tables",
  });
});

test("allowed networks of a public endpoint become a Cloud Armor policy of the backend", () => {
  expect(inputs("gcp:compute/securityPolicy:SecurityPolicy")).toMatchObject({
    rules: [
      { action: "allow", match: { config: { srcIpRanges: ["198.51.100.0/24"] } } },
      { action: "deny(403)", priority: 2_147_483_647, match: { config: { srcIpRanges: ["*"] } } },
    ],
  });
  expect(inputs("kubernetes:cloud.google.com/v1:BackendConfig")).toMatchObject({
    spec: { securityPolicy: { name: expect.stringContaining("public-endpoint") }, timeoutSec: 1320 },
  });
});
