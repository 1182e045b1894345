import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clientCredentials as awsCredentials } from "../../../infra/clouds/aws/identity/client-credentials.ts";
import { clientCredentials as gcpCredentials } from "../../../infra/clouds/gcp/identity/client-credentials.ts";
import {
  type ClientIdentity,
  clientParameters,
  clientParametersSchema,
} from "../../../infra/model/client-parameters.ts";
import { clientRequirements } from "../../../infra/model/client-requirements.ts";
import { clientSnippet, literal } from "../../../infra/model/client-snippet.ts";
import { parseMemory } from "../../../infra/model/quantity.ts";
import { rayClusterSpec } from "../../../infra/model/ray-cluster.ts";
import { nodeTaints } from "../../../infra/model/roles.ts";
import { isAtLeast } from "../../../infra/model/semver.ts";
import { client, ray } from "../../../infra/versions.ts";
import { modelOf } from "../config/minimal.ts";

const eks: ClientIdentity = {
  configMethod: "EKS_AUTH",
  region: "eu-central-1",
  roleName: "geneva-client-role",
  extra: "aws",
  database: {
    uri: "s3://example-tables",
    storageOptions: { region: "eu-central-1" },
    secretStorageOptions: false,
  },
};

function parameters(overrides = {}) {
  const { config, cluster } = modelOf("aws", overrides);
  return clientParameters(config, cluster, eks, "dev");
}
const group = {
  service_account: "geneva-service-account",
  num_cpus: 1,
  memory: 2 ** 31,
  node_selector: { "geneva.lancedb.com/ray-head": "true" },
};

function refusal(memory: unknown): string {
  const result = clientParametersSchema.shape.head_group.safeParse({ ...group, memory });
  return result.success ? "accepted" : result.error.issues.map(({ message }) => message).join("; ");
}

