import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { nodeLabels, nodeTaints } from "../../../infra/model/roles.ts";
import { MissingPart } from "../../../tools/parts/control-plane/go.ts";
import { contextName, startCluster } from "../support/cluster.ts";
import { isPulumiInstalled, openEngine } from "../support/engine.ts";
import { findProvider } from "../support/installed-provider.ts";
import type { NodeSpec } from "../support/nodes.ts";
import { operatorChart } from "../support/operator-chart.ts";
import type { Report } from "../support/report.ts";
import type { Ground } from "./lifecycle.ts";
import { tableService } from "./stack.ts";

/** A control plane with simulated nodes, and the engine. */
export interface Surroundings {
  readonly ground: Ground;
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
  "lakehead:tableService": tableService,
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

/** @throws MissingPart */
export async function openSurroundings(report: Report): Promise<Surroundings> {
  await promisify(execFile)("kubectl", ["version", "--client"]).catch(() => {
    throw new MissingPart("kubectl is not on PATH");
  });
  const { log } = report;
  const installed = await isPulumiInstalled();
  const cluster = await startCluster({ log, nodes });
  try {
    const kubernetesProvider = installed ? undefined : await findProvider("kubernetes");
    const { api, kubeconfig } = cluster;
    const engine = await openEngine({ log, installed, kubernetesProvider, env: { KUBECONFIG: kubeconfig } });
    const provider =
      installed || kubernetesProvider !== undefined
        ? `Pulumi's Kubernetes provider (${kubernetesProvider ?? "as the CLI installs it"})`
        : "this project's stand-in for the Kubernetes provider";
    const overrides = { ...simulatedOverrides, "lakehead:operator": await operatorChart() };
    const close = async () => {
      await engine.close();
      await cluster.close();
    };
    const title = `Pulumi ${engine.version} with ${provider} on a control plane with simulated nodes`;
    log(title);
    return {
      ground: { engine, api, kubeconfig, report, overrides, token: randomBytes(24).toString("hex") },
      title,
      close,
    };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}
