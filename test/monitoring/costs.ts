/** What pods cost, by a real Prometheus on recorded series of kube-state-metrics. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { podCosts, renderPodCosts } from "../../infra/verify/cost/cost.ts";
import { podsOfPrometheus } from "../../infra/verify/cost/prometheus.ts";
import { end, startPrometheus } from "./prometheus.ts";

const run = promisify(execFile);
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

interface Recorded {
  readonly pod: string;
  readonly node: string;
  /** Seconds before now at which it began, and for which it ran. */
  readonly before: number;
  readonly ran: number;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly cpus?: number;
  readonly gpus?: number;
  /** The collectors that scraped it. */
  readonly collectors?: readonly string[];
}

const job = { label_lakehead_job: "embeddings", label_lakehead_owner: "ada" };
const pods: readonly Recorded[] = [
  // Half of a node of 4 CPUs for two hours, seen by two collectors.
  { pod: "w1", node: "spot", before: 3 * day, ran: 2 * hour, labels: job, cpus: 2, collectors: ["a", "b"] },
  // A quarter of it, and all of its GPUs.
  { pod: "w2", node: "gpu", before: 3 * day, ran: hour, labels: job, cpus: 1, gpus: 1 },
  { pod: "head", node: "bare", before: 2 * day, ran: hour, labels: { label_ray_io_cluster: "lakehead" }, cpus: 4 },
  { pod: "long ago", node: "gpu", before: 9 * day, ran: hour, labels: job, cpus: 1 },
  { pod: "another", node: "gpu", before: day, ran: hour, namespace: "elsewhere", labels: job, cpus: 1 },
];
const nodes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  spot: { label_node_kubernetes_io_instance_type: "m7i.xlarge", label_eks_amazonaws_com_capacity_type: "SPOT" },
  gpu: { label_node_kubernetes_io_instance_type: "g6.xlarge", label_eks_amazonaws_com_capacity_type: "ON_DEMAND" },
  bare: {},
};

/** A sample a minute of each series, from the pod's begin to its end. */
function recording(now: number): string {
  const families = new Map<string, string[]>();
  const record = (name: string, labels: Readonly<Record<string, string>>, value: number, from: number, to: number) => {
    const text = Object.entries(labels).map(([key, one]) => `${key}="${one}"`);
    const lines = families.get(name) ?? [];
    families.set(name, lines);
    for (let at = from; at <= to; at += minute) lines.push(`${name}{${text}} ${value} ${at}`);
  };
  for (const {
    pod,
    node,
    before,
    ran,
    namespace = "lancedb",
    labels = {},
    cpus = 0,
    gpus = 0,
    collectors = ["a"],
  } of pods)
    for (const instance of collectors) {
      const [from, to] = [now - before, now - before + ran];
      const its = { namespace, pod, uid: `uid of ${pod}`, instance };
      const request = { ...its, container: "ray" };
      record("kube_pod_status_phase", { ...its, phase: "Running" }, 1, from, to - minute);
      record("kube_pod_status_phase", { ...its, phase: "Running" }, 0, to, to + 10 * minute);
      record("kube_pod_labels", { ...its, ...labels }, 1, from, to);
      record("kube_pod_info", { ...its, node }, 1, from, to);
      record("kube_pod_container_resource_requests", { ...request, resource: "cpu" }, cpus, from, to);
      if (gpus > 0)
        record("kube_pod_container_resource_requests", { ...request, resource: "nvidia_com_gpu" }, gpus, from, to);
      record("kube_node_labels", { node, instance: `${instance} of ${pod}`, ...nodes[node] }, 1, from, to);
      record("kube_node_status_allocatable", { node, instance: `${instance} of ${pod}`, resource: "cpu" }, 4, from, to);
      record(
        "kube_node_status_allocatable",
        { node, instance: `${instance} of ${pod}`, resource: "nvidia_com_gpu" },
        node === "gpu" ? 1 : 0,
        from,
        to,
      );
    }
  const text = [...families].flatMap(([name, lines]) => [`# TYPE ${name} gauge`, ...lines]);
  return `${[...text, "# EOF"].join("\n")}\n`;
}

/** @returns what is wrong */
export async function costsOfRecordedPods(): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "lakehead-costs-"));
  const started = [];
  try {
    const now = Math.floor(Date.now() / minute / 1000) * minute;
    await writeFile(join(folder, "series"), recording(now));
    await mkdir(join(folder, "data"));
    await run("promtool", ["tsdb", "create-blocks-from", "openmetrics", join(folder, "series"), join(folder, "data")], {
      maxBuffer: 2 ** 26,
    });
    const prometheus = await startPrometheus(folder, { global: {} });
    started.push(prometheus.process);
    const found = await podsOfPrometheus({ url: prometheus.url, token: undefined }, "lancedb", 7);
    const row = (item: string, usd: number) =>
      ({
        cloud: "aws",
        region: "*",
        item,
        usd,
        per: "hour",
        date: "2026-11-25",
        source: "https://prices.invalid",
      }) as const;
    const costs = podCosts(found, [row("m7i.xlarge spot", 0.1), row("g6.xlarge", 1)], {
      cloud: "aws",
      region: "eu-central-1",
    });
    const printed = renderPodCosts("aws-dev", costs, { days: 7, source: "Prometheus" });
    const expected = [
      // Two hours of half a machine at 0.1, and an hour of a whole one at 1.
      "| embeddings | ada |  | 2 | 3.00 | 1.10 | 1.00 × m7i.xlarge spot; 1.00 × g6.xlarge |",
      "| none, RayCluster lakehead |  |  | 1 | 1.00 | 0.00 | 1.00 × a node of unknown type |",
      "| sum without what has no price |  |  | 3 | 4.00 | 1.10 |  |",
    ];
    const lines = printed.split("\n");
    const faults = expected.filter((line) => !lines.includes(line)).map((line) => `not printed: ${line}`);
    return faults.length === 0 ? [] : [...faults, printed];
  } finally {
    await end(started);
    await rm(folder, { recursive: true, force: true });
  }
}
