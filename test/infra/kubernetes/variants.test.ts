import { beforeAll, describe, expect, test } from "vitest";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import { planOf } from "../../../infra/offline-plan/plan.ts";
import { plaintext } from "../../../infra/offline-plan/values.ts";
import { client } from "../../../infra/versions.ts";
import { readMaintenanceConfig } from "../../../service/config/config.ts";
import { environment, maintenanceEntry } from "../../../service/contract.ts";
import { DependencyGraph, ofType } from "../../support/infra/graph.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { type Manifest, manifests, one } from "./manifests.ts";

const service = {
  image: "lakehead:0.2.0",
  cpus: 0.5,
  memory: "1Gi",
  auth: { issuer: "https://login.example.com:8443/", audience: "lakehead-local" },
};

let exposed: Capture;
let bare: Capture;
let queued: Capture;
let internal: Manifest[];
let open: Manifest[];

beforeAll(async () => {
  [exposed, bare, queued] = await Promise.all([
    runStack(
      "local",
      "update",
      {
        "lakehead:tableService": {
          ...service,
          exposure: {
            mode: "public",
            host: "tables.example.com",
            ingressClass: "nginx",
            tlsSecret: "tables-tls",
            annotations: { "nginx.ingress.kubernetes.io/proxy-body-size": "0" },
          },
        },
        "lakehead:imagePullSecrets": ["registry"],
        "lakehead:ray": {
          head: { cpus: 1, memory: "2Gi", ephemeralStorage: "4Gi" },
          cpuWorkers: { cpus: 2, memory: "6Gi", ephemeralStorage: "4Gi", maxReplicas: 1 },
          auth: "token",
        },
        "lakehead:database": {
          uri: "s3://tables/prod",
          storageOptions: { aws_endpoint_url: "http://minio.storage.svc:9000" },
        },
        "lakehead:maintenance": {
          enabled: true,
          memory: "2Gi",
          minutes: 60,
          ray: { gigabytes: 20 },
          rules: [{ tables: ["prod$**"], cleanup: { olderThanHours: 168 } }],
        },
      },
      { "lakehead:storageOptions": '{"aws_secret_access_key":"very-secret"}' },
    ),
    runStack("local", "update", {
      "lakehead:tableService": {
        ...service,
        exposure: { mode: "internal", allowedCidrs: ["10.1.0.0/16"] },
        writes: true,
      },
      "lakehead:operator": { mode: "existing", version: "1.6.0" },
      "lakehead:networkPolicies": "false",
      "lakehead:orphanCleanup": { enabled: false },
      "lakehead:maintenance": { enabled: false },
      "lakehead:quota": { enabled: false },
    }),
    runStack("local", "update", { "lakehead:quota": { cpus: 12, memory: "24Gi", queue: { mode: "install" } } }),
  ]);
  for (const capture of [exposed, bare, queued]) if (capture.failure !== undefined) throw new Error(capture.failure);
  internal = manifests(bare);
  open = manifests(exposed);
}, 60_000);

describe("exposure outside the clouds", () => {
  test("a change of the mode replaces a load balancer's Service instead of updating it", () => {
    const before = planOf(bare);
    const after = structuredClone(before);
    const service = after.entries.find(({ type }) => type === "kubernetes:core/v1:Service");
    Object.assign(service?.inputs.spec as object, { type: "ClusterIP" });
    const [step, ...others] = diffPlans(before, after).resources;
    expect(step).toMatchObject({ op: "replace", type: "kubernetes:core/v1:Service" });
    expect(others).toEqual([]);
    expect(service?.options).toMatchObject({ deleteBeforeReplace: true, replaceOnChanges: ["spec.type"] });
  });

  test("public: an Ingress with the configured class and TLS secret", () => {
    expect(one(open, "Ingress").body.spec).toMatchObject({
      ingressClassName: "nginx",
      tls: [{ hosts: ["tables.example.com"], secretName: "tables-tls" }],
      rules: [{ host: "tables.example.com" }],
    });
    expect(one(open, "Service").body.spec.type).toBe("ClusterIP");
    expect(exposed.resources.find(({ kind }) => kind === "stack")?.outputs).toMatchObject({
      tableServiceUrl: "https://tables.example.com",
      tableServiceAddress: expect.stringMatching(/^[0-9a-f]+\.elb\.example\.com$/),
    });
  });

  test("public: the configured annotations are the Ingress's", () => {
    expect(one(open, "Ingress").body.metadata.annotations).toMatchObject({
      "nginx.ingress.kubernetes.io/proxy-body-size": "0",
    });
  });

  test("internal: a load balancer that admits the allowed networks", () => {
    expect(one(internal, "Service").body.spec).toMatchObject({
      type: "LoadBalancer",
      loadBalancerSourceRanges: ["10.1.0.0/16"],
    });
    expect(internal.filter(({ kind }) => kind === "Ingress")).toEqual([]);
    const outputs = bare.resources.find(({ kind }) => kind === "stack")?.outputs;
    expect(outputs?.tableServiceUrl).toBe(`http://${outputs?.tableServiceAddress}`);
  });
});

