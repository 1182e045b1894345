import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { RemoteWrite } from "../../clouds/cloud.ts";
import type { OwnPrometheus } from "../../config/monitoring.ts";
import { chartInputs } from "../../kubernetes/chart.ts";
import { fileBelow, retainedDefinitions } from "../../kubernetes/definitions.ts";
import { metricLabels, prometheusAccount } from "../../model/names.ts";
import { prometheusStack } from "../../versions.ts";

export interface PrometheusStackArgs {
  readonly settings: OwnPrometheus;
  readonly namespace: pulumi.Input<string>;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Where an agent writes to; undefined for a Prometheus of its own. */
  readonly remoteWrite: RemoteWrite | undefined;
  readonly clusterName: string;
}

/** The kinds of prometheus-operator 0.93. */
const kinds = [
  ...["alertmanagerconfigs", "alertmanagers", "podmonitors", "probes", "prometheusagents", "prometheuses"],
  ...["prometheusrules", "scrapeconfigs", "servicemonitors", "thanosrulers"],
];

/** The definitions of prometheus-operator, separate from its chart. */
export class PrometheusCrds extends pulumi.ComponentResource {
  /** `opts.provider` must be the `crdProvider` of `connect`, which adopts existing definitions. */
  constructor(name: string, args: { readonly base: string }, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:PrometheusCrds", name, {}, opts);
    const folder = `v${prometheusStack.operatorVersion}/example/prometheus-operator-crd`;
    const files = kinds.map((kind) => fileBelow(args.base, `${folder}/monitoring.coreos.com_${kind}.yaml`));
    retainedDefinitions(name, { files }, { parent: this });
  }
}

/** Prometheus with Alertmanager and Grafana, or the agent alone, from the chart kube-prometheus-stack. */
export class PrometheusStack extends pulumi.ComponentResource {
  constructor(name: string, args: PrometheusStackArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:PrometheusStack", name, {}, opts);
    new kubernetes.helm.v3.Release(
      name,
      {
        ...chartInputs(args.settings.chart, prometheusStack.version),
        name: "prometheus",
        namespace: args.namespace,
        skipCrds: true,
        atomic: true,
        timeout: 900,
        values: prometheusValues(args),
      },
      { parent: this },
    );
  }
}

const off = { enabled: false };
/** Selects monitors and rules of every release, not of the chart's own alone. */
const everyObject = {
  podMonitorSelectorNilUsesHelmValues: false,
  serviceMonitorSelectorNilUsesHelmValues: false,
  probeSelectorNilUsesHelmValues: false,
  scrapeConfigSelectorNilUsesHelmValues: false,
};

/** The chart's values. */
export function prometheusValues({
  settings,
  nodeSelector,
  remoteWrite,
  clusterName,
}: Omit<PrometheusStackArgs, "namespace">) {
  const small = (memory: string) => ({ requests: { cpu: "50m", memory }, limits: { memory } });
  const resources = {
    requests: { cpu: String(settings.cpus), memory: settings.memory },
    limits: { memory: settings.memory },
  };
  return {
    fullnameOverride: "prometheus",
    crds: off,
    // The clouds run these, out of reach.
    kubeControllerManager: off,
    kubeEtcd: off,
    kubeProxy: off,
    kubeScheduler: off,
    // Its pods would share the nodes' namespaces and file systems; the kubelet has the use of nodes and containers.
    nodeExporter: off,
    "kube-state-metrics": {
      nodeSelector: { ...nodeSelector },
      resources: small("256Mi"),
      metricLabelsAllowlist: [...metricLabels],
    },
    prometheusOperator: {
      nodeSelector: { ...nodeSelector },
      resources: small("256Mi"),
      // A private control plane does not reach their ports without a rule of the firewall.
      admissionWebhooks: off,
      tls: off,
    },
    prometheus: {
      serviceAccount: {
        name: prometheusAccount,
        ...(remoteWrite === undefined ? {} : { annotations: { ...remoteWrite.accountAnnotations } }),
      },
      agentMode: remoteWrite !== undefined,
      prometheusSpec: {
        nodeSelector: { ...nodeSelector },
        resources,
        ...everyObject,
        ...(remoteWrite === undefined ? { ruleSelectorNilUsesHelmValues: false } : {}),
        ...("retentionDays" in settings
          ? {
              retention: `${settings.retentionDays}d`,
              storageSpec: {
                volumeClaimTemplate: {
                  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: settings.volumeSize } } },
                },
              },
            }
          : {}),
        ...(remoteWrite === undefined
          ? {}
          : {
              externalLabels: { cluster: clusterName },
              remoteWrite: [{ url: remoteWrite.url, sigv4: { region: remoteWrite.region } }],
            }),
      },
    },
    ...(remoteWrite === undefined
      ? {
          alertmanager: {
            alertmanagerSpec: { nodeSelector: { ...nodeSelector }, resources: small("128Mi") },
          },
          // The chart makes a random password, in the Secret prometheus-grafana.
          grafana: { nodeSelector: { ...nodeSelector }, resources: small("512Mi"), testFramework: off },
        }
      : { alertmanager: off, grafana: off, defaultRules: { create: false } }),
  };
}
