import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rayPorts } from "../../../infra/model/ray-cluster.ts";
import {
  metricsReaderLabel,
  networkPolicySpecs,
  operatorPolicySpecs,
} from "../../../infra/workloads/network-policy-specs.ts";
import { ports } from "../../../service/contract.ts";
import { type End, type Pod, reaches } from "./reach.ts";

const home = "lancedb";
const selector = { "app.kubernetes.io/name": "table-service" } as const;
const pod = (labels: Record<string, string>, namespace = home, namespaceLabels = {}): Pod => ({
  labels,
  namespace,
  namespaceLabels,
});

const head = pod({ "ray.io/is-ray-node": "yes", "ray.io/node-type": "head" });
const worker = pod({ "ray.io/is-ray-node": "yes", "ray.io/node-type": "worker" });
const tableService = pod(selector);
const notebook = pod({ app: "notebook" });
const operator = pod({ "app.kubernetes.io/name": "kuberay-operator" }, "kuberay-system");
const stranger = pod({ "ray.io/is-ray-node": "yes" }, "default");
const prometheus = pod({ app: "prometheus" }, "monitoring", metricsReaderLabel);
const dns = pod({ "k8s-app": "kube-dns" }, "kube-system");
const internet: End = { ip: "198.51.100.7" };
const apiServer: End = { ip: "172.16.0.2" };
const nodeLocalDns: End = { ip: "169.254.20.10" };
const probe: End = { ip: "35.191.3.4" };

type Service = NonNullable<Parameters<typeof networkPolicySpecs>[0]["tableService"]>;
type Functions = NonNullable<Parameters<typeof networkPolicySpecs>[0]["functions"]>;
const scraper = { namespace: "monitoring", labels: { app: "prometheus" } };
const specs = (service: Partial<Service> = {}, ray = false, own?: Functions["own"], scraped = false) =>
  networkPolicySpecs({
    scraper: scraped ? scraper : undefined,
    tableService: { selector, exposure: "cluster", probeSources: ["35.191.0.0/16"], calls: [], ...service },
    operatorNamespace: "kuberay-system",
    cleanup: "orphan-cleanup",
    maintenance: { name: "maintenance", calls: ["http://minio.storage.svc:9000"], ray },
    functions: { name: "functions-runner", calls: ["http://minio.storage.svc:9000"], own },
  });
const can = (from: End, to: End, port: number, protocol?: string, policies = specs()) =>
  reaches(policies, home, from, to, port, protocol);

describe("Ray's ports, which do not authenticate callers", () => {
  const rayNumbers = [...Object.values(rayPorts), 8000, 52_365, 10_002];

  test.each(rayNumbers)("port %i is reachable only from the namespace", (port) => {
    expect(can(worker, head, port)).toBe(true);
    expect(can(head, worker, port)).toBe(true);
    expect(can(notebook, head, port)).toBe(true);
    expect(can(stranger, head, port)).toBe(false);
    expect(can(internet, head, port)).toBe(false);
  });

  test.each(rayNumbers)("the table service does not reach port %i", (port) => {
    expect(can(tableService, head, port)).toBe(false);
  });

  test("no pod of another namespace reaches any port, with any labels", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 65_535 }),
        fc.dictionary(fc.constantFrom("ray.io/is-ray-node", "app", "app.kubernetes.io/name"), fc.string()),
        fc.constantFrom("default", "kube-system", "monitoring"),
        (port, labels, namespace) => {
          expect(can(pod(labels, namespace, metricsReaderLabel), head, port)).toBe(false);
        },
      ),
    );
  });

  test("the operator reaches only the dashboard and the agent", () => {
    expect(can(operator, head, rayPorts.dashboard)).toBe(true);
    expect(can(operator, worker, 52_365)).toBe(true);
    expect(can(operator, head, rayPorts.client)).toBe(false);
    expect(can(operator, head, rayPorts.gcs)).toBe(false);
  });

  test("with the cloud's add-on no other namespace has access", () => {
    const withoutOperator = networkPolicySpecs({
      tableService: undefined,
      operatorNamespace: undefined,
      cleanup: undefined,
      maintenance: undefined,
      functions: undefined,
    });
    expect(reaches(withoutOperator, home, operator, head, rayPorts.dashboard)).toBe(false);
    expect(reaches(withoutOperator, home, notebook, head, rayPorts.client)).toBe(true);
  });
});

