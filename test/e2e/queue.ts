/**
 * Workers of Geneva's RayClusters in a real Kueue: its chart, rendered by Helm with the stack's values, on the API server, and its
 * controller as a process beside it. Pods are simulated.
 */

import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse, parseAllDocuments } from "yaml";
import type { ClientParameters } from "../../infra/model/client-parameters.ts";
import { queueLabel } from "../../infra/model/queue.ts";
import { ray, kueue as released } from "../../infra/versions.ts";
import { kueueValues } from "../../infra/workloads/queue.ts";
import { goModule, goPart } from "../../tools/parts/control-plane/go.ts";
import { kueue } from "../../tools/parts/control-plane/table.ts";
import { freePorts } from "../../tools/parts/free-port.ts";
import { manifests } from "../infra/kubernetes/manifests.ts";
import { runStack } from "../support/infra/stacks.ts";
import { ApiError, hasCondition, type KubernetesObject } from "./support/api.ts";
import { clientRayCluster } from "./support/client-cluster.ts";
import { type Cluster, startCluster } from "./support/cluster.ts";
import { kuberayDefinitions } from "./support/crds.ts";
import { Daemon, until } from "./support/daemon.ts";
import { holds, type Report } from "./support/report.ts";

const fieldManager = "lakehead-e2e";
const home = "kueue-system";
const namespace = "lancedb";
const exec = promisify(execFile);

/** Room for the heads beside that of the queue: nothing but the quota makes a worker wait. */
const nodes = (["ray-head", "ray-worker-cpu"] as const).map((role) => ({
  name: role,
  labels: { [`geneva.lancedb.com/${role}`]: "true" },
  allocatable: { cpu: "64", memory: "256Gi" },
}));

/** Two workers of the client's fill it. */
const overrides = {
  "lakehead:quota": { cpus: 8, memory: "16Gi", gpus: 0, queue: { mode: "install" } },
  "lakehead:ray": { create: false, cpuWorkers: { cpus: 4, memory: "8Gi", maxReplicas: 4 } },
  "lakehead:nodes": { head: { cpus: 16, memory: "64Gi" }, cpu: { cpus: 16, memory: "64Gi" } },
};

/** Every object of the released chart with the stack's values. */
async function renderChart(log: (line: string) => void, folder: string): Promise<KubernetesObject[]> {
  const helm = join(await goPart("helm", log), "helm");
  const chart = join(await goModule(kueue.module, `v${released.version}`), kueue.chart);
  const values = join(folder, "values.json");
  await writeFile(
    values,
    JSON.stringify(kueueValues({ settings: { image: released.image }, watched: namespace, nodeSelector: {} })),
  );
  const { stdout } = await exec(helm, ["template", "kueue", chart, "--namespace", home, "--values", values], {
    maxBuffer: 2 ** 26,
  });
  return parseAllDocuments(stdout).flatMap((document) => (document.contents === null ? [] : [document.toJS()]));
}

/**
 * Kueue's controller beside the API server, which reaches its webhooks on the loopback by a Service that is an external name.
 */
async function startKueue(cluster: Cluster, chart: readonly KubernetesObject[], log: (line: string) => void) {
  const { api, folder } = cluster;
  const [webhook = 0, health, metrics] = await freePorts(3);
  const service = "kueue-webhook-service";
  const redirect = (object: KubernetesObject): KubernetesObject =>
    JSON.parse(JSON.stringify(object), (key, value) =>
      key === "service" && value?.name === service ? { ...value, port: webhook } : value,
    );
  const apply = (object: KubernetesObject) => api.apply(redirect(object), { fieldManager });
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: home } });
  await apply({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: service, namespace: home },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  // No pod of Kueue runs here, and nothing asks for its API.
  const absent = ["Deployment", "PodDisruptionBudget", "Service", "APIService"];
  for (const object of chart) if (!absent.includes(object.kind)) await apply(object);

  const config = chart.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "kueue-manager-config");
  const certDir = join(folder, "kueue-certificates");
  await mkdir(certDir);
  const file = join(folder, "kueue.json");
  const own = {
    namespace: home,
    health: { healthProbeBindAddress: `127.0.0.1:${health}` },
    metrics: { bindAddress: `127.0.0.1:${metrics}` },
    webhook: { host: "127.0.0.1", port: webhook, certDir },
    leaderElection: { leaderElect: false },
  };
  await writeFile(file, JSON.stringify({ ...parse(config?.data["controller_manager_config.yaml"]), ...own }));
  const daemon = new Daemon({
    name: "kueue",
    command: join(await goPart("kueue", log), "kueue"),
    args: [`--config=${file}`, "--feature-gates=VisibilityOnDemand=false"],
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    logFile: join(folder, "kueue.log"),
  });
  // Where Kueue is a pod, the kubelet mounts the Secret that Kueue writes.
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "kueue-webhook-server-cert", namespace: home } };
  const certificates = await daemon.until("Kueue's certificates", async () => {
    const data = (await api.get(secret))?.data as Record<string, string> | undefined;
    return data?.["tls.crt"] === undefined ? undefined : data;
  });
  for (const [name, text] of Object.entries(certificates))
    await writeFile(join(certDir, name), Buffer.from(text, "base64"));
  await daemon.until("Kueue's readiness", async () =>
    (await fetch(`http://127.0.0.1:${health}/readyz`)).ok ? true : undefined,
  );
  return daemon;
}

