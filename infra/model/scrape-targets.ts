import { scrapeJobs } from "./alerts.ts";
import { tableServiceSelector } from "./names.ts";

/** Pods that have metrics. */
export interface ScrapeTarget {
  /** The label `job` of its series. */
  readonly job: string;
  readonly namespace: string;
  /** Labels of the pods. */
  readonly selector: Readonly<Record<string, string>>;
  /** A port by its name in the pod. */
  readonly port: string;
  /** Further ports of the same pods, which need not be declared there. */
  readonly undeclaredPorts?: readonly number[];
  /** Labels of the pods that become labels of the series, by their names there. */
  readonly podLabels?: Readonly<Record<string, string>>;
}

/** What a Ray node exports itself, and beside it the head's autoscaler and dashboard. Ray fixes the last two. */
export const rayMetricsPorts = { node: 8080, autoscaler: 44217, dashboard: 44227 } as const;
/** KubeRay declares it in every Ray pod. */
const rayMetricsPort = "metrics";
const rayClusterLabels = { "ray.io/cluster": "ray_io_cluster" } as const;

/** The part of a configuration that decides what is scraped. */
export interface ScrapedStack {
  readonly namespace: string;
  readonly tableService: { readonly enabled: boolean };
  readonly operator: { readonly mode: string; readonly namespace: string };
}

/** The place of dcgm-exporter: beside the device plugin, since both need the host. */
export const dcgmNamespace = "kube-system";

/**
 * The pods that a Prometheus of this stack scrapes. The client's RayClusters are among them.
 * @param gpu whether the stack installs the exporter of GPU metrics
 */
export function scrapeTargets({ namespace, tableService, operator }: ScrapedStack, gpu: boolean): ScrapeTarget[] {
  const ray = { namespace, port: rayMetricsPort, podLabels: rayClusterLabels };
  return [
    ...(tableService.enabled
      ? [{ job: scrapeJobs.service, namespace, selector: tableServiceSelector, port: "operations" }]
      : []),
    {
      ...ray,
      job: scrapeJobs.head,
      selector: { "ray.io/node-type": "head" },
      undeclaredPorts: [rayMetricsPorts.autoscaler, rayMetricsPorts.dashboard],
    },
    { ...ray, job: scrapeJobs.workers, selector: { "ray.io/node-type": "worker" } },
    // A cloud's add-on runs its operator outside the cluster.
    ...(operator.mode === "addon"
      ? []
      : [
          {
            job: scrapeJobs.operator,
            namespace: operator.namespace,
            selector: { "app.kubernetes.io/name": "kuberay-operator" },
            port: "http",
          },
        ]),
    ...(gpu
      ? [
          {
            job: scrapeJobs.gpu,
            namespace: dcgmNamespace,
            selector: { "app.kubernetes.io/name": "dcgm-exporter" },
            port: "metrics",
          },
        ]
      : []),
  ];
}

/** The sources of series in a stack that collects metrics, for its rules. */
export const scrapedSources = (stack: ScrapedStack, gpu: boolean): string[] => [
  ...scrapeTargets(stack, gpu).map(({ job }) => job),
  "kube-state-metrics",
];
