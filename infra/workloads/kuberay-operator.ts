import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type ChartLocation, chartInputs } from "../kubernetes/chart.ts";

export interface KubeRayOperatorArgs {
  readonly chart: ChartLocation;
  /** Exact version of the chart. */
  readonly version: string;
  readonly image: { readonly repository: string; readonly tag: string };
  readonly namespace: pulumi.Input<string>;
  /** Selects the nodes that it runs on: never a Ray pool. */
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/** The KubeRay operator from its Helm chart, without the chart's custom resource definitions. */
export class KubeRayOperator extends pulumi.ComponentResource {
  readonly release: kubernetes.helm.v3.Release;

  constructor(name: string, args: KubeRayOperatorArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:KubeRayOperator", name, {}, opts);
    this.release = new kubernetes.helm.v3.Release(
      name,
      {
        ...chartInputs(args.chart, args.version),
        name: "kuberay-operator",
        namespace: args.namespace,
        skipCrds: true,
        atomic: true,
        timeout: 600,
        values: operatorValues(args),
      },
      { parent: this },
    );
  }
}

/**
 * The chart's values. The operator watches every namespace with all of the chart's RBAC: without list and watch on its
 * kinds it hangs silently (kuberay#5223).
 */
export function operatorValues({ image, nodeSelector }: Pick<KubeRayOperatorArgs, "image" | "nodeSelector">) {
  return {
    image: { ...image },
    nodeSelector: { ...nodeSelector },
    // The chart's default limit of 0.1 CPU throttles lease renewals; Helm merges values, so a limit must be set.
    resources: { requests: { cpu: "100m", memory: "512Mi" }, limits: { cpu: "1", memory: "512Mi" } },
    podSecurityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  };
}
