import { join } from "node:path";
import { goPart, unbuilt } from "../../tools/parts/control-plane/go.ts";
import { freePort, freePorts } from "../../tools/parts/free-port.ts";
import { type Cluster, controlPlane, startCluster } from "../e2e/support/cluster.ts";
import { kuberayDefinitions } from "../e2e/support/crds.ts";
import { type Running, startProcess } from "../support/process.ts";
import { end } from "./prometheus.ts";
import type { Pod } from "./scrape.ts";

interface Operator {
  readonly pod: Pod;
  /** Port of the metrics of kube-state-metrics; undefined where it is not built. */
  readonly stateMetrics: number | undefined;
  close(): Promise<void>;
}

const fieldManager = "lakehead-monitoring";

/** The last successful run of a CronJob, and a quota in use: what the rules read beside pods and nodes. */
async function furnish({ api }: Cluster, namespace: string): Promise<void> {
  const run = { spec: { containers: [{ name: "run", image: "node" }], restartPolicy: "Never" } };
  const job = {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "maintenance", namespace },
    spec: { schedule: "0 0 1 1 *", jobTemplate: { spec: { template: run } } },
  };
  await api.apply(job, { fieldManager });
  const status = { ...job, spec: undefined, status: { lastSuccessfulTime: "2026-11-25T00:00:00Z" } };
  const path = `${await api.path(job)}/status?fieldManager=${fieldManager}&force=true`;
  await api.ask("PATCH", path, status, "application/apply-patch+yaml");
  const quota = { metadata: { name: "lakehead", namespace }, spec: { hard: { "requests.cpu": "16" } } };
  await api.apply({ apiVersion: "v1", kind: "ResourceQuota", ...quota }, { fieldManager });
}

/** kube-state-metrics on that API server. */
async function startStateMetrics(
  kubeconfig: string,
): Promise<{ readonly port: number; readonly process: Running } | undefined> {
  if (unbuilt(["kube-state-metrics"]).length > 0) return undefined;
  const [port = 0, own] = await freePorts(2);
  // Go names a program after the last folder of its path.
  const program = join(await goPart("kube-state-metrics", () => {}), "v2");
  const flags = [`--kubeconfig=${kubeconfig}`, "--host=127.0.0.1", `--port=${port}`, `--telemetry-port=${own}`];
  return { port, process: startProcess(program, [...flags, "--resources=cronjobs,nodes,pods,resourcequotas"], {}) };
}

/** KubeRay's operator with a RayCluster in the namespace, on a real API server; undefined where its parts are not built. */
export async function startOperator(namespace: string, log: (line: string) => void): Promise<Operator | undefined> {
  if (unbuilt([...controlPlane, "kwok"]).length > 0) return undefined;
  const port = await freePort();
  const allocatable = { cpu: "16", memory: "64Gi" };
  const cluster = await startCluster({ log, nodes: [{ name: "node", allocatable }], operatorMetrics: port });
  try {
    for (const definition of await kuberayDefinitions()) await cluster.api.apply(definition, { fieldManager });
    await cluster.api.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, { fieldManager });
    const template = {
      spec: {
        containers: [{ name: "ray", image: "rayproject/ray", resources: { requests: { cpu: "1", memory: "1Gi" } } }],
      },
    };
    await cluster.api.apply(
      {
        apiVersion: "ray.io/v1",
        kind: "RayCluster",
        metadata: { name: "geneva", namespace },
        spec: {
          headGroupSpec: { rayStartParams: {}, template },
          workerGroupSpecs: [
            { groupName: "cpu", replicas: 1, minReplicas: 1, maxReplicas: 1, rayStartParams: {}, template },
          ],
        },
      },
      { fieldManager },
    );
    await furnish(cluster, namespace);
  } catch (error) {
    await cluster.close();
    throw error;
  }
  const stateMetrics = await startStateMetrics(cluster.kubeconfig);
  return {
    stateMetrics: stateMetrics?.port,
    pod: {
      namespace: "kuberay-system",
      name: "kuberay-operator-0",
      labels: { "app.kubernetes.io/name": "kuberay-operator" },
      ports: { http: port },
    },
    close: async () => {
      if (stateMetrics !== undefined) await end([stateMetrics.process]);
      await cluster.close();
    },
  };
}
