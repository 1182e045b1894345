import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chartInputs } from "../../../infra/kubernetes/chart.ts";
import { checksum } from "../../../infra/kubernetes/checksum.ts";
import { retainDefinitions } from "../../../infra/kubernetes/definitions.ts";
import { crdFiles, mergeWorkerGroups } from "../../../infra/workloads/kuberay-crds.ts";
import { configMapData, mergeStorageOptions } from "../../../infra/workloads/table-service/environment.ts";
import { environment } from "../../../service/contract.ts";

describe("chart locations", () => {
  test.each([
    [
      { repository: "https://charts.example.com", name: "kuberay-operator" },
      { chart: "kuberay-operator", repositoryOpts: { repo: "https://charts.example.com" } },
    ],
    [
      { repository: "oci://registry.example.com/charts/", name: "kuberay-operator" },
      { chart: "oci://registry.example.com/charts/kuberay-operator" },
    ],
    [{ repository: "", name: "./charts/kuberay-operator" }, { chart: "./charts/kuberay-operator" }],
  ])("%j", (location, expected) => {
    expect(chartInputs(location, "1.7.1")).toEqual({ ...expected, version: "1.7.1" });
  });
});

describe("KubeRay's definitions", () => {
  test("are read by version from a URL or a directory", () => {
    expect(crdFiles({ base: "https://mirror.example.com/kuberay/", version: "1.7.1" })).toEqual(
      ["rayclusters", "rayjobs", "rayservices", "raycronjobs"].map(
        (kind) => `https://mirror.example.com/kuberay/v1.7.1/ray-operator/config/crd/bases/ray.io_${kind}.yaml`,
      ),
    );
    expect(crdFiles({ base: "./vendor", version: "1.5.1" })[0]).toBe(
      "./vendor/v1.5.1/ray-operator/config/crd/bases/ray.io_rayclusters.yaml",
    );
  });

  test("of a version without RayCronJob do not include its file", () => {
    for (const version of ["1.4.0", "1.5.1"])
      expect(crdFiles({ base: "x", version }).join()).not.toContain("raycronjobs");
    for (const version of ["1.6.0", "1.10.0"]) expect(crdFiles({ base: "x", version }).join()).toContain("raycronjobs");
  });

  const transform = (type: string, opts = {}) =>
    retainDefinitions({ custom: true, type, name: "a", props: { spec: 1 }, opts } as Parameters<
      typeof retainDefinitions
    >[0]);

  test("are retained and keep their other options; other resources are not retained", () => {
    expect(transform("kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", { protect: true })).toEqual({
      props: { spec: 1 },
      opts: { protect: true, retainOnDelete: true },
    });
    expect(transform("kubernetes:apps/v1:Deployment")).toBeUndefined();
  });
});

describe("the worker groups of KubeRay's RayCluster", () => {
  const version = {
    name: "v1",
    schema: {
      openAPIV3Schema: {
        properties: { spec: { properties: { workerGroupSpecs: { type: "array", items: {} }, rayVersion: {} } } },
      },
    },
  };
  const transform = (name: string) =>
    mergeWorkerGroups({
      custom: true,
      type: "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
      name,
      props: { metadata: { name }, spec: { group: "ray.io", versions: [version, { name: "v2" }] } },
      opts: { protect: true },
    } as Parameters<typeof mergeWorkerGroups>[0]);

  test("are merged by name, so that an apply leaves the autoscaler's replicas; the rest stays", () => {
    expect(transform("rayclusters.ray.io")).toEqual({
      opts: { protect: true },
      props: {
        metadata: { name: "rayclusters.ray.io" },
        spec: {
          group: "ray.io",
          versions: [
            {
              name: "v1",
              schema: {
                openAPIV3Schema: {
                  properties: {
                    spec: {
                      properties: {
                        workerGroupSpecs: {
                          type: "array",
                          items: {},
                          "x-kubernetes-list-type": "map",
                          "x-kubernetes-list-map-keys": ["groupName"],
                        },
                        rayVersion: {},
                      },
                    },
                  },
                },
              },
            },
            { name: "v2" },
          ],
        },
      },
    });
    expect(transform("rayjobs.ray.io")).toBeUndefined();
  });
});

