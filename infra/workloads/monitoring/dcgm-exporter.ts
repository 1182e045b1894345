import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { CollectedMetrics } from "../../config/monitoring.ts";
import { chartInputs } from "../../kubernetes/chart.ts";
import { gpuPresentLabel, gpuResource } from "../../model/roles.ts";
import { dcgmNamespace } from "../../model/scrape-targets.ts";
import { dcgmExporter } from "../../versions.ts";

/** NVIDIA's exporter of the metrics of GPUs. */
export class DcgmExporter extends pulumi.ComponentResource {
  constructor(name: string, settings: CollectedMetrics["gpuMetrics"], opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:DcgmExporter", name, {}, opts);
    new kubernetes.helm.v3.Release(
      name,
      {
        ...chartInputs(settings.chart, dcgmExporter.version),
        name: "dcgm-exporter",
        namespace: dcgmNamespace,
        atomic: true,
        values: {
          image: { repository: settings.image },
          // The stack's own monitor selects the pods.
          serviceMonitor: { enabled: false },
          nodeSelector: { [gpuPresentLabel]: "true" },
          tolerations: [{ key: gpuResource, operator: "Exists", effect: "NoSchedule" }],
        },
      },
      { parent: this },
    );
  }
}
