import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { unbuilt } from "../../tools/parts/control-plane/go.ts";
import { kuberayCrds, kuberayVersion } from "../../tools/parts/control-plane/table.ts";
import { freePort } from "../../tools/parts/free-port.ts";
import { controlPlane, startCluster } from "../e2e/support/cluster.ts";
import { kuberayCrdBase } from "../e2e/support/crds.ts";
import type { Pod } from "./scrape.ts";

interface Operator {
  readonly pod: Pod;
  close(): Promise<void>;
}

const fieldManager = "lakehead-monitoring";

/** KubeRay's operator with a RayCluster in the namespace, on a real API server; undefined where its parts are not built. */
export async function startOperator(namespace: string, log: (line: string) => void): Promise<Operator | undefined> {
  if (unbuilt([...controlPlane, "kwok"]).length > 0) return undefined;
  const port = await freePort();
  const allocatable = { cpu: "16", memory: "64Gi" };
  const cluster = await startCluster({ log, nodes: [{ name: "node", allocatable }], operatorMetrics: port });
  try {
    const folder = join(await kuberayCrdBase(), kuberayVersion, "ray-operator", kuberayCrds.folder);
    for (const file of (await readdir(folder)).filter((name) => name.startsWith("ray.io_")))
      await cluster.api.apply(parse(await readFile(join(folder, file), "utf8")), { fieldManager });
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
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return {
    pod: {
      namespace: "kuberay-system",
      name: "kuberay-operator-0",
      labels: { "app.kubernetes.io/name": "kuberay-operator" },
      ports: { http: port },
    },
    close: () => cluster.close(),
  };
}
