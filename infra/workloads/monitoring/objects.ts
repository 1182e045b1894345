/** The objects by which operators of Prometheus learn of targets and rules. */

import { ruleGroups } from "../../model/alerts.ts";
import type { ScrapeTarget } from "../../model/scrape-targets.ts";

/** Whose kinds: those of prometheus-operator, or Google's. */
export type MonitorKinds = "prometheus-operator" | "google";

export interface CustomObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly spec: object;
}

const interval = "30s";

/** One for each target, with the name of its job. */
export const monitors = (kinds: MonitorKinds, targets: readonly ScrapeTarget[]): CustomObject[] =>
  targets.map((target) => ({
    ...(kinds === "google"
      ? { apiVersion: "monitoring.googleapis.com/v1", kind: "PodMonitoring", spec: podMonitoring(target) }
      : { apiVersion: "monitoring.coreos.com/v1", kind: "PodMonitor", spec: podMonitor(target) }),
    name: target.job,
    namespace: target.namespace,
  }));

function podMonitor({ job, selector, port, undeclaredPorts = [], podLabels = {} }: ScrapeTarget) {
  const endpoint = (number?: number) => ({
    port,
    interval,
    relabelings: [
      // The operator's own would be "<namespace>/<name of this object>".
      { action: "replace", targetLabel: "job", replacement: job },
      // The client's pods do not declare these ports, and a target exists only for a declared one.
      ...(number === undefined
        ? []
        : [
            {
              action: "replace",
              sourceLabels: ["__meta_kubernetes_pod_ip"],
              targetLabel: "__address__",
              replacement: `$1:${number}`,
            },
            {
              action: "replace",
              sourceLabels: ["__meta_kubernetes_pod_ip"],
              targetLabel: "instance",
              replacement: `$1:${number}`,
            },
          ]),
      ...Object.entries(podLabels).map(([from, targetLabel]) => ({
        action: "replace",
        sourceLabels: [`__meta_kubernetes_pod_label_${from.replaceAll(/[^a-zA-Z0-9_]/g, "_")}`],
        targetLabel,
      })),
    ],
  });
  return {
    selector: { matchLabels: { ...selector } },
    podMetricsEndpoints: [endpoint(), ...undeclaredPorts.map(endpoint)],
  };
}

/** Google's collectors take the job from the object's name, and a number for a port that is not declared. */
const podMonitoring = ({ selector, port, undeclaredPorts = [], podLabels = {} }: ScrapeTarget) => ({
  selector: { matchLabels: { ...selector } },
  endpoints: [port, ...undeclaredPorts].map((one) => ({ port: one, interval })),
  ...(Object.keys(podLabels).length === 0
    ? {}
    : { targetLabels: { fromPod: Object.entries(podLabels).map(([from, to]) => ({ from, to })) } }),
});

/** Google's monitor of kube-state-metrics. Its series name the namespace that they are about, so the target's own is left out. */
export const stateMetricsMonitor: CustomObject = {
  apiVersion: "monitoring.googleapis.com/v1",
  kind: "ClusterPodMonitoring",
  name: "kube-state-metrics",
  spec: {
    selector: { matchLabels: { "app.kubernetes.io/name": "kube-state-metrics" } },
    endpoints: [{ port: "http", interval }],
    targetLabels: { metadata: [] },
  },
};

export interface RuleSettings {
  readonly namespace: string;
  readonly runbooks: string;
  /** The jobs that are scraped. */
  readonly sources: readonly string[];
}

/** Every alert. Google's namespaced rules would see the series of their own namespace alone. */
export const rules = (kinds: MonitorKinds, { namespace, runbooks, sources }: RuleSettings): CustomObject => ({
  ...(kinds === "google"
    ? { apiVersion: "monitoring.googleapis.com/v1", kind: "ClusterRules" }
    : { apiVersion: "monitoring.coreos.com/v1", kind: "PrometheusRule", namespace }),
  name: "lakehead",
  spec: {
    groups: ruleGroups(namespace, runbooks, sources)
      .filter((group) => group.rules.length > 0)
      .map((group) => ({ ...group, ...(kinds === "google" ? { interval } : {}) })),
  },
});
