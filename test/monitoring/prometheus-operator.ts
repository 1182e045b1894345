/** The pods of a real Prometheus operator against the network policies that admit them. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { prometheusStack } from "../../infra/versions.ts";
import { goModule, goPart } from "../../tools/parts/control-plane/go.ts";
import { type PartName, prometheusOperator } from "../../tools/parts/control-plane/table.ts";
import { freePort } from "../../tools/parts/free-port.ts";
import type { Api, KubernetesObject } from "../e2e/support/api.ts";
import { controlPlane, startCluster } from "../e2e/support/cluster.ts";
import { Daemon, until } from "../e2e/support/daemon.ts";
import { type Manifest, manifests } from "../infra/kubernetes/manifests.ts";
import { runStack } from "../support/infra/stacks.ts";

export const operatorParts: readonly PartName[] = [...controlPlane, "kwok", "prometheus-operator"];

const fieldManager = "lakehead-monitoring";
const namespace = "monitoring";

/** Where the chart makes a Prometheus, and where an agent: the kinds of the operator, with a stack that has each. */
const cases = {
  Prometheus: {
    apiVersion: "monitoring.coreos.com/v1",
    run: () => runStack("local", "update", { "lakehead:monitoring": { mode: "stack" } }),
  },
  PrometheusAgent: { apiVersion: "monitoring.coreos.com/v1alpha1", run: () => runStack("aws-prod", "update") },
} as const;

type Labels = Readonly<Record<string, string>>;

/** The labels of the pods of Prometheus that the policies of a plan admit. */
function admitted(objects: readonly Manifest[]): Labels[] {
  const sources = objects
    .filter(({ kind }) => kind === "NetworkPolicy")
    .flatMap(({ body }) => body.spec.ingress ?? [])
    .flatMap(({ from }) => from ?? []);
  return sources
    .filter(({ namespaceSelector }) => namespaceSelector?.matchLabels?.["kubernetes.io/metadata.name"] === namespace)
    .map(({ podSelector }) => podSelector.matchLabels);
}

/** The pod template that the operator makes of an object. */
async function templateOf(api: Api, object: KubernetesObject): Promise<Labels> {
  await api.apply(object, { fieldManager });
  return until(`the pods of ${object.kind}`, async () => {
    const sets = await api.list("apps/v1", "StatefulSet", namespace);
    const own = sets.find((set) =>
      (set.metadata.ownerReferences as { kind: string }[] | undefined)?.some(({ kind }) => kind === object.kind),
    );
    return own?.spec.template.metadata.labels as Labels | undefined;
  });
}

/** @returns what is wrong */
export async function judgeScraperLabels(log: (line: string) => void): Promise<string[]> {
  const module = await goModule(prometheusOperator.module, `v${prometheusStack.operatorVersion}`);
  const cluster = await startCluster({ log, nodes: [] });
  const { api, folder } = cluster;
  let operator: Daemon | undefined;
  try {
    const definitions = join(module, prometheusOperator.definitions);
    for (const file of await readdir(definitions))
      await api.apply(parse(await readFile(join(definitions, file), "utf8")), { fieldManager });
    await api.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, { fieldManager });
    operator = new Daemon({
      name: "prometheus-operator",
      command: join(await goPart("prometheus-operator", log), "operator"),
      args: [`--web.listen-address=127.0.0.1:${await freePort()}`],
      env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
      logFile: join(folder, "prometheus-operator.log"),
    });
    const faults: string[] = [];
    for (const [kind, { apiVersion, run }] of Object.entries(cases)) {
      const capture = await run();
      if (capture.failure !== undefined) throw new Error(capture.failure);
      const selectors = admitted(manifests(capture));
      if (selectors.length === 0) faults.push(`no policy admits a pod of ${namespace}`);
      const object = { apiVersion, kind, metadata: { name: "prometheus", namespace }, spec: { replicas: 1 } };
      const labels = await templateOf(api, object);
      for (const selector of selectors)
        for (const [key, value] of Object.entries(selector))
          if (labels[key] !== value)
            faults.push(`the policies admit ${key}: ${value}, and the pods of ${kind} have ${labels[key] ?? "none"}`);
    }
    return faults;
  } finally {
    await operator?.stop();
    await cluster.close();
  }
}