const named = (kind: string, start: string) =>
  open.filter((object) => object.kind === kind && object.metadata.name.startsWith(start));

test("pods pull with the configured secrets, Ray's and those of the service", () => {
  const accounts = open.filter(({ kind }) => kind === "ServiceAccount");
  expect(accounts.length).toBeGreaterThan(2);
  for (const { body } of accounts) expect(body.imagePullSecrets).toEqual([{ name: "registry" }]);
  for (const { kind, body } of internal)
    if (kind === "ServiceAccount") expect(body).not.toHaveProperty("imagePullSecrets");
});

describe("a database in an object store", () => {
  test("needs no volume, and has several pods with rolling updates", () => {
    expect(open.filter(({ kind }) => kind === "PersistentVolumeClaim")).toEqual([]);
    expect(one(open, "HorizontalPodAutoscaler").body.spec.scaleTargetRef.kind).toBe("Deployment");
    expect(one(open, "Deployment").body.spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  });

  test("has public and secret options in the Secret, and none in the ConfigMap", () => {
    const [secret] = named("Secret", "table-service");
    expect(JSON.parse(secret?.body.stringData[environment.storageOptions])).toEqual({
      aws_endpoint_url: "http://minio.storage.svc:9000",
      aws_secret_access_key: "very-secret",
    });
    const settings = named("ConfigMap", "table-service");
    expect(settings).toHaveLength(1);
    expect(settings[0]?.body.data).not.toHaveProperty(environment.storageOptions);
  });

  test("has the store's and the issuer's ports in the policy's egress", () => {
    const ports = one(open, "NetworkPolicy", "table-service").body.spec.egress.flatMap(
      (rule: { ports: { port: number }[] }) => rule.ports.map(({ port }) => port),
    );
    expect(ports).toEqual(expect.arrayContaining([53, 443, 8443, 9000]));
  });
});

describe("writes", () => {
  const pod = (list: Manifest[]) => one(list, "Deployment").body.spec.template.spec;
  const settings = (list: Manifest[]) =>
    list.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name.startsWith("table-service"))?.body.data;

  test("are served only where the stack says so", () => {
    expect(settings(internal)).toMatchObject({ [environment.writes]: "on" });
    expect(settings(open)).not.toHaveProperty(environment.writes);
  });

  test("have local disk for bodies and indices, beside a root file system that stays read-only", () => {
    const disk = (list: Manifest[]) => {
      const { containers, volumes } = pod(list);
      const { resources, securityContext } = containers[0];
      return {
        temporary: volumes.find(({ name }: { name: string }) => name === "tmp").emptyDir.sizeLimit,
        request: resources.requests["ephemeral-storage"],
        limit: resources.limits["ephemeral-storage"],
        readOnly: securityContext.readOnlyRootFilesystem,
      };
    };
    expect(disk(internal)).toEqual({ temporary: "6Gi", request: "7Gi", limit: "7Gi", readOnly: true });
    expect(disk(open)).toEqual({ temporary: "1Gi", request: "2Gi", limit: "2Gi", readOnly: true });
  });

  test("reach a database on a volume: the mount is writable, for the group of the pod", () => {
    const { containers, securityContext } = pod(internal);
    expect(containers[0].volumeMounts).toContainEqual({ name: "database", mountPath: "/data" });
    expect(securityContext.fsGroup).toBe(securityContext.runAsGroup);
  });
});

