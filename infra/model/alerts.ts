/** The alerts of a stack: what fires, what it means and what to do. `docs/operations.md` has a row for each. */
export interface Alert {
  readonly name: string;
  /** PromQL. */
  readonly expr: string;
  /** For how long the expression must hold; absent: no time. */
  readonly for?: string;
  readonly severity: "critical" | "warning";
  readonly meaning: string;
  /** Markdown, for the page. */
  readonly remedy: string;
  /** Where its series come from, when that is not the stack's own pods. */
  readonly needs?: "kube-state-metrics" | "dcgm-exporter";
}

export interface AlertGroup {
  readonly name: string;
  readonly alerts: readonly Alert[];
}

/** The value of the label `job` of each target, the same for every way to scrape. */
export const scrapeJobs = {
  service: "lakehead",
  operator: "kuberay-operator",
  head: "ray-head",
  workers: "ray-workers",
  gpu: "dcgm-exporter",
} as const;

/** @param namespace the stack's: cluster-wide series are read for it alone */
export function alertGroups(namespace: string): readonly AlertGroup[] {
  const here = `namespace="${namespace}"`;
  const service = `job="${scrapeJobs.service}",${here}`;
  const stale = (cronjob: string): string =>
    `time() - kube_cronjob_status_last_successful_time{${here},cronjob="${cronjob}"} > 21600`;
  return [
    {
      name: "table-service",
      alerts: [
        {
          name: "LakeheadDown",
          expr: `absent(up{${service}} == 1)`,
          for: "2m",
          severity: "critical",
          meaning: "no replica can be scraped",
          remedy:
            "`kubectl describe pod`: `OOMKilled` needs memory; exit code 2 is a wrong variable, named at the end of the log; exit code 1 names a port in use or a `/tmp` that is not writable",
        },
        {
          name: "LakeheadNotReady",
          expr: `lakehead_ready{${service}} == 0`,
          for: "5m",
          severity: "critical",
          meaning: "a replica gets no requests",
          remedy:
            "read `/readyz`. `databaseConnected` false: address, identity or network. `keysLoaded` false: the issuer. `workersAvailable` false: memory or processes",
        },
        {
          name: "LakeheadStoreUnavailable",
          expr: `lakehead_store_available{${service}} == 0`,
          for: "1m",
          severity: "critical",
          meaning: "calls to the store fail",
          remedy:
            "the log has the cause. One replica: its node's network or identity. All: the bucket, its policy or the region. Restart nothing",
        },
        {
          name: "LakeheadInternalErrors",
          expr: `sum by (operation) (rate(lakehead_requests_total{${service},status="500"}[5m])) > 0`,
          for: "5m",
          severity: "critical",
          meaning: "an unclassified failure, code 18",
          remedy: "report the log lines of level `error` with `requestId` and `cause`",
        },
        {
          name: "LakeheadRejectsRequests",
          expr: `sum(rate(lakehead_requests_total{${service},status=~"429|503"}[5m])) / sum(rate(lakehead_requests_total{${service}}[5m])) > 0.05`,
          for: "10m",
          severity: "warning",
          meaning: "callers get 503 or 429",
          remedy:
            "look at the next alerts. JWTs alone: the issuer is unavailable. 429: one caller sends too much at once",
        },
        {
          name: "LakeheadQueueFull",
          expr: `sum by (class, reason) (rate(lakehead_admission_refusals_total{${service},reason!="client gone"}[5m])) > 0`,
          for: "10m",
          severity: "warning",
          meaning: "more calls than a class admits",
          remedy:
            "`analyze`: more replicas, or more memory and concurrency. `plan`: more replicas. `metadata`: a slow store. A longer queue only delays the same 503",
        },
        {
          name: "LakeheadSlow",
          expr: `histogram_quantile(0.99, sum by (le, operation) (rate(lakehead_request_duration_seconds_bucket{${service},operation!~"analyze_plan|query"}[5m]))) > 1`,
          for: "10m",
          severity: "warning",
          meaning: "a metadata or plan operation is slow",
          remedy:
            "`lakehead_calls_waiting` above 0: as `LakeheadQueueFull`. Many misses in `lakehead_table_handle_lookups_total`: tables are opened too often. Else the store or CPUs",
        },
        {
          name: "LakeheadWorkersCrash",
          expr: `sum by (pool, reason) (increase(lakehead_worker_ends_total{${service},reason=~"crash|killed|start"}[15m])) > 0`,
          severity: "warning",
          meaning: "worker processes end unexpectedly",
          remedy:
            "the table of reasons under [worker processes](#worker-processes). If one caller repeats it, remove its scope",
        },
        {
          name: "LakeheadQueriesTooLarge",
          expr: `sum by (pool, reason) (increase(lakehead_worker_ends_total{${service},reason=~"deadline|memory"}[15m])) > 5`,
          severity: "warning",
          meaning: "queries exceed time or memory",
          remedy: "find them in the log: index what they scan, enlarge pods, or raise the deadline",
        },
        {
          name: "LakeheadEventLoopDelayed",
          expr: `lakehead_event_loop_delay_p99_seconds{${service}} > 0.25`,
          for: "10m",
          severity: "warning",
          meaning: "the main process lacks CPU, or parses very large bodies",
          remedy: "a higher CPU request, then a lower `LAKEHEAD_MAX_BODY_BYTES`",
        },
        {
          name: "LakeheadHandlesEvicted",
          expr: `sum by (instance) (rate(lakehead_table_handle_evictions_total{${service},reason="full"}[15m])) > 0.1 * sum by (instance) (rate(lakehead_table_handle_lookups_total{${service}}[15m]))`,
          for: "30m",
          severity: "warning",
          meaning: "more tables in use than handles kept",
          remedy: "raise `LAKEHEAD_MAX_HANDLES`",
        },
      ],
    },
    {
      name: "maintenance",
      alerts: [
        {
          name: "LakeheadTablesStayDue",
          expr: `max(lakehead_maintenance_due_seconds{${service}}) > 86400`,
          severity: "warning",
          meaning: "runs of the [maintenance](maintenance.md) leave a table undone for a day",
          remedy:
            "the log of the last run names the table and the reason. Conflicts: run it when fewer writers are at work. Time or memory: raise `maintenance.minutes` or `maintenance.memory`, or give the table to Ray by a lower `maintenance.ray.gigabytes`",
        },
        {
          name: "LakeheadMaintenanceFails",
          expr: stale("maintenance"),
          severity: "warning",
          meaning: "no run of the maintenance has ended well for six hours",
          remedy: "`kubectl logs job/<name>`: the tables that failed and why",
          needs: "kube-state-metrics",
        },
        {
          name: "LakeheadOrphanCleanupFails",
          expr: stale("orphan-cleanup"),
          severity: "warning",
          meaning: "no cleanup of orphaned RayClusters has ended well for six hours",
          remedy:
            "`kubectl logs job/<name>`: what the Kubernetes API refused. Until it runs, clusters of crashed clients keep their nodes: `kubectl get rayclusters`",
          needs: "kube-state-metrics",
        },
      ],
    },
    {
      name: "ray",
      alerts: [
        {
          name: "KubeRayDown",
          expr: `absent(up{job="${scrapeJobs.operator}"} == 1)`,
          for: "5m",
          severity: "critical",
          meaning: "the KubeRay operator cannot be scraped: RayClusters are neither made nor mended",
          remedy: "`kubectl -n kuberay-system describe pod`: its events, and why it ended",
        },
        {
          name: "KubeRayReconcileErrors",
          expr: `sum by (controller) (rate(controller_runtime_reconcile_errors_total{job="${scrapeJobs.operator}"}[10m])) > 0.02`,
          for: "15m",
          severity: "warning",
          meaning: "the KubeRay operator fails again and again",
          remedy:
            "`kubectl describe raycluster`: its events name the pod or the quota. Else the operator's log. One conflict of two writers is normal",
        },
        {
          name: "RayClusterNotReady",
          expr: `max by (name) (kuberay_cluster_condition_provisioned{exported_${here},condition="false"}) == 1`,
          for: "15m",
          severity: "warning",
          meaning: "a RayCluster did not get its head and minimum of workers within a quarter of an hour",
          remedy:
            "`kubectl describe raycluster <name>` and its pods: no node, no quota, or an image that cannot be pulled",
        },
        {
          name: "RayNodeMemoryHigh",
          expr: `max by (ray_io_cluster, pod) (ray_node_mem_used{${here}} / ray_node_mem_total{${here}}) > 0.95`,
          for: "5m",
          severity: "warning",
          meaning: "a Ray pod is about to be killed for its memory",
          remedy:
            "fewer or smaller tasks at once in the job, or more `memory` in the worker group; of a head, more `ray.head.memory`",
        },
        {
          name: "RayNodeDiskFull",
          expr: `min by (ray_io_cluster, pod) (ray_node_disk_free{${here}} / (ray_node_disk_free{${here}} + ray_node_disk_usage{${here}})) < 0.05`,
          for: "5m",
          severity: "warning",
          meaning: "the disk under a Ray pod is full: spilled objects, logs or packages",
          remedy: "a larger `diskGiB` of the node pool, and `ephemeralStorage` of the group; end the job that spills",
        },
      ],
    },
    {
      name: "capacity",
      alerts: [
        {
          name: "LakeheadPodsPending",
          expr: `sum(max by (pod) (kube_pod_status_phase{${here},phase="Pending"})) > 0`,
          for: "20m",
          severity: "warning",
          meaning: "a pod has waited for a node for 20 minutes",
          remedy:
            "`kubectl describe pod`: the scheduler's reason. The pool's maximum, the account's quota of machines, or no spot machine in these zones",
          needs: "kube-state-metrics",
        },
        {
          name: "LakeheadQuotaNearlyUsed",
          expr: `max by (resourcequota, resource) (kube_resourcequota{${here},type="used"} / ignoring (type) (kube_resourcequota{${here},type="hard"} > 0)) > 0.9`,
          for: "15m",
          severity: "warning",
          meaning: "the namespace has used nine tenths of its quota; beyond it, pods and clusters are refused",
          remedy: "`kubectl get rayclusters`: delete what nobody uses, or raise `quota`",
          needs: "kube-state-metrics",
        },
        {
          name: "LakeheadNodeNotReady",
          expr: `max by (node) (kube_node_status_condition{condition="Ready",status="true"}) == 0`,
          for: "10m",
          severity: "warning",
          meaning: "a node does not answer",
          remedy:
            "`kubectl describe node`. With `nodeUpdates.repair` (EKS) and on GKE the cloud replaces it; a Ray head on it loses its job",
          needs: "kube-state-metrics",
        },
        {
          name: "LakeheadGpuFault",
          expr: "max by (Hostname, gpu) (DCGM_FI_DEV_XID_ERRORS) > 0",
          for: "1m",
          severity: "warning",
          meaning: "a GPU reported a fault (XID)",
          remedy:
            "`kubectl cordon <node>`, end its pods and delete the node. NVIDIA's list of XIDs tells a job's fault (13, 31, 43, 45) from the machine's",
          needs: "dcgm-exporter",
        },
      ],
    },
  ];
}

