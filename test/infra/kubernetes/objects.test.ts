import { beforeAll, describe, expect, test } from "vitest";
import { nodeSelector, nodeTaints, tolerations } from "../../../infra/model/roles.ts";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { Secret } from "../../../infra/offline-plan/values.ts";
import { cleanupRules } from "../../../infra/workloads/orphan-cleanup/orphan-cleanup.ts";
import { entry, environment, paths, ports, terminationGraceSeconds } from "../../../service/contract.ts";
import { ofType } from "../../support/infra/graph.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { type Manifest, manifests, one, restrictedViolations, revealed } from "./manifests.ts";

let local: Capture;
let cloud: Capture;
let objects: { readonly local: Manifest[]; readonly cloud: Manifest[] };
const token = "a-static-token-that-must-not-show";

beforeAll(async () => {
  [local, cloud] = await Promise.all([
    runStack(
      "local",
      "update",
      {
        "lakehead:nodes": {
          head: { cpus: 4, memory: "8Gi" },
          cpu: { cpus: 4, memory: "8Gi" },
          gpu: { cpus: 16, memory: "64Gi", gpus: 1 },
          headTaint: "NoSchedule",
        },
        "lakehead:quota": { cpus: 64, memory: "256Gi", gpus: 4, rayClusters: 4 },
        "lakehead:ray": { head: { cpus: 1, memory: "2Gi" }, cpuWorkers: { cpus: 1, memory: "2Gi", maxReplicas: 1 } },
      },
      { "lakehead:staticTokens": token },
    ),
    runStack("gcp-prod", "update"),
  ]);
  for (const capture of [local, cloud]) if (capture.failure !== undefined) throw new Error(capture.failure);
  objects = { local: manifests(local), cloud: manifests(cloud) };
}, 60_000);

describe("the runtime's account", () => {
  test("has the cloud's identity, and exactly the documented verbs", () => {
    const account = one(objects.cloud, "ServiceAccount", "geneva-service-account");
    expect(account.metadata.annotations).toEqual({
      "iam.gke.io/gcp-service-account": "geneva-runtime@example-lakehead-prod.iam.gserviceaccount.com",
    });
    const role = one(objects.cloud, "ClusterRole", "geneva-service-account-role");
    expect(role.body.rules).toEqual([
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["ray.io"], resources: ["rayclusters"], verbs: ["get", "patch", "delete"] },
    ]);
    const binding = one(objects.cloud, "ClusterRoleBinding", "geneva-service-account-binding");
    expect(binding.body.roleRef).toMatchObject({ kind: "ClusterRole", name: role.metadata.name });
    expect(binding.body.subjects).toEqual([
      { kind: "ServiceAccount", name: "geneva-service-account", namespace: "lancedb" },
    ]);
  });
});

