import { describe, expect, test } from "vitest";
import { client } from "../../../infra/versions.ts";
import { decide } from "../../../infra/workloads/orphan-cleanup/script.ts";
import { environment } from "../../../service/contract.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { manifests, one } from "./manifests.ts";

const service = {
  image: "lakehead:0.2.0",
  cpus: 0.5,
  memory: "1Gi",
  auth: { issuer: "https://login.example.com:8443/", audience: "lakehead-local" },
};

describe("Functions", () => {
  const stack = (more: object = {}, functions: object = { cluster: "shared" }, secrets: Record<string, string> = {}) =>
    runStack(
      "local",
      "update",
      {
        "lakehead:tableService": {
          ...service,
          memory: "4Gi",
          writes: true,
          functions: { enabled: true, runners: 2, workers: 8, ...functions },
        },
        "lakehead:database": {
          uri: "s3://tables/prod",
          storageOptions: { aws_endpoint_url: "http://minio.storage.svc:9000" },
        },
        "lakehead:ray": {
          head: { cpus: 1, memory: "2Gi", ephemeralStorage: "4Gi" },
          cpuWorkers: { cpus: 2, memory: "6Gi", ephemeralStorage: "4Gi", maxReplicas: 1 },
          auth: "token",
        },
        ...more,
      },
      { "lakehead:storageOptions": '{"aws_secret_access_key":"very-secret"}', ...secrets },
    );
  const own = {
    cluster: "own",
    packageIndex: "https://pypi.example.com:8443/simple",
    egressCidrs: ["10.20.0.0/16"],
    secrets: ["team$openai", "plain"],
    ray: { cpuWorkers: { cpus: 2, memory: "4Gi", ephemeralStorage: "4Gi", maxReplicas: 2 } },
  };
  const ownSecrets = {
    "lakehead:functionsStorageOptions": '{"aws_secret_access_key":"less-secret"}',
    "lakehead:functionSecrets": '{"team$openai":"sesame","plain":"jane","other":"unnamed"}',
  };
  const sizes = {
    "lakehead:ray": { create: false, auth: "token" },
    "lakehead:nodes": { head: { cpus: 8, memory: "16Gi" }, cpu: { cpus: 8, memory: "16Gi" } },
    "lakehead:quota": { enabled: false },
  };

  test("run on a RayCluster of their own, whose workers have files of secrets and keys of their own", async () => {
    const capture = await stack(sizes, own, ownSecrets);
    expect(capture.failure).toBeUndefined();
    const all = manifests(capture);
    const { headGroupSpec, workerGroupSpecs } = one(all, "RayCluster", "functions").body.spec;
    const head = headGroupSpec.template.spec;
    const workers = workerGroupSpecs.map(({ template }: { template: { spec: object } }) => template.spec);
    expect([head.serviceAccountName, ...workers.map((each: typeof head) => each.serviceAccountName)]).toEqual([
      "functions-head",
      "functions",
    ]);
    expect(head.volumes.map(({ name }: { name: string }) => name)).toEqual(["autoscaler-token"]);
    expect(JSON.stringify(head.containers)).not.toContain("function-secrets");
    const [worker] = workers;
    expect([worker.automountServiceAccountToken, worker.containers[0].env]).toEqual([
      false,
      [{ name: "PIP_INDEX_URL", value: own.packageIndex }],
    ]);
    expect(worker.containers[0].volumeMounts).toEqual([
      { name: "files", mountPath: "/etc/lakehead/function-secrets", readOnly: true },
    ]);
    expect(worker.volumes).toEqual([
      {
        name: "files",
        secret: {
          secretName: "function-secrets",
          items: [
            { key: "team..openai", path: "team$openai" },
            { key: "plain", path: "plain" },
          ],
        },
      },
    ]);
    expect(one(all, "Secret", "function-secrets").body.stringData).toEqual({ "team..openai": "sesame", plain: "jane" });
    const others = all.filter(({ kind, metadata }) => kind !== "Secret" || metadata.name !== "function-secrets");
    expect(JSON.stringify(others)).not.toMatch(/sesame|unnamed/);
    const pod = one(all, "Deployment", "functions-runner").body.spec.template.spec;
    expect(pod.serviceAccountName).toBe("functions-runner");
    expect(pod.containers[0].env).toContainEqual({
      name: "RAY_AUTH_TOKEN",
      valueFrom: { secretKeyRef: { name: "functions", key: "auth_token" } },
    });
    const keys = all.find(({ kind, metadata }) => kind === "Secret" && metadata.name.startsWith("functions-runner-"));
    expect(Object.keys(keys?.body.stringData).toSorted()).toEqual([
      "LAKEHEAD_FUNCTIONS_STORAGE_OPTIONS",
      environment.storageOptions,
    ]);
    expect(keys?.body.stringData.LAKEHEAD_FUNCTIONS_STORAGE_OPTIONS).not.toContain("very-secret");
    const bindings = all.filter(({ kind }) => /Role/.test(kind)).map(({ body }) => JSON.stringify(body));
    expect(bindings.filter((text) => /"functions/.test(text))).toEqual([]);
    expect(decide(one(all, "RayCluster", "functions").body, new Date(), 1).action).toBe("leave");
  });

  test.each([
    ["a value that is missing", '{"plain":"jane"}', /no text for "team\$openai"/],
    ["what is no object", "sesame", /expected a JSON object/],
  ])("secrets with %s are refused without a value in the message", async (_, text, fault) => {
    const { failure } = await stack(sizes, own, { ...ownSecrets, "lakehead:functionSecrets": text });
    expect(failure).toMatch(fault);
    expect(failure).not.toMatch(/jane|sesame/);
  });

  test("are refused on a cluster of their own whose workers have no keys of their own", async () => {
    expect((await stack(sizes, { cluster: "own" })).failure).toMatch(/have no keys of the tables/);
  });

  test("are served, and run on the stack's RayCluster by pods with its image, account and token", async () => {
    const capture = await stack();
    expect(capture.failure).toBeUndefined();
    const all = manifests(capture);
    const named = (kind: string, prefix: string) =>
      all.filter((each) => each.kind === kind && each.metadata.name.startsWith(prefix));
    const [settings] = named("ConfigMap", "table-service");
    expect(settings?.body.data[environment.functions]).toBe("on");
    const { spec } = one(all, "Deployment", "functions-runner").body;
    const pod = spec.template.spec;
    const [container] = pod.containers;
    const head = one(all, "RayCluster").body.spec.headGroupSpec.template.spec;
    expect([spec.replicas, container.image]).toEqual([2, head.containers[0].image]);
    expect(pod).toMatchObject({
      serviceAccountName: head.serviceAccountName,
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true },
    });
    expect(container.env).toContainEqual({
      name: "RAY_AUTH_TOKEN",
      valueFrom: { secretKeyRef: { name: "geneva", key: "auth_token" } },
    });
    const maps = named("ConfigMap", "functions-runner");
    const [data, program] = maps.map(({ body }) => body.data).toSorted((left) => ("main.py" in left ? 1 : -1));
    expect(data).toEqual({
      [environment.database]: "s3://tables/prod",
      LAKEHEAD_RAY_ADDRESS: "ray://geneva-head-svc:10001",
      LAKEHEAD_FUNCTIONS_WORKERS: "8",
      LAKEHEAD_FUNCTIONS_PACKAGES: `pylance==${client.pylance} pyarrow==${client.pyarrow}`,
    });
    expect(Object.keys(program).toSorted()).toEqual([
      "answers.py",
      "column.py",
      "jobs.py",
      "main.py",
      "upload.py",
      "worker.py",
    ]);
    const [secret] = named("Secret", "functions-runner");
    expect(Object.keys(secret?.body.stringData)).toEqual([environment.storageOptions]);
    expect(JSON.stringify(maps)).not.toContain("very-secret");
    expect(one(all, "NetworkPolicy", "functions-runner").body.spec.policyTypes).toEqual(["Egress"]);
  });

  test.each([
    [
      "without writes",
      { "lakehead:tableService": { ...service, functions: { enabled: true } } },
      /does not serve writes/,
    ],
    ["without a RayCluster", { "lakehead:ray": { create: false } }, /run on the stack's RayCluster/],
    ["on tables of a volume", { "lakehead:database": { uri: "/data" } }, /do not see the volume/],
  ])("are refused %s", async (_, more, fault) => {
    expect((await stack(more)).failure).toMatch(fault);
  });
});
