import { randomBytes } from "node:crypto";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { MissingPart } from "../../tools/parts/control-plane/go.ts";
import type { Ground } from "../e2e/local/lifecycle.ts";
import { namespace, stackName, tableService } from "../e2e/local/stack.ts";
import { Api } from "../e2e/support/api.ts";
import { contextName } from "../e2e/support/cluster.ts";
import { type Engine, isPulumiInstalled, openEngine } from "../e2e/support/engine.ts";
import { findProvider } from "../e2e/support/installed-provider.ts";
import { readKubeconfig } from "../e2e/support/kubeconfig.ts";
import type { Report } from "../e2e/support/report.ts";
import { type RealCluster, startRealCluster } from "./cluster/cluster.ts";

/** The cluster and the engine: the caller's, or this suite's own. */
export interface Surroundings {
  readonly engine: Engine;
  readonly api: Api;
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  /** The suite's own cluster; undefined with KUBECONFIG. */
  readonly own: RealCluster | undefined;
  /** Helm releases are rendered, so that KubeRay runs as a pod. */
  readonly charts: boolean;
  /** What the stack's configuration needs in these surroundings. */
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly title: string;
  close(): Promise<void>;
}

export { namespace, stackName, tableService };
/** Bearer token of the table service: that of the caller, who can then ask a cluster that is kept. */
export const token = process.env.LAKEHEAD_TOKEN ?? randomBytes(24).toString("hex");

/** @throws MissingPart */
export async function openSurroundings(log: (line: string) => void): Promise<Surroundings> {
  const installed = await isPulumiInstalled();
  const kubernetesProvider = installed ? undefined : await findProvider("kubernetes");
  const charts = installed || kubernetesProvider !== undefined;
  const provider = charts
    ? `Pulumi's Kubernetes provider (${kubernetesProvider === undefined ? "as the CLI installs it" : "of PATH or the plugin folder"})`
    : "this project's stand-in for the Kubernetes provider";
  const { LAKEHEAD_NODES_IMAGES: images, LAKEHEAD_NODES_OPERATOR: operator, WORK: work, KUBECONFIG = "" } = process.env;
  const chart = operator === undefined ? {} : { "lakehead:operator": JSON.parse(operator) as object };
  const openOwnEngine = (kubeconfig: string) =>
    openEngine({ log, installed, kubernetesProvider, env: { KUBECONFIG: kubeconfig } });
  if (images === undefined || work === undefined) {
    if (!charts)
      throw new MissingPart(
        "Pulumi's Kubernetes provider or CLI: without it nothing installs KubeRay in the cluster of KUBECONFIG",
      );
    const engine = await openOwnEngine(KUBECONFIG);
    const api = new Api(readKubeconfig(KUBECONFIG));
    const close = async () => {
      api.close();
      await engine.close();
    };
    const title = `Pulumi ${engine.version} with ${provider} on the cluster of KUBECONFIG`;
    return { engine, api, kubeconfig: KUBECONFIG, own: undefined, charts, overrides: chart, title, close };
  }
  const own = await startRealCluster({ log, folder: join(work, "cluster"), images, operatorAsPod: charts });
  const { api, kubeconfig } = own.cluster;
  await symlink(kubeconfig, join(work, "kubeconfig"));
  const engine = await openOwnEngine(kubeconfig);
  const close = async () => {
    await engine.close();
    await own.close();
  };
  const title = `Pulumi ${engine.version} with ${provider} on a cluster of this suite's own`;
  const overrides = { "lakehead:context": contextName, ...chart };
  return { engine, api, kubeconfig, own, charts, overrides, title, close };
}

/** The sizes of the example `local`. An idle worker goes sooner, which a suite need not wait for. */
export const ray = {
  head: { cpus: 1, memory: "2Gi", ephemeralStorage: "4Gi" },
  cpuWorkers: { cpus: 2, memory: "6Gi", ephemeralStorage: "4Gi", maxReplicas: 1 },
  idleTimeoutSeconds: 15,
};

/** The configuration of the stack with these keys in place of the defaults of this suite. */
export const configured = (
  { overrides }: Pick<Surroundings, "overrides">,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> => ({
  ...overrides,
  "lakehead:ray": ray,
  "lakehead:tableService": tableService,
  // The runtime's client refuses an account without one; any satisfies it.
  "lakehead:accountAnnotations": { "eks.amazonaws.com/role-arn": "arn:aws:iam::210987654321:role/nodes" },
  ...more,
});

/** Where the stack's life goes on. */
export const groundOf = (surroundings: Surroundings, report: Report): Ground => {
  const { engine, api, kubeconfig } = surroundings;
  return { engine, api, kubeconfig, report, overrides: configured(surroundings), token };
};