describe("the maintenance", () => {
  const job = () => one(open, "CronJob", "maintenance").body.spec;

  test("runs one at a time, bounded in time and memory, and the next run does what a failed one left", () => {
    expect(job()).toMatchObject({
      schedule: "41 * * * *",
      concurrencyPolicy: "Forbid",
      jobTemplate: { spec: { activeDeadlineSeconds: 3600, backoffLimit: 0 } },
    });
    const { containers, restartPolicy } = job().jobTemplate.spec.template.spec;
    expect(restartPolicy).toBe("Never");
    expect(containers[0].resources).toMatchObject({ requests: { memory: "2Gi" }, limits: { memory: "2Gi" } });
    expect(containers[0].command).toEqual(["node", maintenanceEntry, "--json"]);
  });

  test("has the rules of the stack, which the service's own reader accepts with the same result", () => {
    const [settings] = named("ConfigMap", "maintenance");
    const config = readMaintenanceConfig(settings?.body.data);
    expect(config.rules).toEqual([
      {
        tables: ["prod$**"],
        compaction: { enabled: true },
        indices: { enabled: true },
        cleanup: { olderThanHours: 168 },
      },
    ]);
    expect(config).toMatchObject({ runSeconds: 2700, tableSeconds: 3240, database: { uri: "s3://tables/prod" } });
  });

  test("gives large tables to the stack's RayCluster, with the packages of the client's versions and Ray's own token", () => {
    const [settings] = named("ConfigMap", "maintenance");
    expect(readMaintenanceConfig(settings?.body.data).ray).toEqual({
      address: "http://geneva-head-svc:8265",
      packages: [`lance-ray==${client.lanceRay}`, `pylance==${client.pylance}`, `pyarrow==${client.pyarrow}`],
      workers: 8,
      bytes: 20e9,
    });
    expect(one(open, "RayCluster").metadata.name).toBe("geneva");
    expect(job().jobTemplate.spec.template.spec.containers[0].env).toContainEqual({
      name: environment.maintenanceRayToken,
      valueFrom: { secretKeyRef: { name: "geneva", key: "auth_token" } },
    });
  });

  test("has an account of its own without access to the Kubernetes API, and the store's keys in a Secret", () => {
    const { serviceAccountName, automountServiceAccountToken, containers } = job().jobTemplate.spec.template.spec;
    expect({ serviceAccountName, automountServiceAccountToken }).toEqual({
      serviceAccountName: "maintenance",
      automountServiceAccountToken: false,
    });
    expect(one(open, "ServiceAccount", "maintenance").body.automountServiceAccountToken).toBe(false);
    const subjects = open.flatMap(({ body }) => body.subjects ?? []);
    expect(subjects.filter(({ name }: { name: string }) => name === "maintenance")).toEqual([]);
    const [secret, ...others] = named("Secret", "maintenance");
    expect(others).toEqual([]);
    expect(Object.keys(secret?.body.stringData)).toEqual([environment.storageOptions]);
    expect(containers[0].envFrom).toContainEqual({ secretRef: { name: secret?.metadata.name } });
    expect(JSON.stringify(named("ConfigMap", "maintenance"))).not.toContain("very-secret");
  });
});

describe("disabled parts", () => {
  test("Functions have no runner unless the stack says so", () => {
    expect(internal.filter(({ metadata }) => metadata.name.startsWith("functions-runner"))).toEqual([]);
    expect(internal.filter(({ body }) => body.data?.[environment.functions] !== undefined)).toEqual([]);
  });

  test("with an existing operator there is no chart, definition or namespace for it, but a RayCluster", () => {
    expect(ofType(bare.resources, "kubernetes:helm.sh/v3:Release", "kubernetes:yaml/v2:ConfigGroup")).toEqual([]);
    expect(internal.filter(({ kind }) => kind === "Namespace").map(({ metadata }) => metadata.name)).toEqual([
      "lancedb",
    ]);
    expect(one(internal, "RayCluster").body.spec.upgradeStrategy).toEqual({ type: "Recreate" });
  });

  test("network policies, quota and cleanup create nothing when disabled", () => {
    const kinds = new Set(internal.map(({ kind }) => kind));
    for (const kind of ["NetworkPolicy", "ResourceQuota", "LimitRange", "CronJob"]) expect(kinds.has(kind)).toBe(false);
  });
});