describe("the client's parameters", () => {
  test("have the documented names, and the client's own defaults", () => {
    const found = parameters();
    expect(Object.keys(found)).toEqual([
      "name",
      "namespace",
      "cluster_name",
      "config_method",
      "region",
      "use_portforwarding",
      "head_group",
      "worker_groups",
      "role_name",
    ]);
    expect(found).toMatchObject({
      namespace: "lancedb",
      cluster_name: "lancedb",
      config_method: "EKS_AUTH",
      use_portforwarding: true,
      role_name: "geneva-client-role",
    });
    expect(found.head_group).toMatchObject({ service_account: "geneva-service-account", num_cpus: 4, memory: 2 ** 33 });
  });

  test("never name the stack's own RayCluster, because the client deletes its cluster", () => {
    expect(parameters().name).toBe("geneva-client");
    expect(parameters({ ray: { create: false } }).name).toBe("geneva");
  });

  test("have no region and role on an existing cluster", () => {
    const { config, cluster } = modelOf("kubeconfig");
    const found = clientParameters(
      config,
      cluster,
      {
        configMethod: "LOCAL",
        database: { uri: "/data", storageOptions: {}, secretStorageOptions: false },
      },
      "dev",
    );
    expect(found).not.toHaveProperty("role_name");
    expect(found).not.toHaveProperty("region");
    expect(found.worker_groups.map(({ name }) => name)).toEqual(["cpu"]);
  });

  test("ask for the minimum of workers, so that a run starts no node of a group that it does not use", () => {
    const groups = parameters({ ray: { cpuWorkers: { minReplicas: 2 } } }).worker_groups;
    expect(groups.map(({ name, replicas, min_replicas }) => [name, replicas, min_replicas])).toEqual([
      ["cpu", 2, 2],
      ["gpu", 0, 0],
    ]);
  });

  test("have a toleration only when the head's taint needs one", () => {
    expect(parameters().head_group.tolerations).toBeUndefined();
    const { config, cluster } = modelOf("aws", { nodes: { head: { taint: "NoSchedule" } } });
    const tolerated = clientParameters(config, cluster, eks, "dev").head_group.tolerations?.map(({ key }) => key);
    expect(tolerated).toEqual(nodeTaints("ray-head", cluster.roles).map(({ key }) => key));
  });

  test("give every pod of a job the stack's label, and Ray's logs to the pod's output where the stack asks for that", () => {
    const { head_group, worker_groups } = parameters({ ray: { logsToStderr: true } });
    for (const { labels, env_vars } of [head_group, ...worker_groups]) {
      expect(labels).toEqual({ "lakehead/stack": "dev" });
      expect(env_vars).toEqual({ RAY_LOG_TO_STDERR: "1" });
    }
    expect(parameters().head_group.env_vars).toBeUndefined();
  });

  test("put workers into the queue, and never a head", () => {
    const { head_group, worker_groups } = parameters({ quota: { queue: { mode: "existing" } } });
    expect(head_group.labels).toEqual({ "lakehead/stack": "dev" });
    for (const { labels } of worker_groups)
      expect(labels).toEqual({ "lakehead/stack": "dev", "kueue.x-k8s.io/queue-name": "lakehead" });
  });

  test("have a collector in every pod where the history of RayClusters is kept", () => {
    const { config, cluster } = modelOf("aws", { ray: { version: "2.60.0", history: { enabled: true } } });
    const history = { STORAGE_BACKEND: "s3", S3_BUCKET: "tables-ray-history" };
    const { head_group, worker_groups } = clientParameters(config, cluster, eks, "dev", { history });
    for (const [role, groups] of [
      ["Head", [head_group]],
      ["Worker", worker_groups],
    ] as const)
      for (const { volumes, mounts, env_vars, k8s_spec_override } of groups) {
        expect([volumes, mounts]).toEqual([{ "ray-logs": { emptyDir: {} } }, [["ray-logs", "/tmp/ray"]]]);
        expect(env_vars).toMatchObject({ RAY_enable_ray_event: "true" });
        const { spec } = (k8s_spec_override as never as { template: { spec: { initContainers: [{ env: object[] }] } } })
          .template;
        // A sidecar: it restarts in a pod that KubeRay's autoscaler v2 gives `Never`, and uploads the logs when Ray has stopped.
        expect(spec).toMatchObject({
          terminationGracePeriodSeconds: 60,
          initContainers: [{ name: "collector", restartPolicy: "Always", volumeMounts: [{ mountPath: "/tmp/ray" }] }],
        });
        const [{ env }] = spec.initContainers;
        expect(env).toContainEqual({ name: "RAY_ROLE", value: role });
        // KubeRay adds it to each init container.
        expect(JSON.stringify(env)).not.toContain("FQ_RAY_IP");
        expect(env).toContainEqual({ name: "S3_BUCKET", value: "tables-ray-history" });
      }
  });

  test("let Ray write log files that a collector can hold twice, and that S3 takes in five seconds at 10 MB/s", () => {
    const { config, cluster } = modelOf("aws", { ray: { version: "2.60.0", history: { enabled: true } } });
    const { head_group } = clientParameters(config, cluster, eks, "dev", { history: {} });
    const size = Number(head_group.env_vars?.RAY_ROTATION_MAX_BYTES);
    const { spec } = (
      head_group.k8s_spec_override as never as {
        template: { spec: { initContainers: [{ resources: { limits: { memory: string } } }] } };
      }
    ).template;
    expect(2 * size).toBeLessThan(parseMemory(spec.initContainers[0].resources.limits.memory));
    expect(size).toBeLessThan(5 * 10 ** 7);
    // `ray stop` has run, and no control store would answer.
    expect(head_group.env_vars).toMatchObject({ RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S: "0" });
  });

  test("reject unknown names", () => {
    expect(() => clientParametersSchema.parse({ ...parameters(), clusterName: "x" })).toThrow("clusterName");
  });
});

