import { beforeAll, describe, expect, test } from "vitest";
import type { Capture, PlannedResource } from "../../../infra/offline-plan/capture.ts";
import { ports } from "../../../service/contract.ts";
import { everyKey } from "../../support/infra/every-key.ts";
import { DependencyGraph, ofType } from "../../support/infra/graph.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { revealed } from "../kubernetes/manifests.ts";

const captureOf = async (name: string, change: (exposure: object) => object = (same) => same): Promise<Capture> => {
  const variant = everyKey[name];
  if (variant === undefined) throw new Error(`no variant ${name}`);
  const service = variant.overrides["lakehead:tableService"] as { exposure: object };
  const capture = await runStack(variant.stack, "update", {
    ...variant.overrides,
    "lakehead:tableService": { ...service, exposure: change(service.exposure) },
  });
  if (capture.failure !== undefined) throw new Error(capture.failure);
  return capture;
};
const only = ({ resources }: Capture, type: string, name?: string): PlannedResource => {
  const [first, ...others] = ofType(resources, type).filter((one) => name === undefined || one.name === name);
  if (first === undefined || others.length > 0) throw new Error(`${others.length + 1} resources of type ${type}`);
  return first;
};
const ingress = "kubernetes:networking.k8s.io/v1:Ingress";

let capture: Capture;
beforeAll(async () => {
  capture = await captureOf("gcp: internal, with all keys");
}, 300_000);