test("destroy: RayCluster, then operator, then the runtime's namespace", () => {
  const graph = new DependencyGraph(exposed.resources);
  const steps = [
    ofType(exposed.resources, "kubernetes:ray.io/v1:RayCluster"),
    ofType(exposed.resources, "kubernetes:helm.sh/v3:Release"),
    exposed.resources.filter(
      ({ type, inputs }) => type === "kubernetes:core/v1:Namespace" && JSON.stringify(inputs).includes("lancedb"),
    ),
  ];
  expect(steps.every((step) => step.length === 1)).toBe(true);
  for (const [index, later] of steps.slice(0, -1).entries())
    expect(graph.violations(later, steps[index + 1] ?? [])).toEqual([]);
});

const policiesIn = (namespace: string) =>
  open
    .filter(({ kind, metadata }) => kind === "NetworkPolicy" && metadata.namespace === namespace)
    .map(({ resource }) => resource);

test("the RayCluster depends on its namespace's policies, its quota and its service account's binding", () => {
  const graph = new DependencyGraph(exposed.resources);
  const guards = [
    ...policiesIn("lancedb"),
    ...ofType(
      exposed.resources,
      "kubernetes:core/v1:ResourceQuota",
      "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding",
    ).filter(({ name }) => name !== "ray-cluster-quota"),
  ];
  expect(guards).toHaveLength(7);
  expect(graph.violations(ofType(exposed.resources, "kubernetes:ray.io/v1:RayCluster"), guards)).toEqual([]);
});

test("the operator depends on its namespace's policies, and these on the runtime's namespace and their own", () => {
  const graph = new DependencyGraph(exposed.resources);
  const policies = policiesIn("kuberay-system");
  const namespaces = ofType(exposed.resources, "kubernetes:core/v1:Namespace");
  expect([policies.length, namespaces.length]).toEqual([2, 2]);
  expect(graph.violations(ofType(exposed.resources, "kubernetes:helm.sh/v3:Release"), policies)).toEqual([]);
  expect(graph.violations(policies, namespaces)).toEqual([]);
});

test("only the definitions' provider adopts existing objects, and both identify the cluster by its context", () => {
  const providers = ofType(exposed.resources, "pulumi:providers:kubernetes");
  expect(providers).toHaveLength(2);
  for (const { name, inputs } of providers) {
    expect(inputs.upsertExistingObjects).toBe(name === "cluster-crds" ? "true" : undefined);
    expect(inputs.clusterIdentifier).toBe("kind-lakehead");
  }
});

test("a secret of the configuration is secret in every input", () => {
  const found = exposed.resources.flatMap(({ urn, inputs }) =>
    [...plaintext(inputs)].filter(([, text]) => text.includes("very-secret")).map(([path]) => `${urn} ${path}`),
  );
  expect(found).toEqual([]);
});

describe("workers that wait in a queue", () => {
  const objects = (kind: string) => manifests(queued).filter((object) => object.kind === kind);

  test("share the quota's sums, which bound no pod elsewhere, because one that waits would count", () => {
    const quotas = objects("ResourceQuota").map(({ body }) => Object.keys(body.spec.hard));
    expect(quotas).toEqual([["count/rayclusters.ray.io"]]);
    const [{ flavors }] = one(objects("ClusterQueue"), "ClusterQueue").body.spec.resourceGroups;
    const amounts = flavors[0].resources.map(({ name, nominalQuota }: Record<string, string>) => [name, nominalQuota]);
    expect(Object.fromEntries(amounts)).toMatchObject({ cpu: "12", memory: "24Gi", "nvidia.com/gpu": "8" });
  });

  test("are those of the stack's own RayCluster, too, without its head", () => {
    const { headGroupSpec, workerGroupSpecs } = one(objects("RayCluster"), "RayCluster").body.spec;
    const label = { "kueue.x-k8s.io/queue-name": "lakehead" };
    for (const { template } of workerGroupSpecs) expect(template.metadata.labels).toEqual(label);
    expect(headGroupSpec.template.metadata.labels).toBeUndefined();
  });

  test("end before the queue and Kueue, whose finalizers their pods have", () => {
    const { resources } = queued;
    const named = (name: string) =>
      resources.filter((resource) => resource.name === name && resource.kind === "custom");
    const [later, earlier] = [named("namespace"), [...named("cluster-queue"), ...named("kueue")]];
    expect([later, earlier].map(({ length }) => length)).toEqual([1, 2]);
    expect(new DependencyGraph(resources).violations(later, earlier)).toEqual([]);
  });
});
