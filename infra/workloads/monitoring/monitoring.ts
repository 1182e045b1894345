import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { Cloud } from "../../clouds/cloud.ts";
import type { Config } from "../../clouds/schema.ts";
import type { CollectedMetrics } from "../../config/monitoring.ts";
import { chartInputs } from "../../kubernetes/chart.ts";
import { managedBy } from "../../kubernetes/labels.ts";
import { dashboard } from "../../model/dashboard.ts";
import { metricLabels } from "../../model/names.ts";
import { scrapedSources, scrapeTargets } from "../../model/scrape-targets.ts";
import { kubeStateMetrics } from "../../versions.ts";
import { Namespace } from "../namespace.ts";
import { DcgmExporter } from "./dcgm-exporter.ts";
import { type CustomObject, type MonitorKinds, monitors, rules, stateMetricsMonitor } from "./objects.ts";
import { OpenCost } from "./open-cost.ts";
import { PrometheusCrds, PrometheusStack } from "./prometheus-stack.ts";

export interface MonitoringContext {
  /** Version of the Pod Security Standards for the namespace. */
  readonly policyVersion: string;
  /** What must exist before the charts, and go after them. */
  readonly after: readonly pulumi.Resource[];
}

/** Everything that `monitoring.mode` asks for: charts, monitors, rules. */
export function createMonitoring(
  config: Config,
  cloud: Cloud,
  { policyVersion, after }: MonitoringContext,
  parent: pulumi.Resource,
): void {
  const { monitoring } = config;
  if (monitoring.mode === "none") return;
  const { systemNodeSelector: nodeSelector, devicePlugin } = cloud.cluster;
  const ready: pulumi.Resource[] = [...after];
  if (monitoring.mode !== "existing") {
    // Prometheus' own pods keep the restricted standard; Grafana's sidecars do not name a seccomp profile.
    const home = new Namespace(
      "monitoring-namespace",
      { name: monitoring.namespace, enforce: "baseline", policyVersion },
      { parent, dependsOn: [...after] },
    );
    const place = { namespace: home.namespaceName, nodeSelector };
    if ("crds" in monitoring) {
      const remoteWrite = cloud.managedMetrics?.kinds === "prometheus-operator" ? cloud.managedMetrics : undefined;
      const crds = new PrometheusCrds(
        "prometheus-crds",
        { base: monitoring.crds },
        { parent, provider: cloud.crdProvider },
      );
      const prometheus = new PrometheusStack(
        "prometheus",
        { ...place, settings: monitoring, remoteWrite, clusterName: config.clusterName },
        { parent, dependsOn: [crds] },
      );
      ready.push(crds, prometheus);
      if ("openCost" in monitoring && monitoring.openCost.enabled)
        new OpenCost(
          "open-cost",
          { ...place, settings: monitoring.openCost, clusterName: config.clusterName },
          { parent, dependsOn: [prometheus] },
        );
    } else ready.push(new StateMetrics("kube-state-metrics", { ...place, settings: monitoring }, { parent }));
  }
  const gpu = devicePlugin !== undefined && monitoring.gpuMetrics.enabled;
  if (gpu) ready.push(new DcgmExporter("dcgm-exporter", monitoring.gpuMetrics, { parent, dependsOn: [...after] }));

  const targets = scrapeTargets(config, gpu);
  const kinds: MonitorKinds = cloud.managedMetrics?.kinds ?? "prometheus-operator";
  const { runbooks } = monitoring;
  const sources = scrapedSources(config, gpu);
  // Amazon evaluates the rules in its own workspace.
  const alerts =
    cloud.managedMetrics?.kinds === "prometheus-operator"
      ? []
      : [rules(kinds, { namespace: config.namespace, runbooks, sources })];
  if (monitoring.dashboards)
    new Dashboard("dashboard", { namespace: config.namespace }, { parent, dependsOn: [...after] });
  new Monitors(
    "monitors",
    {
      objects: [...monitors(kinds, targets), ...(kinds === "google" ? [stateMetricsMonitor] : []), ...alerts],
      labels: monitoring.mode === "existing" ? monitoring.labels : {},
    },
    { parent, dependsOn: ready },
  );
}

/** A dashboard that the sidecar of Grafana's chart finds by its label. */
class Dashboard extends pulumi.ComponentResource {
  constructor(name: string, { namespace }: { readonly namespace: string }, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:Dashboard", name, {}, opts);
    new kubernetes.core.v1.ConfigMap(
      name,
      {
        metadata: { name: "lakehead-dashboard", namespace, labels: { ...managedBy, grafana_dashboard: "1" } },
        data: { "lakehead.json": JSON.stringify(dashboard(namespace)) },
      },
      { parent: this },
    );
  }
}

interface StateMetricsArgs {
  readonly settings: Extract<CollectedMetrics, { kubeStateMetrics: object }>;
  readonly namespace: pulumi.Input<string>;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/** The collectors whose series the alerts and the costs read. */
const collectors = ["cronjobs", "jobs", "nodes", "pods", "resourcequotas"];

/** Metrics of Kubernetes' objects, where no other chart brings them. */
class StateMetrics extends pulumi.ComponentResource {
  constructor(name: string, { settings, ...place }: StateMetricsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:StateMetrics", name, {}, opts);
    new kubernetes.helm.v3.Release(
      name,
      {
        ...chartInputs(settings.kubeStateMetrics.chart, kubeStateMetrics.version),
        name,
        namespace: place.namespace,
        atomic: true,
        values: {
          image: { registry: settings.kubeStateMetrics.registry },
          prometheusScrape: false,
          collectors,
          metricLabelsAllowlist: [...metricLabels],
          nodeSelector: { ...place.nodeSelector },
          resources: { requests: { cpu: "50m", memory: "256Mi" }, limits: { memory: "256Mi" } },
        },
      },
      { parent: this },
    );
  }
}

interface MonitorsArgs {
  readonly objects: readonly CustomObject[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Targets and rules as objects of an operator's kinds. */
class Monitors extends pulumi.ComponentResource {
  constructor(name: string, { objects, labels }: MonitorsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:Monitors", name, {}, opts);
    for (const { apiVersion, kind, namespace, spec, ...object } of objects)
      new kubernetes.apiextensions.CustomResource(
        `${name}-${kind.toLowerCase()}-${object.name}`,
        {
          apiVersion,
          kind,
          metadata: {
            name: object.name,
            ...(namespace === undefined ? {} : { namespace }),
            labels: { ...managedBy, ...labels },
          },
          spec,
        },
        { parent: this },
      );
  }
}