describe("allowed connections", () => {
  test.each([
    ["the autoscaler in the head pod reaches the API server", head, apiServer, 443, "TCP"],
    ["Ray's pods resolve names at kube-dns", worker, dns, 53, "UDP"],
    ["Ray's pods resolve names at a node-local cache", worker, nodeLocalDns, 53, "UDP"],
    ["jobs install packages from the internet", worker, internet, 443, "TCP"],
    ["the table service resolves names at kube-dns", tableService, dns, 53, "UDP"],
    ["the table service resolves names over TCP", tableService, dns, 53, "TCP"],
    ["the table service resolves names at a node-local cache", tableService, nodeLocalDns, 53, "UDP"],
    ["the table service reaches the object store and the key set", tableService, internet, 443, "TCP"],
    ["the table service gets its Google identity", tableService, { ip: "169.254.169.254" }, 80, "TCP"],
    ["the table service gets it from the node's own server", tableService, { ip: "169.254.169.252" }, 988, "TCP"],
    [
      "the clean-up job reaches the API server",
      pod({ "app.kubernetes.io/name": "orphan-cleanup" }),
      apiServer,
      443,
      "TCP",
    ],
  ] as const)("%s", (_, from, to, port, protocol) => {
    expect(can(from, to, port, protocol)).toBe(true);
  });

  test("egress is open to the ports of the key set and the object store only", () => {
    const policies = specs({ calls: ["https://login.example.com:8443/keys", "http://minio.storage.svc:9000"] });
    expect(can(tableService, internet, 8443, "TCP", policies)).toBe(true);
    expect(can(tableService, pod({}, "storage"), 9000, "TCP", policies)).toBe(true);
    expect(can(tableService, internet, 5432, "TCP", policies)).toBe(false);
    expect(can(tableService, internet, 8443)).toBe(false);
  });
});

describe("the table service", () => {
  test("with exposure cluster every pod has access, and no external address", () => {
    expect(can(stranger, tableService, ports.api)).toBe(true);
    expect(can(internet, tableService, ports.api)).toBe(false);
  });

  test.each(["internal", "public"] as const)(
    "with exposure %s every address can connect to the API port",
    (exposure) => {
      const policies = specs({ exposure });
      expect(can(internet, tableService, ports.api, "TCP", policies)).toBe(true);
      expect(can(internet, tableService, ports.operations, "TCP", policies)).toBe(false);
      expect(can(probe, tableService, ports.operations, "TCP", policies)).toBe(true);
    },
  );

  test("only namespaces with the metrics label reach the operations port", () => {
    expect(can(prometheus, tableService, ports.operations)).toBe(true);
    expect(can(stranger, tableService, ports.operations)).toBe(false);
    expect(can(notebook, tableService, ports.operations)).toBe(false);
    expect(can(probe, tableService, ports.operations)).toBe(false);
  });
});

describe("with monitoring", () => {
  const policies = specs({}, false, undefined, true);
  const grafana = pod({ app: "grafana" }, "monitoring", metricsReaderLabel);
  const elsewhere = pod({ app: "prometheus" }, "default", metricsReaderLabel);
  const metrics = [8080, 44_217, 44_227];

  test("Prometheus reaches the metrics of the service and of Ray, and no other port", () => {
    expect(can(prometheus, tableService, ports.operations, "TCP", policies)).toBe(true);
    for (const port of metrics) {
      expect(can(prometheus, head, port, "TCP", policies)).toBe(true);
      expect(can(prometheus, worker, port, "TCP", policies)).toBe(true);
    }
    for (const port of [...Object.values(rayPorts), 52_365])
      expect(can(prometheus, head, port, "TCP", policies)).toBe(false);
    expect(can(prometheus, notebook, 8080, "TCP", policies)).toBe(false);
  });

  test.each([
    ["another pod of its namespace", grafana],
    ["a pod with its labels in another namespace", elsewhere],
    ["another pod of the namespace's label", stranger],
  ])("%s reaches none of them", (_, from) => {
    for (const to of [head, worker])
      for (const port of metrics) expect(can(from, to, port, "TCP", policies)).toBe(false);
    expect(can(from, tableService, ports.operations, "TCP", policies)).toBe(false);
  });

  test("only Prometheus reaches the operator's metrics", () => {
    const inOperator = (from: End) => reaches(operatorPolicySpecs(scraper), "kuberay-system", from, operator, 8080);
    expect(inOperator(prometheus)).toBe(true);
    for (const from of [grafana, elsewhere, stranger]) expect(inOperator(from)).toBe(false);
  });
});