/** What the stack itself makes for the queue, with the account of Ray's pods. */
const stackKinds = [
  ...["ResourceFlavor", "ClusterQueue", "Namespace", "LocalQueue"],
  ...["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ServiceAccount", "LimitRange"],
];

/** A client's RayCluster of the stack's parameters, with this many workers. */
function clientCluster(parameters: ClientParameters, name: string, replicas: number): KubernetesObject {
  const cluster = clientRayCluster({ ...parameters, name }, ray.default);
  const groups = cluster.spec.workerGroupSpecs.map((group: object) => ({ ...group, replicas }));
  return { ...cluster, spec: { ...cluster.spec, workerGroupSpecs: groups } };
}

export async function runQueue(report: Report): Promise<void> {
  const capture = await runStack("local", "update", overrides);
  if (capture.failure !== undefined) throw new Error(capture.failure);
  const parameters = capture.resources.find(({ kind }) => kind === "stack")?.outputs
    ?.clientParameters as unknown as ClientParameters;
  const cluster = await startCluster({ log: report.log, nodes });
  const { api } = cluster;
  let daemon: Daemon | undefined;
  try {
    const chart = await renderChart(report.log, cluster.folder);
    for (const definition of await kuberayDefinitions()) await api.apply(definition, { fieldManager });
    const started = await report.check(
      "Kueue runs with the chart that Helm renders with the stack's values",
      async () => {
        daemon = await startKueue(cluster, chart, report.log);
        return `${chart.length} objects`;
      },
    );
    if (!started) return;
    await report.check("the API server takes the stack's objects, and the queue is active", async () => {
      for (const kind of stackKinds)
        for (const { body } of manifests(capture).filter((one) => one.kind === kind))
          if (body.metadata.namespace !== home && body.metadata.name !== home) await api.apply(body, { fieldManager });
      await until("the queue", async () => {
        const [queue] = await api.list("kueue.x-k8s.io/v1beta2", "ClusterQueue");
        return queue !== undefined && hasCondition(queue, "Active") ? true : undefined;
      });
      return undefined;
    });

    const pods = (name: string) => api.list("v1", "Pod", namespace, `ray.io/cluster=${name}`);
    const running = async (name: string, type: "head" | "worker") =>
      (await pods(name)).filter(
        ({ metadata, status }) => metadata.labels?.["ray.io/node-type"] === type && status.phase === "Running",
      );
    const waiting = async (name: string) =>
      (await pods(name)).filter(({ spec }) =>
        spec.schedulingGates?.some((gate: { name: string }) => gate.name === "kueue.x-k8s.io/admission"),
      );
    const create = (object: KubernetesObject) => api.create(object, { fieldManager });
    const first = clientCluster(parameters, "first", 2);
    const second = clientCluster(parameters, "second", 1);
    let head: string | undefined;
    await report.check("a RayCluster whose workers pass the queue by is refused, with what to write", async () => {
      const bare = JSON.parse(JSON.stringify(first), (key, value) => (key === queueLabel ? undefined : value));
      const refusal = await create(bare).then(
        () => undefined,
        (error: unknown) => error,
      );
      holds(refusal instanceof ApiError, `it was not refused: ${refusal}`);
      holds(refusal.message.includes(`need the label ${queueLabel}: lakehead`), refusal.message);
      return undefined;
    });
    await report.check("a worker beyond the quota waits, and the heads run", async () => {
      await create(first);
      await until("two workers", async () => ((await running("first", "worker")).length === 2 ? true : undefined));
      await create(second);
      const [only] = await until("a head and a worker that waits", async () => {
        const heads = await running("second", "head");
        return heads.length === 1 && (await waiting("second")).length === 1 ? heads : undefined;
      });
      head = only?.metadata.uid as string;
      holds((await waiting("first")).length === 0, "a worker of the first waits, too");
      await until("one pending workload", async () => {
        const [queue] = await api.list("kueue.x-k8s.io/v1beta2", "ClusterQueue");
        return queue?.status.pendingWorkloads === 1 ? true : undefined;
      });
      return undefined;
    });
    await report.check("it starts when another RayCluster ends, under the same head", async () => {
      await api.remove(first);
      await until("the worker", async () => ((await running("second", "worker")).length === 1 ? true : undefined));
      const heads = await running("second", "head");
      holds(heads.length === 1 && heads[0]?.metadata.uid === head, "the head is another pod");
      return undefined;
    });
    await report.check("nothing of Kueue stays with the pods of a RayCluster that is deleted", async () => {
      await api.remove(second);
      await until("the end of all pods", async () =>
        (await api.list("v1", "Pod", namespace)).length === 0 ? true : undefined,
      );
      return undefined;
    });
  } finally {
    await daemon?.stop();
    await cluster.close();
  }
}
