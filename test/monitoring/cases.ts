/** When each alert fires and when it does not, in promtool's notation of series: one sample a minute. */
export interface AlertCase {
  /** Series with which it fires at `at`, with these labels beside its own. */
  readonly fires: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** Series that come near, with which it must not fire. */
  readonly quiet: Readonly<Record<string, string>>;
  /** Default: 40 minutes. */
  readonly at?: string;
}

const service = 'job="lakehead",namespace="lancedb"';
const elsewhere = 'job="lakehead",namespace="another"';
const pod = `${service},instance="a",pod="a"`;
const here = 'namespace="lancedb"';
/** The last successful run, at 0 s; the alert is asked five and seven hours later. */
const run = (cronjob: string, namespace = "lancedb") =>
  `kube_cronjob_status_last_successful_time{namespace="${namespace}",cronjob="${cronjob}"}`;
const bucket = (le: string, operation: string) =>
  `lakehead_request_duration_seconds_bucket{${pod},operation="${operation}",le="${le}"}`;

export const alertCases: Readonly<Record<string, AlertCase>> = {
  LakeheadDown: {
    fires: { [`up{${pod}}`]: "0x60", [`up{${elsewhere}}`]: "1x60" },
    labels: {},
    quiet: { [`up{${pod}}`]: "0x60", [`up{${service},instance="b"}`]: "1x60" },
  },
  LakeheadNotReady: {
    fires: { [`lakehead_ready{${pod}}`]: "0x60" },
    labels: { job: "lakehead", namespace: "lancedb", instance: "a", pod: "a" },
    quiet: { [`lakehead_ready{${pod}}`]: "1x37 0x3 1x20", [`lakehead_ready{${elsewhere}}`]: "0x60" },
  },
  LakeheadStoreUnavailable: {
    fires: { [`lakehead_store_available{${pod}}`]: "0x60" },
    labels: { job: "lakehead", namespace: "lancedb", instance: "a", pod: "a" },
    quiet: { [`lakehead_store_available{${pod}}`]: "0x30 1x30" },
  },
  LakeheadInternalErrors: {
    fires: { [`lakehead_requests_total{${pod},operation="query",status="500"}`]: "0+1x60" },
    labels: { operation: "query" },
    quiet: {
      [`lakehead_requests_total{${pod},operation="query",status="500"}`]: "7x60",
      [`lakehead_requests_total{${pod},operation="query",status="503"}`]: "0+1x60",
    },
  },
  LakeheadRejectsRequests: {
    fires: {
      [`lakehead_requests_total{${pod},operation="query",status="200"}`]: "0+90x60",
      [`lakehead_requests_total{${pod},operation="query",status="503"}`]: "0+6x60",
    },
    labels: {},
    quiet: {
      [`lakehead_requests_total{${pod},operation="query",status="200"}`]: "0+90x60",
      [`lakehead_requests_total{${pod},operation="query",status="429"}`]: "0+4x60",
      [`lakehead_requests_total{${pod},operation="query",status="400"}`]: "0+50x60",
    },
  },
  LakeheadQueueFull: {
    fires: { [`lakehead_admission_refusals_total{${pod},class="plan",reason="queue full"}`]: "0+1x60" },
    labels: { class: "plan", reason: "queue full" },
    quiet: { [`lakehead_admission_refusals_total{${pod},class="plan",reason="client gone"}`]: "0+9x60" },
  },
  LakeheadSlow: {
    fires: {
      [bucket("1", "describe")]: "0+90x60",
      [bucket("2.5", "describe")]: "0+100x60",
      [bucket("+Inf", "describe")]: "0+100x60",
    },
    labels: { operation: "describe" },
    quiet: {
      [bucket("0.5", "describe")]: "0+100x60",
      [bucket("1", "describe")]: "0+100x60",
      [bucket("+Inf", "describe")]: "0+100x60",
      [bucket("1", "query")]: "0+1x60",
      [bucket("30", "query")]: "0+100x60",
      [bucket("+Inf", "query")]: "0+100x60",
    },
  },
  LakeheadWorkersCrash: {
    fires: { [`lakehead_worker_ends_total{${pod},pool="analyze",reason="crash"}`]: "0x30 1x30" },
    labels: { pool: "analyze", reason: "crash" },
    quiet: {
      [`lakehead_worker_ends_total{${pod},pool="analyze",reason="recycled"}`]: "0+1x60",
      [`lakehead_worker_ends_total{${pod},pool="analyze",reason="crash"}`]: "3x60",
    },
  },
  LakeheadQueriesTooLarge: {
    fires: { [`lakehead_worker_ends_total{${pod},pool="analyze",reason="memory"}`]: "0+1x60" },
    labels: { pool: "analyze", reason: "memory" },
    quiet: { [`lakehead_worker_ends_total{${pod},pool="analyze",reason="deadline"}`]: "0x30 4x30" },
  },
  LakeheadEventLoopDelayed: {
    fires: { [`lakehead_event_loop_delay_p99_seconds{${pod}}`]: "0.4x60" },
    labels: { job: "lakehead", namespace: "lancedb", instance: "a", pod: "a" },
    quiet: { [`lakehead_event_loop_delay_p99_seconds{${pod}}`]: "0.2x60" },
  },
  LakeheadHandlesEvicted: {
    fires: {
      [`lakehead_table_handle_evictions_total{${pod},reason="full"}`]: "0+20x90",
      [`lakehead_table_handle_lookups_total{${pod},result="miss"}`]: "0+100x90",
    },
    labels: { instance: "a" },
    at: "80m",
    quiet: {
      [`lakehead_table_handle_evictions_total{${pod},reason="full"}`]: "0+5x90",
      [`lakehead_table_handle_evictions_total{${pod},reason="expired"}`]: "0+90x90",
      [`lakehead_table_handle_lookups_total{${pod},result="hit"}`]: "0+100x90",
    },
  },
  LakeheadTablesStayDue: {
    fires: { [`lakehead_maintenance_due_seconds{${pod}}`]: "90000x60" },
    labels: {},
    quiet: { [`lakehead_maintenance_due_seconds{${pod}}`]: "80000x60" },
  },
  LakeheadMaintenanceFails: {
    fires: { [run("maintenance")]: "0x480" },
    labels: { namespace: "lancedb", cronjob: "maintenance" },
    at: "420m",
    quiet: { [run("maintenance")]: "7200x480", [run("maintenance", "another")]: "0x480", [run("backup")]: "0x480" },
  },
  LakeheadOrphanCleanupFails: {
    fires: { [run("orphan-cleanup")]: "0x480" },
    labels: { namespace: "lancedb", cronjob: "orphan-cleanup" },
    at: "420m",
    quiet: { [run("orphan-cleanup")]: "7200x480" },
  },
  KubeRayDown: {
    fires: { 'up{job="kuberay-operator",pod="o"}': "0x60" },
    labels: {},
    quiet: { 'up{job="kuberay-operator",pod="o"}': "1x60" },
  },
  KubeRayReconcileErrors: {
    fires: {
      'controller_runtime_reconcile_errors_total{job="kuberay-operator",controller="raycluster-controller"}': "0+3x60",
    },
    labels: { controller: "raycluster-controller" },
    quiet: {
      'controller_runtime_reconcile_errors_total{job="kuberay-operator",controller="raycluster-controller"}':
        "0x20 1x40",
    },
  },
  RayClusterNotReady: {
    fires: { [`kuberay_cluster_condition_provisioned{exported_${here},name="geneva",condition="false"}`]: "1x60" },
    labels: { name: "geneva" },
    quiet: {
      [`kuberay_cluster_condition_provisioned{exported_${here},name="geneva",condition="true"}`]: "1x60",
      'kuberay_cluster_condition_provisioned{exported_namespace="another",name="x",condition="false"}': "1x60",
    },
  },
  RayNodeMemoryHigh: {
    fires: {
      [`ray_node_mem_used{${here},ray_io_cluster="geneva",pod="w"}`]: "98x60",
      [`ray_node_mem_total{${here},ray_io_cluster="geneva",pod="w"}`]: "100x60",
    },
    labels: { ray_io_cluster: "geneva", pod: "w" },
    quiet: {
      [`ray_node_mem_used{${here},ray_io_cluster="geneva",pod="w"}`]: "90x60",
      [`ray_node_mem_total{${here},ray_io_cluster="geneva",pod="w"}`]: "100x60",
    },
  },
  RayNodeDiskFull: {
    fires: {
      [`ray_node_disk_free{${here},ray_io_cluster="geneva",pod="w"}`]: "1x60",
      [`ray_node_disk_usage{${here},ray_io_cluster="geneva",pod="w"}`]: "99x60",
    },
    labels: { ray_io_cluster: "geneva", pod: "w" },
    quiet: {
      [`ray_node_disk_free{${here},ray_io_cluster="geneva",pod="w"}`]: "20x60",
      [`ray_node_disk_usage{${here},ray_io_cluster="geneva",pod="w"}`]: "80x60",
    },
  },
  LakeheadPodsPending: {
    fires: { [`kube_pod_status_phase{${here},pod="w",phase="Pending"}`]: "1x60" },
    labels: {},
    quiet: {
      [`kube_pod_status_phase{${here},pod="w",phase="Pending"}`]: "1x30 0x30",
      'kube_pod_status_phase{namespace="another",pod="w",phase="Pending"}': "1x60",
    },
  },
  LakeheadQuotaNearlyUsed: {
    fires: {
      [`kube_resourcequota{${here},resourcequota="lakehead",resource="requests.cpu",type="used"}`]: "95x60",
      [`kube_resourcequota{${here},resourcequota="lakehead",resource="requests.cpu",type="hard"}`]: "100x60",
    },
    labels: { resourcequota: "lakehead", resource: "requests.cpu" },
    quiet: {
      [`kube_resourcequota{${here},resourcequota="lakehead",resource="requests.cpu",type="used"}`]: "80x60",
      [`kube_resourcequota{${here},resourcequota="lakehead",resource="requests.cpu",type="hard"}`]: "100x60",
      // A quota of no GPUs at all is not used up.
      [`kube_resourcequota{${here},resourcequota="lakehead",resource="requests.nvidia.com/gpu",type="used"}`]: "0x60",
      [`kube_resourcequota{${here},resourcequota="lakehead",resource="requests.nvidia.com/gpu",type="hard"}`]: "0x60",
    },
  },
  LakeheadNodeNotReady: {
    fires: { 'kube_node_status_condition{node="n",condition="Ready",status="true"}': "0x60" },
    labels: { node: "n" },
    quiet: {
      'kube_node_status_condition{node="n",condition="Ready",status="true"}': "1x60",
      'kube_node_status_condition{node="n",condition="DiskPressure",status="true"}': "0x60",
    },
  },
  LakeheadGpuFault: {
    fires: { 'DCGM_FI_DEV_XID_ERRORS{Hostname="n",gpu="0"}': "79x60" },
    labels: { Hostname: "n", gpu: "0" },
    quiet: { 'DCGM_FI_DEV_XID_ERRORS{Hostname="n",gpu="0"}': "0x60" },
  },
};
