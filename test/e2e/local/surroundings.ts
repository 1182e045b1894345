import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { nodeLabels, nodeTaints } from "../../../infra/model/roles.ts";
import { MissingPart } from "../../../tools/parts/control-plane/go.ts";
import { Api } from "../support/api.ts";
import { contextName, startCluster } from "../support/cluster.ts";
import { kuberayCrdBase, operatorVersion } from "../support/crds.ts";
import { type Engine, isPulumiInstalled, openEngine } from "../support/engine.ts";
import { readKubeconfig } from "../support/kubeconfig.ts";
import { findKubernetesProvider } from "../support/kubernetes-provider.ts";
import type { NodeSpec } from "../support/nodes.ts";
import { writeOperatorChart } from "./chart.ts";

/** The cluster and engine of the suite: those of the caller, or a control plane with simulated nodes. */
export interface Surroundings {
  readonly engine: Engine;
  readonly api: Api;
  /** Path of the kubeconfig; undefined for kubectl's own choice. */
  readonly kubeconfig: string | undefined;
  /** kwok simulates the nodes: pods become ready and run nothing. */
  readonly simulated: boolean;
  /** Helm releases are rendered: Pulumi's own provider runs, not this project's stand-in. */
  readonly charts: boolean;
  /** What the stack's configuration needs in these surroundings. */
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly title: string;
  close(): Promise<void>;
}

const roleOptions = { labelPrefix: "geneva.lancedb.com", headTaint: "PreferNoSchedule" } as const;

/** Sizes of the nodes for pods, as the stack's configuration says them and as the nodes have them. */
const sizes = {
  head: { cpus: 4, memory: "8Gi" },
  cpu: { cpus: 4, memory: "8Gi" },
  gpu: { cpus: 8, memory: "32Gi", gpus: 1 },
} as const;

/** One node of each role and one of none, for the table service. */
const nodes: readonly NodeSpec[] = [
  { name: "system-1", allocatable: { cpu: "4", memory: "8Gi" } },
  ...(["head", "cpu", "gpu"] as const).map((pool): NodeSpec => {
    const role = pool === "head" ? "ray-head" : pool === "cpu" ? "ray-worker-cpu" : "ray-worker-gpu";
    const { cpus, memory } = sizes[pool];
    return {
      name: `${pool}-1`,
      labels: nodeLabels(role, roleOptions),
      taints: nodeTaints(role, roleOptions),
      allocatable: { cpu: String(cpus), memory, ...(pool === "gpu" ? { "nvidia.com/gpu": "1" } : {}) },
    };
  }),
];

/** Every group starts with a pod, because no autoscaler runs in a simulated head. */
const simulatedOverrides = {
  "lakehead:context": contextName,
  "lakehead:nodes": sizes,
  "lakehead:devicePlugin": { mode: "existing" },
  "lakehead:ray": {
    head: { cpus: 1, memory: "2Gi" },
    cpuWorkers: { cpus: 1, memory: "2Gi", minReplicas: 1, maxReplicas: 2 },
    gpuWorkers: { cpus: 4, memory: "8Gi", minReplicas: 1, maxReplicas: 1 },
  },
  "lakehead:quota": { cpus: 16, memory: "32Gi", gpus: 1, rayClusters: 4 },
} as const;

/** The cluster of KUBECONFIG with the `pulumi` of PATH, or a control plane of its own. @throws MissingPart */
export async function openSurroundings(log: (line: string) => void): Promise<Surroundings> {
  await promisify(execFile)("kubectl", ["version", "--client"]).catch(() => {
    throw new MissingPart("kubectl is not on PATH");
  });
  const installed = await isPulumiInstalled();
  const path = process.env.KUBECONFIG;
  if (path === undefined || path === "") {
    const cluster = await startCluster({ log, nodes });
    try {
      const kubernetesProvider = installed ? undefined : await findKubernetesProvider();
      const engine = await openEngine({ log, installed, kubernetesProvider, env: { KUBECONFIG: cluster.kubeconfig } });
      const close = async () => {
        await engine.close();
        await cluster.close();
      };
      const charts = installed || kubernetesProvider !== undefined;
      const provider = charts
        ? `Pulumi's Kubernetes provider (${kubernetesProvider ?? "as the CLI installs it"})`
        : "this project's stand-in for the Kubernetes provider";
      const title = `Pulumi ${engine.version} with ${provider} on a control plane of its own`;
      const { api, kubeconfig } = cluster;
      const overrides = {
        ...simulatedOverrides,
        "lakehead:operator": {
          mode: "helm",
          version: operatorVersion,
          chart: { repository: "", name: await writeOperatorChart(engine.folder, operatorVersion) },
          crds: await kuberayCrdBase(),
        },
      };
      return { engine, api, kubeconfig, simulated: true, charts, overrides, title, close };
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }
  if (!installed)
    throw new MissingPart(
      "there is no pulumi on PATH for the cluster of KUBECONFIG; without KUBECONFIG both are built",
    );
  const engine = await openEngine({ log, installed });
  const api = new Api(readKubeconfig(path));
  const close = async () => {
    api.close();
    await engine.close();
  };
  const title = `Pulumi ${engine.version} with its released Kubernetes provider on the cluster of KUBECONFIG`;
  return { engine, api, kubeconfig: undefined, simulated: false, charts: true, overrides: {}, title, close };
}