describe("TLS inside the network", () => {
  test("is an internal Application Load Balancer with the regional certificate, which refuses plain HTTP", () => {
    expect(revealed(only(capture, ingress))).toMatchObject({
      metadata: {
        annotations: {
          "kubernetes.io/ingress.class": "gce-internal",
          "kubernetes.io/ingress.allow-http": "false",
          "ingress.gcp.kubernetes.io/pre-shared-cert": "tables-2026",
          "kubernetes.io/ingress.regional-static-ip-name": expect.stringContaining("internal-endpoint"),
        },
      },
      spec: { rules: [{ host: "tables.corp.example.com" }] },
    });
    const service = only(capture, "kubernetes:core/v1:Service", "table-service");
    expect(revealed(service)).toMatchObject({
      metadata: { annotations: { "cloud.google.com/neg": '{"ingress":true}' } },
      spec: { type: "ClusterIP" },
    });
    expect(revealed(only(capture, "kubernetes:cloud.google.com/v1:BackendConfig"))).toMatchObject({
      spec: { healthCheck: { requestPath: "/readyz" } },
    });
  });

  test("has the subnetwork of the proxies before the Ingress, and lets the proxies reach the pods", () => {
    const proxies = only(capture, "gcp:compute/subnetwork:Subnetwork", "internal-endpoint-proxies");
    expect(revealed(proxies)).toMatchObject({ purpose: "REGIONAL_MANAGED_PROXY", role: "ACTIVE" });
    const graph = new DependencyGraph(capture.resources);
    expect(graph.violations([only(capture, ingress)], [proxies])).toEqual([]);
    expect(revealed(only(capture, "gcp:compute/firewall:Firewall"))).toMatchObject({
      sourceRanges: expect.arrayContaining(["10.42.16.0/23", "35.191.0.0/16"]),
      allows: [{ protocol: "tcp", ports: [String(ports.api), String(ports.operations)] }],
    });
  });

  test("gives the reserved address and the host's URL as outputs", () => {
    const { outputs } = capture.resources.find(({ kind }) => kind === "stack") ?? {};
    expect(outputs).toMatchObject({ tableServiceUrl: "https://tables.corp.example.com" });
    expect(outputs).toHaveProperty("tableServiceAddress");
  });

  test("is published by Private Service Connect to the listed projects, once the forwarding rule exists", () => {
    const attachment = only(capture, "gcp:compute/serviceAttachment:ServiceAttachment");
    expect(revealed(attachment)).toMatchObject({
      connectionPreference: "ACCEPT_MANUAL",
      targetService: expect.stringMatching(/regions\/europe-west4\/forwardingRules\//),
      consumerAcceptLists: [{ projectIdOrNum: "analytics-prod", connectionLimit: 10 }],
    });
    const nat = only(capture, "gcp:compute/subnetwork:Subnetwork", "service-connect");
    expect(revealed(nat)).toMatchObject({ purpose: "PRIVATE_SERVICE_CONNECT", ipCidrRange: "10.42.18.0/24" });
    const graph = new DependencyGraph(capture.resources);
    expect(graph.violations([attachment], [only(capture, ingress), nat])).toEqual([]);
  });
});

describe("Cloud Armor's rules against attacks", () => {
  const rulesOf = (capture: Capture) => revealed(only(capture, "gcp:compute/securityPolicy:SecurityPolicy")).rules;

  test("refuse before a network is admitted, which the limit does itself", async () => {
    const rules = rulesOf(await captureOf("gcp: public, with all keys")) as { priority: number; action: string }[];
    expect(rules.map(({ priority, action }) => [priority, action])).toEqual([
      [100, "deny(403)"],
      [101, "deny(403)"],
      [102, "deny(403)"],
      [1000, "throttle"],
      [2_147_483_647, "deny(403)"],
    ]);
    expect(rules[1]).toMatchObject({
      match: { expr: { expression: "evaluatePreconfiguredWaf('scannerdetection-v33-stable', {'sensitivity': 1})" } },
    });
    expect(rules[3]).toMatchObject({
      match: { config: { srcIpRanges: ["198.51.100.0/24"] } },
      rateLimitOptions: { exceedAction: "deny(429)", rateLimitThreshold: { count: 600, intervalSec: 60 } },
    });
  }, 300_000);

  test("admit everybody where no network is named, and give way to a policy of the user's own", async () => {
    const host = { mode: "public", host: "tables.example.com" };
    const open = rulesOf(await captureOf("gcp: public, with all keys", () => ({ ...host, waf: {} }))) as object[];
    expect(open.at(-2)).toMatchObject({ action: "allow", match: { config: { srcIpRanges: ["*"] } } });
    const own = await captureOf("gcp: public, with all keys", () => ({ ...host, waf: { securityPolicy: "edge" } }));
    expect(ofType(own.resources, "gcp:compute/securityPolicy:SecurityPolicy")).toEqual([]);
    expect(revealed(only(own, "kubernetes:cloud.google.com/v1:BackendConfig"))).toMatchObject({
      spec: { securityPolicy: { name: "edge" } },
    });
  }, 300_000);
});

describe("the bucket of the tables", () => {
  test("is in two regions with the key", () =>
    expect(revealed(only(capture, "gcp:storage/bucket:Bucket", "bucket"))).toMatchObject({
      location: "EU",
      customPlacementConfig: { dataLocations: ["EUROPE-WEST4", "EUROPE-WEST1"] },
      rpo: "ASYNC_TURBO",
    }));

  test("has its reads and writes in the project's audit logs with the key", () =>
    expect(revealed(only(capture, "gcp:projects/iAMAuditConfig:IAMAuditConfig"))).toMatchObject({
      service: "storage.googleapis.com",
      auditLogConfigs: [{ logType: "DATA_READ" }, { logType: "DATA_WRITE" }],
    }));
});

describe("node pools to fall back to", () => {
  let outside: Capture;
  beforeAll(async () => {
    outside = await captureOf("gcp: public, with all keys");
  }, 300_000);
  const pools = (key: string) =>
    ofType(outside.resources, "gcp:container/nodePool:NodePool").filter(({ name }) => name.startsWith(`${key}-pool`));

  test("have the labels and taints of their role, and machines of their own", () => {
    const [first, ...fallbacks] = pools("gpu").map(revealed);
    expect(fallbacks).toMatchObject([
      {
        nodeConfig: {
          machineType: "g2-standard-16",
          spot: false,
          flexStart: true,
          maxRunDuration: "86400s",
          guestAccelerators: [{ type: "nvidia-l4", count: 1 }],
        },
        management: { autoRepair: false },
      },
      {
        nodeConfig: { machineType: "a2-highgpu-1g", guestAccelerators: [{ type: "nvidia-tesla-a100", count: 1 }] },
        autoscaling: { totalMinNodeCount: 0, totalMaxNodeCount: 1 },
      },
    ]);
    expect(first).toMatchObject({
      nodeConfig: { spot: true, labels: { "cloud.google.com/compute-class": "ray-worker-gpu" } },
    });
    const shared = ({ nodeConfig }: Record<string, unknown>) => {
      const { labels, taints } = nodeConfig as Record<string, unknown>;
      return { labels, taints };
    };
    for (const pool of fallbacks) expect(shared(pool)).toEqual(shared(first ?? {}));
  });

  test("are ordered by a ComputeClass, which the pods of the role select and tolerate", () => {
    const custom = ofType(outside.resources, "kubernetes:cloud.google.com/v1:ComputeClass");
    const names = custom.map(({ name }) => name);
    expect(names).toEqual(["compute-class-ray-worker-cpu", "compute-class-ray-worker-gpu"]);
    expect(revealed(only(outside, "kubernetes:cloud.google.com/v1:ComputeClass", names[1]))).toMatchObject({
      metadata: { name: "ray-worker-gpu" },
      spec: { priorities: pools("gpu").map(() => ({ nodepools: [expect.any(String)] })) },
    });
    const cluster = JSON.stringify(revealed(only(outside, "kubernetes:ray.io/v1:RayCluster")));
    expect(cluster).toContain('"cloud.google.com/compute-class":"ray-worker-cpu"');
    expect(cluster).toContain('"key":"cloud.google.com/compute-class"');
  });
});

test("the history of RayClusters has a bucket of its own, which Ray's pods write and the server reads", () => {
  const name = "example-lakehead-dev-ray-history";
  const [bucket] = ofType(capture.resources, "gcp:storage/bucket:Bucket")
    .map(revealed)
    .filter((one) => one.name === name);
  expect(bucket).toMatchObject({
    publicAccessPrevention: "enforced",
    lifecycleRules: [{ action: { type: "Delete" }, condition: { age: 30 } }],
  });
  const grants = ofType(capture.resources, "gcp:storage/bucketIAMMember:BucketIAMMember").map(revealed);
  const own = grants.filter((grant) => grant.bucket === name).map(({ role, member }) => [role, member]);
  expect(own).toEqual([
    ["roles/storage.objectViewer", expect.stringContaining("serviceAccount:lakehead-history@")],
    ["roles/storage.objectUser", expect.stringContaining("serviceAccount:geneva-runtime@")],
  ]);
});