test("the clean-up job reaches the API server and DNS only", () => {
  const job = pod({ "app.kubernetes.io/name": "orphan-cleanup" });
  expect(can(job, apiServer, 6443, "TCP")).toBe(true);
  expect(can(job, dns, 53, "UDP")).toBe(true);
  expect(can(job, internet, 80, "TCP")).toBe(false);
  expect(can(job, head, rayPorts.dashboard)).toBe(false);
});

test("the maintenance reaches the object store, its identity and DNS only, and nothing reaches it", () => {
  const run = pod({ "app.kubernetes.io/name": "maintenance" });
  expect(can(run, internet, 443, "TCP")).toBe(true);
  expect(can(run, pod({}, "storage"), 9000, "TCP")).toBe(true);
  expect(can(run, { ip: "169.254.169.254" }, 80, "TCP")).toBe(true);
  expect(can(run, dns, 53, "UDP")).toBe(true);
  expect(can(run, apiServer, 6443, "TCP")).toBe(false);
  expect(can(run, head, rayPorts.dashboard)).toBe(false);
  expect(can(run, tableService, ports.operations)).toBe(false);
  for (const port of [443, ports.api, ports.operations]) expect(can(tableService, run, port)).toBe(false);
});

test("a runner of Functions reaches Ray's client port, the object store, its identity and DNS, and nothing reaches it", () => {
  const runner = pod({ "app.kubernetes.io/name": "functions-runner" });
  const store = pod({ app: "minio" }, "storage");
  for (const [to, port] of [
    [head, rayPorts.client],
    [internet, 443],
    [store, 9000],
    [dns, 53],
    [{ ip: "169.254.169.254" }, 80],
  ] as const)
    expect(can(runner, to, port), String(port)).toBe(true);
  for (const [to, port] of [
    [head, rayPorts.dashboard],
    [head, rayPorts.gcs],
    [tableService, 8080],
    [apiServer, 6443],
    [internet, 80],
  ] as const)
    expect(can(runner, to, port), String(port)).toBe(false);
  for (const from of [worker, tableService, notebook, stranger]) expect(can(from, runner, 80)).toBe(false);
});

describe("Functions on a RayCluster of their own", () => {
  const own = { cluster: "functions", cidrs: ["10.20.0.0/16"], metadataServer: false };
  const node = (type: string, cluster: string) =>
    pod({ "ray.io/is-ray-node": "yes", "ray.io/node-type": type, "ray.io/cluster": cluster });
  const [ownHead, ownWorker] = [node("head", "functions"), node("worker", "functions")];
  const others = [node("head", "geneva"), node("worker", "geneva")];
  const runner = pod({ "app.kubernetes.io/name": "functions-runner" });
  const maintained = pod({ "app.kubernetes.io/name": "maintenance" });
  const reach = (from: End, to: End, port: number, more: Partial<typeof own> = {}) =>
    can(from, to, port, "TCP", specs({}, true, { ...own, ...more }));

  test("workers reach the store, the package index, DNS and each other", () => {
    for (const [to, port] of [
      [internet, 443],
      [internet, 9000],
      [{ ip: "10.20.1.2" }, 9000],
      [dns, 53],
      [ownHead, rayPorts.gcs],
      [ownWorker, 10_002],
    ] as const)
      expect(reach(ownWorker, to, port), String(port)).toBe(true);
    expect(reach(ownHead, ownWorker, 10_002)).toBe(true);
    expect(reach(ownHead, apiServer, 443)).toBe(true);
  });

  test("workers reach no metadata server, API server, other pod or other port", () => {
    const ends = fc.constantFrom<End>(
      { ip: "169.254.169.254" },
      { ip: "169.254.169.252" },
      { ip: "10.9.8.7" },
      { ip: "192.168.0.1" },
      { ip: "100.64.0.1" },
      apiServer,
      tableService,
      notebook,
      stranger,
      prometheus,
      runner,
      ...others,
    );
    fc.assert(
      fc.property(ends, fc.integer({ min: 1, max: 65_535 }), (to, port) => {
        fc.pre(port !== 53);
        expect(reach(ownWorker, to, port)).toBe(false);
      }),
    );
    for (const port of [80, 22, 6443]) expect(reach(ownWorker, internet, port)).toBe(false);
    expect(reach(ownHead, { ip: "169.254.169.254" }, 80)).toBe(false);
    for (const to of [tableService, ...others]) expect(reach(ownHead, to, ports.operations)).toBe(false);
  });

  test("the metadata server is open where it gives pods their identity, to what has one", () => {
    const metadata = { ip: "169.254.169.254" };
    expect(reach(ownWorker, metadata, 80, { metadataServer: true })).toBe(true);
    expect(reach(runner, metadata, 80, { metadataServer: true })).toBe(true);
    expect(reach(runner, metadata, 80)).toBe(false);
    expect(reach(ownHead, metadata, 80, { metadataServer: true })).toBe(false);
  });

  test("nothing but the runner and the operator reaches their cluster, and the runner no other", () => {
    expect(reach(runner, ownHead, rayPorts.client)).toBe(true);
    expect(reach(operator, ownHead, rayPorts.dashboard)).toBe(true);
    for (const port of [...Object.values(rayPorts), 52_365]) {
      for (const from of [tableService, notebook, stranger, maintained, ...others])
        expect(reach(from, ownHead, port)).toBe(false);
      for (const to of others) expect(reach(runner, to, port)).toBe(false);
    }
    expect(reach(notebook, others[0] ?? internet, rayPorts.client)).toBe(true);
    expect(reach(maintained, others[0] ?? internet, rayPorts.dashboard)).toBe(true);
  });
});

