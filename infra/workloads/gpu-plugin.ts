import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type ChartLocation, chartInputs } from "../kubernetes/chart.ts";
import { gpuPresentLabel } from "../model/roles.ts";

export interface GpuPluginArgs {
  readonly chart: ChartLocation;
  /** Exact version of the chart. */
  readonly version: string;
  /** Image repository, for mirrors; the tag is the chart's own. */
  readonly image: string;
}

/**
 * NVIDIA's device plugin, which makes a node's GPUs schedulable. EKS's AL2023 NVIDIA image does not contain it. GKE
 * installs its own, and two plugins conflict over the same sockets.
 */
export class GpuPlugin extends pulumi.ComponentResource {
  readonly release: kubernetes.helm.v3.Release;

  constructor(name: string, args: GpuPluginArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:GpuPlugin", name, {}, opts);
    this.release = new kubernetes.helm.v3.Release(
      name,
      {
        ...chartInputs(args.chart, args.version),
        name: "nvidia-device-plugin",
        namespace: "kube-system",
        atomic: true,
        values: {
          image: { repository: args.image },
          // The chart's own affinity needs node-feature-discovery. The GPU pool declares this label, so the
          // autoscaler's simulation of an empty pool has it too.
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: gpuPresentLabel, operator: "In", values: ["true"] }] }],
              },
            },
          },
          resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "256Mi" } },
        },
      },
      { parent: this },
    );
  }
}