describe("the client's access", () => {
  const email = "geneva-client@example-lakehead-prod.iam.gserviceaccount.com";

  test("least privilege: exactly what the client calls, port-forwarding with GET and CREATE", () => {
    expect(one(objects.cloud, "Role", "lakehead-client").body.rules).toEqual([
      { apiGroups: ["ray.io"], resources: ["rayclusters"], verbs: ["get", "list", "create", "patch", "delete"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["pods/portforward"], verbs: ["get", "create"] },
      { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["get"] },
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
      { apiGroups: ["authorization.k8s.io"], resources: ["localsubjectaccessreviews"], verbs: ["create"] },
    ]);
    expect(one(objects.cloud, "ClusterRole", "lakehead-client").body.rules).toEqual([
      { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
      { apiGroups: ["scheduling.k8s.io"], resources: ["priorityclasses"], verbs: ["get"] },
    ]);
    for (const kind of ["RoleBinding", "ClusterRoleBinding"]) {
      expect(one(objects.cloud, kind, "lakehead-client").body.subjects).toEqual([
        { kind: "User", name: email, apiGroup: "rbac.authorization.k8s.io" },
      ]);
    }
  });

  test("no binding grants cluster-admin with access least-privilege", () => {
    const admin = [...objects.cloud, ...objects.local].filter(({ body }) => body.roleRef?.name === "cluster-admin");
    expect(admin).toEqual([]);
  });
});

describe("pods", () => {
  const podSpecs = (list: readonly Manifest[]) =>
    list.flatMap(({ kind, body }) =>
      kind === "Deployment"
        ? [body.spec.template.spec]
        : kind === "CronJob"
          ? [body.spec.jobTemplate.spec.template.spec]
          : kind === "RayCluster"
            ? [
                body.spec.headGroupSpec.template.spec,
                ...body.spec.workerGroupSpecs.map((group: { template: { spec: unknown } }) => group.template.spec),
              ]
            : [],
    );

  test("of the stack, including Ray's, meet the restricted standard", () => {
    const specs = [...podSpecs(objects.cloud), ...podSpecs(objects.local)];
    expect(specs.length).toBeGreaterThanOrEqual(8);
    expect(specs.flatMap(restrictedViolations)).toEqual([]);
  });

  test("of the stack, except Ray's, have a read-only root file system and run on the system pool", () => {
    const own = objects.cloud.filter(({ kind }) => kind === "Deployment" || kind === "CronJob");
    for (const spec of podSpecs(own)) {
      expect(
        spec.containers.every((c: { securityContext: object }) => "readOnlyRootFilesystem" in c.securityContext),
      ).toBe(true);
      expect(spec.nodeSelector).toEqual(nodeSelector("system"));
    }
    const operator = ofType(cloud.resources, "kubernetes:helm.sh/v3:Release").find(
      ({ name }) => name === "kuberay-operator",
    );
    expect(operator && revealed(operator).values).toMatchObject({ nodeSelector: nodeSelector("system") });
  });

  test("of each Ray group select their role's label, and tolerate each taint of its nodes", () => {
    const options = { labelPrefix: "geneva.lancedb.com", headTaint: "NoSchedule" } as const;
    const { headGroupSpec, workerGroupSpecs } = one(objects.local, "RayCluster").body.spec;
    const groups = [
      ["ray-head", headGroupSpec],
      ["ray-worker-cpu", workerGroupSpecs[0]],
      ["ray-worker-gpu", workerGroupSpecs[1]],
    ] as const;
    for (const [role, group] of groups) {
      const { nodeSelector: selected, tolerations: tolerated } = group.template.spec;
      expect(selected).toEqual(nodeSelector(role, options));
      expect(tolerated).toEqual(tolerations(role, options));
      expect(tolerated).toHaveLength(nodeTaints(role, options).length);
    }
    expect(headGroupSpec.rayStartParams["num-cpus"]).toBe("0");
    expect(headGroupSpec.template.metadata.annotations).toEqual({
      "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    });
    expect(workerGroupSpecs.every((group: object) => !("replicas" in group))).toBe(true);
  });
});

describe("the namespace", () => {
  test("enforces baseline and warns below restricted; the operator's enforces restricted", () => {
    const level = (name: string) =>
      one(objects.cloud, "Namespace", name).metadata.labels?.["pod-security.kubernetes.io/enforce"];
    expect(level("lancedb")).toBe("baseline");
    expect(level("kuberay-system")).toBe("restricted");
    expect(one(objects.cloud, "Namespace", "lancedb").metadata.labels).toMatchObject({
      "pod-security.kubernetes.io/enforce-version": "v1.35",
      "pod-security.kubernetes.io/warn": "restricted",
    });
  });

  test("limits requests and RayClusters, and has default requests for containers", () => {
    expect(one(objects.local, "ResourceQuota", "lakehead").body.spec.hard).toEqual({
      "requests.cpu": "64",
      "requests.memory": "256Gi",
      "requests.nvidia.com/gpu": "4",
    });
    expect(one(objects.local, "ResourceQuota", "lakehead-ray-clusters").body.spec.hard).toEqual({
      "count/rayclusters.ray.io": "4",
    });
    expect(Object.keys(one(objects.local, "LimitRange").body.spec.limits[0].defaultRequest)).toEqual([
      "cpu",
      "ephemeral-storage",
      "memory",
    ]);
  });
});

describe("the table service", () => {
  const container = (list: readonly Manifest[]) => one(list, "Deployment").body.spec.template.spec.containers[0];

  test("follows the service's contract: entry, ports, probes on the operations port, grace period", () => {
    const { command, ports: open, ...rest } = container(objects.cloud);
    expect(command).toEqual(["node", entry]);
    expect(open.map((port: { containerPort: number }) => port.containerPort)).toEqual([ports.api, ports.operations]);
    for (const [probe, path] of [
      ["startupProbe", paths.live],
      ["livenessProbe", paths.live],
      ["readinessProbe", paths.ready],
    ] as const) {
      expect(rest[probe].httpGet).toEqual({ path, port: "operations" });
    }
    expect(one(objects.cloud, "Deployment").body.spec.template.spec.terminationGracePeriodSeconds).toBe(
      terminationGraceSeconds,
    );
  });

  test("has its settings and its memory limit in the environment", () => {
    const data = one(objects.cloud, "ConfigMap", container(objects.cloud).envFrom[0].configMapRef.name).body.data;
    expect(data).toMatchObject({
      [environment.database]: "gs://example-lakehead-prod-tables/lance",
      [environment.port]: String(ports.api),
      [environment.operationsPort]: String(ports.operations),
      [environment.issuer]: "https://login.example.com/",
      [environment.audience]: "lakehead",
    });
    expect(container(objects.cloud).env).toEqual([
      {
        name: environment.memoryLimit,
        valueFrom: { resourceFieldRef: { containerName: "table-service", resource: "limits.memory" } },
      },
    ]);
    expect(container(objects.cloud).resources).toEqual({
      requests: { cpu: "1", memory: "4Gi", "ephemeral-storage": "2Gi" },
      limits: { memory: "4Gi", "ephemeral-storage": "2Gi" },
    });
  });

  test("is selected by its Service, its disruption budget and its network policy", () => {
    const labels = one(objects.cloud, "Deployment").body.spec.template.metadata.labels;
    for (const selector of [
      one(objects.cloud, "Service").body.spec.selector,
      one(objects.cloud, "PodDisruptionBudget").body.spec.selector.matchLabels,
      one(objects.cloud, "Deployment").body.spec.selector.matchLabels,
      one(objects.cloud, "NetworkPolicy", "table-service").body.spec.podSelector.matchLabels,
    ]) {
      expect(labels).toMatchObject(selector);
    }
    expect(one(objects.cloud, "HorizontalPodAutoscaler").body.spec).toMatchObject({
      scaleTargetRef: { kind: "Deployment", name: one(objects.cloud, "Deployment").metadata.name },
      minReplicas: 3,
      maxReplicas: 12,
    });
    expect(one(objects.cloud, "Deployment").body.spec).not.toHaveProperty("replicas");
  });

  test("has its own identity, and no Kubernetes token", () => {
    const spec = one(objects.cloud, "Deployment").body.spec.template.spec;
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.enableServiceLinks).toBe(false);
    expect(one(objects.cloud, "ServiceAccount", spec.serviceAccountName).metadata.annotations).toEqual({
      "iam.gke.io/gcp-service-account": "lakehead-tables@example-lakehead-prod.iam.gserviceaccount.com",
    });
  });

  test("has its operations port in no Service", () => {
    for (const { body } of objects.cloud.filter(({ kind }) => kind === "Service"))
      for (const port of body.spec.ports) expect([port.port, port.targetPort]).not.toContain(ports.operations);
  });

  test("has static tokens only in a Secret, which is secret in the stack's state", () => {
    const secret = one(objects.local, "Secret");
    expect(secret.body.stringData).toEqual({ [environment.staticTokens]: token });
    expect(secret.resource.inputs.stringData).toBeInstanceOf(Secret);
    const elsewhere = local.resources.filter(
      (resource) => resource !== secret.resource && JSON.stringify(revealed(resource)).includes(token),
    );
    expect(elsewhere).toEqual([]);
    expect(container(objects.local).envFrom).toContainEqual({ secretRef: { name: secret.metadata.name } });
  });

  test("has another Secret for other static tokens, beside the first, so that the Deployment is updated", async () => {
    const other = manifests(await runStack("local", "update", {}, { "lakehead:staticTokens": `${token}-2` }));
    const [before, after] = [objects.local, other].map((list) => one(list, "Secret"));
    for (const secret of [before, after]) {
      expect(secret?.metadata.name).toMatch(/^table-service-[0-9a-f]{10}$/);
      expect(secret?.body.immutable).toBe(true);
    }
    expect(after?.metadata.name).not.toBe(before?.metadata.name);
    expect(container(other).envFrom).toContainEqual({ secretRef: { name: after?.metadata.name } });
  });

  test("with a database in a path has one pod with a writable volume, and the strategy Recreate", () => {
    const { spec } = one(objects.local, "Deployment").body;
    expect(spec).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
    expect(spec.template.spec.securityContext.fsGroup).toBeGreaterThan(0);
    expect(container(objects.local).volumeMounts).toContainEqual({ name: "database", mountPath: "/data" });
    expect(objects.local.filter(({ kind }) => kind === "HorizontalPodAutoscaler")).toEqual([]);
  });
});

describe("exposure", () => {
  test("public on Google Cloud: only HTTPS, with a managed certificate, probed on the operations port", () => {
    const ingress = one(objects.cloud, "Ingress");
    expect(ingress.metadata.annotations).toMatchObject({
      "kubernetes.io/ingress.class": "gce",
      "kubernetes.io/ingress.allow-http": "false",
      "networking.gke.io/managed-certificates": one(objects.cloud, "ManagedCertificate").metadata.name,
      "networking.gke.io/v1beta1.FrontendConfig": one(objects.cloud, "FrontendConfig").metadata.name,
    });
    expect(ingress.body.spec.rules[0].host).toBe("tables.example.com");
    expect(one(objects.cloud, "ManagedCertificate").body.spec.domains).toEqual(["tables.example.com"]);
    const service = one(objects.cloud, "Service");
    expect(ingress.body.spec.rules[0].http.paths[0].backend.service.name).toBe(service.metadata.name);
    const backend = one(objects.cloud, "BackendConfig");
    expect(JSON.parse(service.metadata.annotations?.["cloud.google.com/backend-config"] ?? "{}")).toEqual({
      default: backend.metadata.name,
    });
    expect(backend.body.spec.healthCheck).toMatchObject({ port: ports.operations, requestPath: paths.ready });
  });

  test("cluster: neither an Ingress nor a load balancer", () => {
    expect(objects.local.filter(({ kind }) => kind === "Ingress")).toEqual([]);
    expect(one(objects.local, "Service").body.spec.type).toBe("ClusterIP");
  });
});

describe("KubeRay and GPUs", () => {
  const release = (capture: Capture, name: string) =>
    ofType(capture.resources, "kubernetes:helm.sh/v3:Release").filter((found) => found.name === name);

  test("the operator's chart is pinned, without definitions; those are separate, of the same version and retained", () => {
    const [operator] = release(cloud, "kuberay-operator");
    expect(operator && revealed(operator)).toMatchObject({
      version: "1.7.1",
      skipCrds: true,
      namespace: "kuberay-system",
    });
    expect(operator && revealed(operator).values).toMatchObject({ image: { tag: "v1.7.1" } });
    const [crds] = ofType(cloud.resources, "kubernetes:yaml/v2:ConfigGroup");
    expect(crds?.retainOnDelete).toBe(true);
    for (const file of (crds && (revealed(crds).files as string[])) ?? []) expect(file).toContain("/v1.7.1/");
    expect(crds?.provider).toContain("cluster-crds");
  });

  test("NVIDIA's device plugin is installed for GPU nodes, never on GKE", () => {
    const [plugin] = release(local, "gpu-plugin");
    expect(JSON.stringify(plugin && revealed(plugin).values)).toContain('"key":"nvidia.com/gpu.present"');
    expect(release(cloud, "gpu-plugin")).toEqual([]);
  });
});

test("the maintenance of tables on a volume runs on the node of the table service, where the volume is", () => {
  const { affinity, containers } = one(objects.local, "CronJob", "maintenance").body.spec.jobTemplate.spec.template
    .spec;
  expect(affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution).toEqual([
    {
      topologyKey: "kubernetes.io/hostname",
      labelSelector: { matchLabels: { "app.kubernetes.io/name": "table-service" } },
    },
  ]);
  expect(containers[0].volumeMounts).toContainEqual({ name: "database", mountPath: "/data" });
});

test("the maintenance runs only where the stack serves writes, or says so", () => {
  expect(objects.cloud.filter(({ metadata }) => metadata.name === "maintenance")).toEqual([]);
  expect(
    objects.local
      .filter(({ metadata }) => metadata.name === "maintenance")
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(["CronJob", "NetworkPolicy", "ServiceAccount"]);
});

test("the cleanup job can only list, patch and delete RayClusters of its namespace", () => {
  expect(one(objects.cloud, "Role", "orphan-cleanup").body.rules).toEqual(cleanupRules);
  expect(cleanupRules).toEqual([
    { apiGroups: ["ray.io"], resources: ["rayclusters"], verbs: ["list", "patch", "delete"] },
  ]);
  const { containers, volumes } = one(objects.cloud, "CronJob", "orphan-cleanup").body.spec.jobTemplate.spec.template
    .spec;
  const script = one(objects.cloud, "ConfigMap", volumes[0].configMap.name).body.data["cleanup.mts"];
  expect(script).not.toMatch(/from "[^n]|from "node_modules/);
  expect(containers[0].args).toEqual(["lancedb", "24"]);
});
