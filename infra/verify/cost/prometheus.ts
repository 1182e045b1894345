/** The pods of the last days by the series of kube-state-metrics. */

import { z } from "zod";
import type { Amount } from "../../model/fit.ts";
import { jobPodLabels, pricedNodeLabels } from "../../model/names.ts";
import { gpuResource } from "../../model/roles.ts";
import { type NodeSize, nothing, type PodUse } from "./cost.ts";

export class PrometheusError extends Error {}

export interface Prometheus {
  /** Without `/api/v1`. */
  readonly url: string;
  /** Bearer token, where it wants one. */
  readonly token: string | undefined;
}

type Labels = Readonly<Record<string, string>>;
interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

const answerSchema = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("success"),
    data: z.object({
      result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
    }),
  }),
  z.object({ status: z.literal("error"), error: z.string() }),
]);

/** @throws PrometheusError with its message */
async function ask({ url, token }: Prometheus, query: string): Promise<Sample[]> {
  let answer: z.output<typeof answerSchema>;
  try {
    const response = await fetch(`${url.replace(/\/+$/, "")}/api/v1/query`, {
      method: "POST",
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      body: new URLSearchParams({ query }),
      signal: AbortSignal.timeout(120_000),
    });
    const text = await response.text();
    if (response.status === 401 || response.status === 403)
      throw new Error(`${response.status}; set LAKEHEAD_PROMETHEUS_TOKEN to a bearer token that may query it`);
    answer = answerSchema.parse(JSON.parse(text));
  } catch (error) {
    const { cause, message } = error as Error;
    throw new PrometheusError(
      `${url} does not answer as Prometheus: ${cause instanceof Error ? cause.message : message}`,
    );
  }
  if (answer.status === "error") throw new PrometheusError(`${url}: ${answer.error}: ${query}`);
  return answer.data.result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
}

/** kube-state-metrics writes the label `eks.amazonaws.com/capacityType` as `label_eks_amazonaws_com_capacity_type`. */
const seriesLabel = (label: string): string =>
  `label_${label
    .replaceAll(/[^a-zA-Z0-9_]/g, "_")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()}`;

const named = (labels: readonly string[], series: Labels): Labels =>
  Object.fromEntries(
    labels.flatMap((label) => {
      const value = series[seriesLabel(label)] ?? "";
      return value === "" ? [] : [[label, value]];
    }),
  );

const amounts: Readonly<Record<string, "cpus" | "memoryBytes" | "gpus">> = {
  cpu: "cpus",
  memory: "memoryBytes",
  [gpuResource.replaceAll(/[^a-z]/g, "_")]: "gpus",
};

/** The sum of the samples of each thing, by resource. */
function amountsBy(samples: readonly Sample[], keyOf: (labels: Labels) => string): ReadonlyMap<string, Amount> {
  const sums = new Map<string, Amount>();
  for (const { labels, value } of samples) {
    const amount = amounts[labels.resource ?? ""];
    const before = sums.get(keyOf(labels)) ?? nothing;
    if (amount !== undefined) sums.set(keyOf(labels), { ...before, [amount]: before[amount] + value });
  }
  return sums;
}

const podKey = ({ pod = "", uid = "" }: Labels): string => `${pod} ${uid}`;
const nodeKey = ({ node = "" }: Labels): string => node;
const byKey = (samples: readonly Sample[], keyOf: (labels: Labels) => string) =>
  new Map(samples.map(({ labels }) => [keyOf(labels), labels]));

/** Two replicas of a scraper or of kube-state-metrics have each series twice: one of them counts. */
export async function podsOfPrometheus(
  prometheus: Prometheus,
  namespace: string,
  days: number,
): Promise<readonly PodUse[]> {
  const here = `namespace="${namespace}"`;
  const last = (series: string, by: string) => ask(prometheus, `max by (${by}) (last_over_time(${series}[${days}d]))`);
  const labels = (of: readonly string[]) => of.map(seriesLabel).join(", ");
  const [running, podLabels, requests, places, nodeLabels, allocatable] = await Promise.all([
    ask(
      prometheus,
      `sum_over_time(max by (pod, uid) (kube_pod_status_phase{${here},phase="Running"})[${days}d:1m]) * 60 > 0`,
    ),
    last(`kube_pod_labels{${here}}`, `pod, uid, ${labels(jobPodLabels)}`),
    last(`kube_pod_container_resource_requests{${here}}`, "pod, uid, container, resource"),
    last(`kube_pod_info{${here},node!=""}`, "pod, uid, node"),
    last("kube_node_labels", `node, ${labels(pricedNodeLabels)}`),
    last("kube_node_status_allocatable", "node, resource"),
  ]);
  const requested = amountsBy(requests, podKey);
  const available = amountsBy(allocatable, nodeKey);
  const labelsOfPods = byKey(podLabels, podKey);
  const placesOfPods = byKey(places, podKey);
  const nodes = new Map(
    nodeLabels.map(({ labels: of }): [string, NodeSize] => [
      nodeKey(of),
      { labels: named(pricedNodeLabels, of), allocatable: available.get(nodeKey(of)) ?? nothing },
    ]),
  );
  return running.map(({ labels: of, value }) => {
    const key = podKey(of);
    return {
      name: of.pod ?? "",
      labels: named(jobPodLabels, labelsOfPods.get(key) ?? {}),
      seconds: value,
      requests: requested.get(key) ?? nothing,
      node: nodes.get(placesOfPods.get(key)?.node ?? ""),
    };
  });
}