/** The anchor of an alert's row in `docs/operations.md`. */
export const alertAnchor = ({ name }: Pick<Alert, "name">): string => name.toLowerCase();

const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");

/** Whether something exports the series of an alert. Without it, an alert on absent series would fire for ever. */
const hasSeries = ({ expr, needs }: Alert, sources: ReadonlySet<string>): boolean =>
  (needs === undefined || sources.has(needs)) &&
  [...expr.matchAll(/\bjob="([^"]+)"/g)].every(([, job = ""]) => sources.has(job));

const everySource: readonly string[] = [...Object.values(scrapeJobs), "kube-state-metrics"];

/**
 * The groups as a Prometheus rule file has them, and the `spec` of a PrometheusRule.
 * @param runbooks where `operations.md` can be read, such as `https://git.example.com/lakehead/blob/main/docs`
 * @param sources the jobs that are scraped; alerts on series of others are left out
 */
export function ruleGroups(namespace: string, runbooks = "docs", sources = everySource) {
  const scraped = new Set(sources);
  return alertGroups(namespace).map(({ name, alerts }) => ({
    name: `lakehead-${name}`,
    rules: alerts
      .filter((alert) => hasSeries(alert, scraped))
      .map((alert) => ({
        alert: alert.name,
        expr: alert.expr,
        ...(alert.for === undefined ? {} : { for: alert.for }),
        labels: { severity: alert.severity },
        annotations: {
          summary: plain(alert.meaning),
          runbook_url: `${runbooks.replace(/\/+$/, "")}/operations.md#${alertAnchor(alert)}`,
        },
      })),
  }));
}