describe("memory in bytes", () => {
  test("2048, the documented example, is rejected with the value in bytes", () => {
    expect(refusal(2048)).toBe("2048 means 2048 bytes, too little for a Ray pod; for 2048 MiB write 2147483648");
    expect(refusal(8)).toBe("8 means 8 bytes, too little for a Ray pod; for 8 GiB write 8589934592");
  });

  test("every value below 64 MiB is rejected, with a value that is accepted", () => {
    fc.assert(
      fc.property(fc.integer({ min: 64, max: 2 ** 26 - 1 }), (value) => {
        const meant = Number(/write (\d+)$/.exec(refusal(value))?.[1]);
        expect(refusal(meant)).toBe("accepted");
      }),
    );
  });

  test.each([0, -1, 1.5, "8Gi", Number.NaN])("%j is refused", (value) => {
    expect(refusal(value)).toContain("a whole number of bytes");
  });
});

describe("the Python snippet", () => {
  const snippet = clientSnippet(parameters({ nodes: { gpu: { enabled: false } } }), eks);

  test("creates the cluster with every parameter", () => {
    expect(snippet).toContain(`with ray_cluster(
    name="geneva-client",
    namespace="lancedb",
    cluster_name="lancedb",
    config_method=K8sConfigMethod.EKS_AUTH,
    region="eu-central-1",
    use_portforwarding=True,
    head_group=_HeadGroupSpec(
        service_account="geneva-service-account",
        num_cpus=4,
        memory=8589934592,
        node_selector={"geneva.lancedb.com/ray-head": "true"},
        image="rayproject/ray:2.56.0-py312",
        labels={**{"lakehead/stack": "dev"}, **job},
    ),
    worker_groups=[
        _WorkerGroupSpec(
            name="cpu",
            replicas=0,
            min_replicas=0,
            max_replicas=10,
            service_account="geneva-service-account",
            num_cpus=4,
            memory=8589934592,
            node_selector={"geneva.lancedb.com/ray-worker-cpu": "true"},
            image="rayproject/ray:2.56.0-py312",
            labels={**{"lakehead/stack": "dev"}, **job},
        ),
    ],
    role_name="geneva-client-role",
    manifest=packages,
):
`);
  });

  test("opens the stack's database, fills a column on the cluster and reads it back", () => {
    const steps = ["geneva.connect(", "create_table(", "add_columns(", "with ray_cluster(", "backfill(", "to_arrow("];
    const places = steps.map((step) => snippet.indexOf(step));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places).not.toContain(-1);
    expect(snippet).toContain('geneva.connect("s3://example-tables", storage_options={"region": "eu-central-1"})');
  });

  test("reads the object store's keys, which no output holds, from the table service's variable", () => {
    const open = (storageOptions: Readonly<Record<string, string>>) =>
      clientSnippet(parameters(), { database: { uri: "s3://tables", storageOptions, secretStorageOptions: true } });
    expect(open({})).toContain(`keys = json.loads(os.environ["LAKEHEAD_STORAGE_OPTIONS"])
database = geneva.connect("s3://tables", storage_options=keys)
`);
    expect(open({ allow_http: "true" })).toContain('storage_options={**{"allow_http": "true"}, **keys})\n');
    expect(open({}).split("\n").slice(0, 3)).toEqual(["import getpass", "import json", "import os"]);
    expect(snippet).not.toContain("LAKEHEAD_STORAGE_OPTIONS");
  });

  test("turns Ray's environment of uv off before it imports what imports Ray", () => {
    expect(snippet.indexOf("RAY_ENABLE_UV_RUN_RUNTIME_ENV")).toBeLessThan(snippet.indexOf("import geneva"));
  });

  test("installs in the pods the requirements but geneva, whose version the client adds, and Ray, which the image has", () => {
    const { ray } = modelOf("aws").config;
    const lines = clientRequirements(ray, eks).split("\n").slice(2, -1);
    const other = lines.filter((line) => !/^(geneva|ray)\b/.test(line));
    expect(snippet).toContain(`pip=${literal(other)}`);
  });

  test("writes any JSON value as the Python literal of the same value", () => {
    const fromPython = (text: string): unknown =>
      JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|\bTrue\b|\bFalse\b|\bNone\b/g, (token) => constants[token] ?? token));
    const constants: Record<string, string> = { True: "true", False: "false", None: "null" };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2 }), (value) => {
        expect(fromPython(literal(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe("the client's requirements", () => {
  test("say that geneva is proprietary", () => {
    expect(text()).toMatch(/^# geneva [\d.]+ is proprietary software of LanceDB/m);
  });

  const text = (overrides = {}, identity: Pick<ClientIdentity, "extra"> = eks) =>
    clientRequirements(modelOf("aws", overrides).config.ray, identity);

  test("pin every package exactly, with the cloud's extra", () => {
    const lines = text().split("\n").slice(2, -1);
    expect(lines.filter((line) => !/^[a-z]+(\[[a-z,]+\])?==\d+\.\d+\.\d+$/.test(line))).toEqual([]);
    expect(lines.map((line) => line.split("==")[0])).toEqual([
      "geneva[aws]",
      "lancedb",
      "pyarrow",
      "pylance",
      "ray[client,default]",
    ]);
    expect(text({}, {})).toContain("\ngeneva==");
  });

  test("follow ray.version and ray.image.python, as the image of the pods does", () => {
    const ray = { version: "2.57.1", image: { python: "3.11" } };
    expect(text({ ray })).toContain("\nray[client,default]==2.57.1\n");
    expect(text({ ray })).toContain("# Python 3.11,");
    expect(parameters({ ray }).head_group.image).toBe("rayproject/ray:2.57.1-py311");
  });

  test("have the table service's version of lancedb, so that both contain one version of Lance", () => {
    const manifest = new URL("../../../package.json", import.meta.url);
    const { dependencies } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies: Record<string, string> };
    expect(client.lancedb).toBe(dependencies["@lancedb/lancedb"]);
  });

  test("accept the default Ray version and Python", () => {
    expect(isAtLeast(ray.default, client.minimumRay)).toBe(true);
    expect(client.pythons).toContain(ray.python);
  });
});

describe("the client's credentials", () => {
  test("on AWS are a profile of the client role", () => {
    const place = { partition: "aws", region: "eu-central-1", account: "111122223333", cluster: "lancedb" };
    const settings = (principals: readonly string[]) => {
      const { client } = modelOf("aws", { client: { principals } }).config;
      return awsCredentials(place, { client, iam: { path: "/" } }, "dev")
        .split("\n")
        .filter((line) => !line.startsWith("#"));
    };
    expect(settings(["arn:aws:iam::111122223333:user/analyst"])).toEqual([
      "[profile lakehead-dev-client]",
      "role_arn = arn:aws:iam::111122223333:role/geneva-client-role",
      "source_profile = default",
      "region = eu-central-1",
      "",
    ]);
    // Without principals only the deployer may assume the role.
    expect(settings([])).toContain("source_profile = lakehead-dev");
  });

  test("on Google Cloud impersonate the client's account for the tables and for Kubernetes", () => {
    const text = gcpCredentials(modelOf("gcp", { endpoint: { dns: true } }).config);
    const account = "geneva-client@example-project.iam.gserviceaccount.com";
    expect(text).toContain(`gcloud auth application-default login --impersonate-service-account=${account}\n`);
    expect(text).toContain(`gcloud config set auth/impersonate_service_account ${account}\n`);
    expect(text).toContain("get-credentials lancedb --region europe-west4 --project example-project --dns-endpoint\n");
  });
});

describe("the RayCluster", () => {
  const spec = (overrides = {}) => {
    const { config, cluster } = modelOf("aws", overrides);
    return rayClusterSpec(config, cluster);
  };

  test("has the same requests as the client's parameters", () => {
    const found = parameters();
    const { headGroupSpec, workerGroupSpecs } = spec();
    const pods = [headGroupSpec, ...workerGroupSpecs].map(({ template }) => template.spec);
    const asked = [found.head_group, ...found.worker_groups];
    expect(pods.map(({ nodeSelector }) => nodeSelector)).toEqual(asked.map(({ node_selector }) => node_selector));
    expect(pods.map(({ serviceAccountName }) => serviceAccountName)).toEqual(asked.map((one) => one.service_account));
    expect(pods.map(({ containers }) => containers[0]?.resources.limits.cpu)).toEqual(
      asked.map(({ num_cpus }) => String(num_cpus)),
    );
    expect(pods.map(({ containers }) => containers[0]?.image)).toEqual(asked.map(({ image }) => image));
  });

  test("has equal requests and limits in every container, with GPUs only in the GPU group", () => {
    const { headGroupSpec, workerGroupSpecs, autoscalerOptions } = spec();
    const containers = [headGroupSpec, ...workerGroupSpecs].flatMap(({ template }) => template.spec.containers);
    for (const { resources } of [...containers, autoscalerOptions])
      expect(resources.requests).toEqual(resources.limits);
    expect(
      workerGroupSpecs.map(({ template }) => template.spec.containers[0]?.resources.limits["nvidia.com/gpu"]),
    ).toEqual([undefined, "1"]);
  });

  test("only the autoscaler's container has a token of the Kubernetes API", () => {
    const { headGroupSpec, workerGroupSpecs, autoscalerOptions } = spec();
    const pods = [headGroupSpec, ...workerGroupSpecs].map(({ template }) => template.spec);
    expect(pods.map(({ automountServiceAccountToken }) => automountServiceAccountToken)).toEqual([false, false, false]);
    expect(pods.map(({ volumes }) => volumes?.map((volume) => "name" in volume && volume.name))).toEqual([
      ["autoscaler-token"],
      undefined,
      undefined,
    ]);
    expect(autoscalerOptions.volumeMounts).toEqual([
      { name: "autoscaler-token", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true },
    ]);
    expect(JSON.stringify(pods.flatMap(({ containers }) => containers))).not.toContain("volumeMounts");
  });

  test("names images by digest beside the tag, for the client too", () => {
    const [digest, gpuDigest] = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`);
    const image = { digest, gpuDigest };
    const { headGroupSpec, workerGroupSpecs } = spec({ ray: { image } });
    expect(headGroupSpec.template.spec.containers[0]?.image).toMatch(/^rayproject\/ray:[\d.]+-py312@sha256:a{64}$/);
    expect(workerGroupSpecs[1]?.template.spec.containers[0]?.image).toMatch(/-py312-gpu@sha256:b{64}$/);
    expect(parameters({ ray: { image } }).head_group.image).toMatch(/@sha256:a{64}$/);
  });

  test("schedules no work on the head, and prevents its eviction", () => {
    const { rayStartParams, template } = spec().headGroupSpec;
    expect(rayStartParams["num-cpus"]).toBe("0");
    expect(template.metadata.annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"]).toBe("false");
  });

  test("sets neither replicas nor a restart policy, as autoscaler v2 requires", () => {
    expect(JSON.stringify(spec())).not.toMatch(/"(replicas|restartPolicy)"/);
  });

  test.each([
    ["1.7.1", { version: "v2" }, { type: "Recreate" }],
    ["1.5.1", { version: "v2" }, undefined],
    ["1.3.2", {}, undefined],
  ])("writes for operator %s only fields that it knows", (version, autoscaler, upgradeStrategy) => {
    const found = spec({ operator: { mode: "existing", version } });
    expect(found.upgradeStrategy).toEqual(upgradeStrategy);
    expect(found.autoscalerOptions.version).toBe("version" in autoscaler ? autoscaler.version : undefined);
  });

  test("requires tokens with ray.auth token", () => {
    expect(spec().authOptions).toBeUndefined();
    expect(spec({ ray: { auth: "token" } }).authOptions).toEqual({ mode: "token" });
  });

  test("uses the ARM image when all Ray nodes are ARM", () => {
    const found = parameters({
      nodes: {
        head: { instanceTypes: ["m7g.2xlarge"] },
        cpu: { instanceTypes: ["c7g.4xlarge"] },
        gpu: { enabled: false },
      },
    });
    expect(found.head_group.image).toBe("rayproject/ray:2.56.0-py312-aarch64");
  });
});