test("the maintenance that gives work to Ray reaches the dashboards of its namespace, and no other port there", () => {
  const run = pod({ "app.kubernetes.io/name": "maintenance" });
  const policies = specs({}, true);
  expect(can(run, head, rayPorts.dashboard, "TCP", policies)).toBe(true);
  expect(can(run, head, rayPorts.client, "TCP", policies)).toBe(false);
  expect(can(run, stranger, rayPorts.dashboard, "TCP", policies)).toBe(false);
  expect(can(run, apiServer, 6443, "TCP", policies)).toBe(false);
});

describe("the operator's namespace", () => {
  const inOperator = (from: End, to: End, port: number, protocol = "TCP") =>
    reaches(operatorPolicySpecs(), "kuberay-system", from, to, port, protocol);
  const neighbour = pod({ app: "shell" }, "kuberay-system");

  test.each([
    ["the API server of EKS and GKE", apiServer, 443, "TCP"],
    ["the API server of kind", apiServer, 6443, "TCP"],
    ["DNS", dns, 53, "UDP"],
    ["a node-local DNS cache", nodeLocalDns, 53, "UDP"],
    ["Ray's dashboard", head, rayPorts.dashboard, "TCP"],
    ["Ray's dashboard in any namespace", stranger, rayPorts.dashboard, "TCP"],
    ["the agent of a worker", worker, 52_365, "TCP"],
  ] as const)("the operator reaches %s", (_, to, port, protocol) => {
    expect(inOperator(operator, to, port, protocol)).toBe(true);
  });

  test.each([
    ["Ray's client port", head, rayPorts.client],
    ["the table service", tableService, ports.api],
    ["the internet in clear text", internet, 80],
    ["a pod without Ray on the dashboard's port", notebook, rayPorts.dashboard],
  ] as const)("the operator does not reach %s", (_, to, port) => {
    expect(inOperator(operator, to, port)).toBe(false);
  });

  test("only namespaces with the metrics label reach the operator, on its metrics port", () => {
    expect(inOperator(prometheus, operator, 8080)).toBe(true);
    expect(inOperator(prometheus, operator, 8082)).toBe(false);
    for (const from of [stranger, notebook, internet, neighbour]) expect(inOperator(from, operator, 8080)).toBe(false);
  });

  test("no other pod of the namespace reaches anything", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 65_535 }), fc.constantFrom("TCP", "UDP"), (port, protocol) => {
        for (const to of [internet, apiServer, dns, head])
          expect(inOperator(neighbour, to, port, protocol)).toBe(false);
      }),
    );
  });
});

test("a pod without a policy is unreachable", () => {
  expect(can(worker, notebook, 8888)).toBe(false);
  expect(can(stranger, notebook, 8888)).toBe(false);
});
