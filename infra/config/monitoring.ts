import { z } from "zod";
import { dcgmExporter, kubeStateMetrics, openCost, prometheusStack } from "../versions.ts";
import { count, cpus, flag, group, kubernetesName, memory } from "./fields.ts";
import { chart } from "./ray.ts";

const labels = (text: string) => z.record(z.string(), z.string()).describe(text);

/** What every mode has that collects metrics. */
const common = {
  runbooks: z
    .string()
    .min(1)
    .default("docs")
    .describe("Where `operations.md` can be read, such as https://git.example.com/lakehead/blob/main/docs"),
  dashboards: flag(
    true,
    "Grafana's dashboard of the table service and the jobs, as a ConfigMap with the label `grafana_dashboard`",
  ),
  gpuMetrics: group("Metrics of GPUs", {
    enabled: flag(true, "Install NVIDIA's dcgm-exporter where the stack installs the device plugin; GKE has its own"),
    chart: chart(dcgmExporter.chart).describe("Chart location, for mirrors"),
    image: z.string().default(dcgmExporter.image).describe("Image repository without tag, for mirrors"),
  }),
};

const namespace = kubernetesName().default("monitoring").describe("Namespace of Prometheus, which the stack creates");

/** The Prometheus that a stack runs. */
const prometheus = {
  namespace,
  cpus: cpus.default(0.5).describe("CPUs of Prometheus, as request"),
  memory: memory.default("2Gi").describe("Memory of Prometheus, as request and limit"),
  chart: chart(prometheusStack.chart).describe("Location of the chart kube-prometheus-stack, for mirrors"),
  crds: z
    .string()
    .default(prometheusStack.crds)
    .describe("Base URL or directory of `v<version>/example/prometheus-operator-crd/*.yaml`"),
};

const none = z.strictObject({ mode: z.literal("none").describe("Nothing collects metrics, and no alert fires") });
const existing = z.strictObject({
  mode: z.literal("existing").describe("Monitors and rules for the Prometheus operator that the cluster has"),
  namespace: kubernetesName().default("monitoring").describe("Namespace of that Prometheus"),
  prometheusLabels: labels("Labels of its pods: the network policies admit these pods and no other").default({
    "app.kubernetes.io/name": "prometheus",
  }),
  labels: labels(
    "Labels of monitors and rules by which that operator selects them, such as `release: prometheus`",
  ).default({}),
  ...common,
});
const stack = z.strictObject({
  mode: z.literal("stack").describe("Prometheus, Alertmanager and Grafana of the chart kube-prometheus-stack"),
  ...prometheus,
  retentionDays: count(1, 365).default(15).describe("Days that metrics are kept"),
  volumeSize: memory.default("20Gi").describe("Size of the volume of the metrics"),
  openCost: group("Costs of pods", {
    enabled: flag(false, "Install OpenCost: costs of pods by their labels, at list prices"),
    chart: chart(openCost.chart).describe("Chart location, for mirrors"),
  }),
  ...common,
});

/** The mode of a cloud that stores metrics itself. */
export const amazonManaged = z.strictObject({
  mode: z
    .literal("managed")
    .describe("A workspace of Amazon Managed Service for Prometheus, and an agent in the cluster that writes to it"),
  ...prometheus,
  ...common,
});
export const googleManaged = z.strictObject({
  mode: z.literal("managed").describe("Google Cloud Managed Service for Prometheus, whose collectors GKE runs"),
  namespace: kubernetesName()
    .default("monitoring")
    .describe("Namespace of kube-state-metrics, which the stack creates"),
  kubeStateMetrics: group("Metrics of pods, nodes, CronJobs and the quota", {
    chart: chart(kubeStateMetrics.chart).describe("Chart location, for mirrors"),
    registry: z.string().default(kubeStateMetrics.registry).describe("Registry of the image, for mirrors"),
  }),
  ...common,
});

const message = (modes: string) => ({ error: `one of ${modes} under \`mode\`` });
const finish = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .prefault({ mode: "none" } as z.input<Schema>)
    .describe("Metrics, alerts and dashboards; see docs/monitoring.md");

export const monitoringSchema = finish(
  z.discriminatedUnion("mode", [none, existing, stack], message("none, existing, stack")),
);
const four = message("none, existing, stack, managed");
export const amazonMonitoringSchema = finish(
  z.discriminatedUnion("mode", [none, existing, stack, amazonManaged], four),
);
export const googleMonitoringSchema = finish(
  z.discriminatedUnion("mode", [none, existing, stack, googleManaged], four),
);

export type MonitoringSettings = z.output<typeof amazonMonitoringSchema> | z.output<typeof googleMonitoringSchema>;
export type CollectedMetrics = Exclude<MonitoringSettings, { mode: "none" }>;
export type OwnPrometheus = Extract<MonitoringSettings, { crds: string }>;