describe("the table service's environment", () => {
  const settings = {
    logLevel: "info",
    console: false,
    writes: false,
    functions: { enabled: false, uploadGigabytes: 0 },
    maintenanceRules: [{}],
    auth: { apiKey: true },
  };

  test("has no variable for an absent setting", () => {
    const data = configMapData(settings, { uri: "/data", storageOptions: undefined });
    for (const name of [environment.issuer, environment.jwksUrl, environment.storageOptions])
      expect(data).not.toHaveProperty(name);
    expect(Object.values(data).every((value) => value !== "")).toBe(true);
  });

  test("names the largest upload that a runner commits, where Functions run", () => {
    const database = { uri: "/data", storageOptions: undefined };
    const of = (enabled: boolean) =>
      configMapData({ ...settings, functions: { enabled, uploadGigabytes: 20 } }, database);
    expect(of(true)[environment.maxLargeUploadBytes]).toBe("20000000000");
    expect(of(false)).not.toHaveProperty(environment.maxLargeUploadBytes);
  });

  test("turns the console on, with its client id at the issuer, only where the stack says so", () => {
    const auth = { apiKey: true, consoleClientId: "console" };
    const database = { uri: "/data", storageOptions: undefined };
    expect(configMapData({ ...settings, console: true, auth }, database)).toMatchObject({
      [environment.console]: "on",
      [environment.consoleClientId]: "console",
    });
    expect(configMapData({ ...settings, auth }, database)).not.toHaveProperty(environment.consoleClientId);
    expect(configMapData(settings, database)).not.toHaveProperty(environment.console);
  });

  test("accepts the key of LanceDB's clients unless the stack says otherwise", () => {
    const database = { uri: "/data", storageOptions: undefined };
    expect(configMapData(settings, database)[environment.apiKey]).toBe("true");
    const refused = configMapData({ ...settings, auth: { apiKey: false } }, database);
    expect(refused).not.toHaveProperty(environment.apiKey);
  });

  test("has the rules of maintenance only where the service takes writes", () => {
    const database = { uri: "/data", storageOptions: undefined };
    expect(configMapData(settings, database)).not.toHaveProperty(environment.maintenance);
    const rules = [{ tables: ["prod$**"] }];
    const data = configMapData({ ...settings, writes: true, maintenanceRules: rules }, database);
    expect(JSON.parse(data[environment.maintenance] ?? "")).toEqual(rules);
  });

  test("turns Functions on only where the stack says so", () => {
    const database = { uri: "s3://lake", storageOptions: undefined };
    expect(configMapData(settings, database)).not.toHaveProperty(environment.functions);
    const data = configMapData({ ...settings, functions: { enabled: true, uploadGigabytes: 0 } }, database);
    expect(data[environment.functions]).toBe("on");
  });

  test("the checksum depends on the data and not on the order of its keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), fc.string(), fc.string(), (data, key, value) => {
        const reversed = Object.fromEntries(Object.entries(data).reverse());
        expect(checksum(reversed)).toBe(checksum(data));
        fc.pre(data[key] !== value);
        expect(checksum({ ...data, [key]: value })).not.toBe(checksum(data));
      }),
    );
  });

  test("secret storage options override public ones of the same name", () => {
    expect(JSON.parse(mergeStorageOptions({ region: "a", endpoint: "b" }, '{"region":"c"}'))).toEqual({
      region: "c",
      endpoint: "b",
    });
  });

  test.each(["not json hunter2", '["hunter2"]', "null", '{"key":{"nested":"hunter2"}}', '{"port":9000}', ""])(
    "secret storage options that are no flat object are refused, and the message shows nothing of them: %j",
    (secret) => {
      const attempt = () => mergeStorageOptions({}, secret);
      expect(attempt).toThrow(/lakehead:storageOptions: expected a JSON object with string values/);
      expect(attempt).not.toThrow(/hunter2|nested/);
    },
  );
});
