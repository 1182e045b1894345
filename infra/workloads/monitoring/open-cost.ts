import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { CollectedMetrics } from "../../config/monitoring.ts";
import { chartInputs } from "../../kubernetes/chart.ts";
import { openCost } from "../../versions.ts";

export interface OpenCostArgs {
  readonly settings: Extract<CollectedMetrics, { openCost: object }>["openCost"];
  /** Of Prometheus, too. */
  readonly namespace: pulumi.Input<string>;
  readonly clusterName: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/** The costs of pods by their labels, from the stack's own Prometheus and the list prices of the cloud. */
export class OpenCost extends pulumi.ComponentResource {
  constructor(name: string, args: OpenCostArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:OpenCost", name, {}, opts);
    new kubernetes.helm.v3.Release(
      name,
      {
        ...chartInputs(args.settings.chart, openCost.version),
        name: "opencost",
        namespace: args.namespace,
        atomic: true,
        values: {
          opencost: {
            nodeSelector: { ...args.nodeSelector },
            exporter: { defaultClusterId: args.clusterName },
            metrics: { serviceMonitor: { enabled: true } },
            // The Service of the chart kube-prometheus-stack.
            prometheus: {
              internal: { serviceName: "prometheus-prometheus", namespaceName: args.namespace, port: 9090 },
            },
          },
        },
      },
      { parent: this },
    );
  }
}
