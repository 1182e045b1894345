import { scrapeJobs } from "./alerts.ts";

/** Grafana's dashboard of the table service and of the jobs beside it, as a table of rows. Ray brings its own for the rest. */
export interface Panel {
  readonly title: string;
  readonly unit: "reqps" | "s" | "short" | "bytes" | "Bps" | "percentunit" | "cps";
  /** PromQL by the legend of its series. */
  readonly queries: Readonly<Record<string, string>>;
}

export interface DashboardRow {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Grafana puts the span of at least four scrapes here. */
const span = "$__rate_interval";

/** @param namespace the stack's */
export function dashboardRows(namespace: string): readonly DashboardRow[] {
  const here = `namespace="${namespace}"`;
  const service = `job="${scrapeJobs.service}",${here}`;
  const rate = (metric: string, by: string, labels = "") =>
    `sum by (${by}) (rate(${metric}{${service}${labels === "" ? "" : `,${labels}`}}[${span}]))`;
  const latency = (quantile: number, labels = "") =>
    `histogram_quantile(${quantile}, ${rate("lakehead_request_duration_seconds_bucket", "le, operation", labels)})`;
  const ray = (metric: string, by: string) => `sum by (${by}) (${metric}{${here}})`;
  return [
    {
      title: "Requests",
      panels: [
        {
          title: "Requests by status",
          unit: "reqps",
          queries: { "{{status}}": rate("lakehead_requests_total", "status") },
        },
        {
          title: "Requests by operation",
          unit: "reqps",
          queries: { "{{operation}}": rate("lakehead_requests_total", "operation") },
        },
        { title: "Latency by operation, p50", unit: "s", queries: { "{{operation}}": latency(0.5) } },
        { title: "Latency by operation, p99", unit: "s", queries: { "{{operation}}": latency(0.99) } },
      ],
    },
    {
      title: "Replicas and store",
      panels: [
        {
          title: "Replicas that are ready, and whose store responds",
          unit: "short",
          queries: {
            ready: `sum(lakehead_ready{${service}})`,
            "store available": `sum(lakehead_store_available{${service}})`,
          },
        },
        {
          title: "Event loop delay, p99",
          unit: "s",
          queries: { "{{pod}}": `lakehead_event_loop_delay_p99_seconds{${service}}` },
        },
        {
          title: "Memory: main process and workers",
          unit: "bytes",
          queries: {
            main: `sum(process_resident_memory_bytes{${service}})`,
            "{{pool}}": `sum by (pool) (lakehead_worker_resident_bytes{${service}})`,
          },
        },
        {
          title: "Versions",
          unit: "short",
          queries: { "{{version}}": `count by (version) (lakehead_build_info{${service}})` },
        },
      ],
    },
    {
      title: "Admission and workers",
      panels: [
        {
          title: "Calls that run, by class",
          unit: "short",
          queries: { "{{class}}": `sum by (class) (lakehead_native_calls_in_flight{${service}})` },
        },
        {
          title: "Calls that wait, by class",
          unit: "short",
          queries: { "{{class}}": `sum by (class) (lakehead_calls_waiting{${service}})` },
        },
        {
          title: "Refused calls",
          unit: "cps",
          queries: { "{{class}}: {{reason}}": rate("lakehead_admission_refusals_total", "class, reason") },
        },
        {
          title: "Workers by pool and state",
          unit: "short",
          queries: { "{{pool}}: {{state}}": `sum by (pool, state) (lakehead_workers{${service}})` },
        },
        {
          title: "Ended workers",
          unit: "cps",
          queries: { "{{pool}}: {{reason}}": rate("lakehead_worker_ends_total", "pool, reason") },
        },
      ],
    },
    {
      title: "Cost of reads",
      panels: [
        {
          title: "Seconds of reads, each second",
          unit: "short",
          queries: {
            "{{operation}}": rate(
              "lakehead_request_duration_seconds_sum",
              "operation",
              'operation=~"query|count_rows|analyze_plan|explain_plan"',
            ),
          },
        },
        {
          title: "Table handles: hits among lookups",
          unit: "percentunit",
          queries: {
            hits: `sum(rate(lakehead_table_handle_lookups_total{${service},result="hit"}[${span}])) / sum(rate(lakehead_table_handle_lookups_total{${service}}[${span}]))`,
          },
        },
        {
          title: "Table handles: open, and evicted",
          unit: "short",
          queries: {
            open: `sum(lakehead_table_handles{${service}})`,
            "evicted each second, {{reason}}": rate("lakehead_table_handle_evictions_total", "reason"),
          },
        },
        {
          title: "CPUs of the main process",
          unit: "short",
          queries: { "{{pod}}": rate("process_cpu_seconds_total", "pod") },
        },
      ],
    },
    {
      title: "Writes and maintenance",
      panels: [
        {
          title: "Requests that write",
          unit: "reqps",
          queries: {
            "{{operation}}": rate(
              "lakehead_requests_total",
              "operation",
              'operation=~"insert|merge_insert|update|delete|create"',
            ),
          },
        },
        {
          title: "Rows of committed writes",
          unit: "cps",
          queries: { "{{change}}": rate("lakehead_written_rows_total", "change") },
        },
        {
          title: "Bytes of committed writes, and in flight",
          unit: "bytes",
          queries: {
            "committed each second": `sum(rate(lakehead_written_bytes_total{${service}}[${span}]))`,
            "in flight": `sum(lakehead_upload_bytes{${service}})`,
          },
        },
        {
          title: "Tables due for maintenance",
          unit: "short",
          queries: { tables: `max(lakehead_maintenance_due_tables{${service}})` },
        },
        {
          title: "Longest due",
          unit: "s",
          queries: { "first table": `max(lakehead_maintenance_due_seconds{${service}})` },
        },
        {
          title: "Credentials lent",
          unit: "cps",
          queries: { "{{source}}": rate("lakehead_credentials_lent_total", "source") },
        },
      ],
    },
    {
      title: "Jobs",
      panels: [
        {
          title: "Jobs by state",
          unit: "short",
          // Every replica counts the same jobs.
          queries: { "{{type}}: {{state}}": `max by (type, state) (lakehead_jobs{${service}})` },
        },
        {
          title: "Ended jobs",
          unit: "cps",
          queries: { "{{type}}: {{state}}": rate("lakehead_jobs_ended_total", "type, state") },
        },
        {
          title: "Duration of jobs, p99",
          unit: "s",
          queries: {
            "{{type}}": `histogram_quantile(0.99, ${rate("lakehead_job_duration_seconds_bucket", "le, type")})`,
          },
        },
        {
          title: "Rows of jobs",
          unit: "cps",
          queries: { "{{type}}: {{outcome}}": rate("lakehead_job_rows_total", "type, outcome") },
        },
      ],
    },
    {
      title: "Ray",
      panels: [
        {
          title: "Nodes of each cluster",
          unit: "short",
          queries: { "{{ray_io_cluster}}": `count by (ray_io_cluster) (ray_node_mem_total{${here}})` },
        },
        {
          title: "CPUs in use",
          unit: "short",
          queries: {
            "{{ray_io_cluster}} of {{pod}}": `sum by (ray_io_cluster, pod) (ray_node_cpu_utilization{${here}} * ray_node_cpu_count{${here}} / 100)`,
          },
        },
        {
          title: "Memory in use",
          unit: "percentunit",
          queries: {
            "{{ray_io_cluster}} of {{pod}}": `max by (ray_io_cluster, pod) (ray_node_mem_used{${here}} / ray_node_mem_total{${here}})`,
          },
        },
        {
          title: "Tasks by state",
          unit: "short",
          queries: { "{{ray_io_cluster}}: {{State}}": ray("ray_tasks", "ray_io_cluster, State") },
        },
        {
          title: "Jobs that run",
          unit: "short",
          queries: { "{{ray_io_cluster}}": ray("ray_running_jobs", "ray_io_cluster") },
        },
        {
          title: "Disk free",
          unit: "bytes",
          queries: { "{{ray_io_cluster}} of {{pod}}": `min by (ray_io_cluster, pod) (ray_node_disk_free{${here}})` },
        },
      ],
    },
    {
      title: "Capacity",
      panels: [
        {
          title: "Quota in use",
          unit: "percentunit",
          queries: {
            "{{resource}}": `max by (resource) (kube_resourcequota{${here},type="used"} / ignoring (type) (kube_resourcequota{${here},type="hard"} > 0))`,
          },
        },
        {
          title: "Pods by phase",
          unit: "short",
          queries: { "{{phase}}": `sum by (phase) (kube_pod_status_phase{${here}})` },
        },
        {
          title: "GPUs in use",
          unit: "percentunit",
          queries: { "{{Hostname}} {{gpu}}": "DCGM_FI_DEV_GPU_UTIL / 100" },
        },
      ],
    },
  ];
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it
const source = { type: "prometheus", uid: "${datasource}" } as const;
const width = 8;
const height = 8;

/** The JSON model that Grafana reads. */
export function dashboard(namespace: string) {
  let id = 0;
  let y = 0;
  const panels = dashboardRows(namespace).flatMap(({ title, panels }) => {
    const row = { id: ++id, type: "row", title, collapsed: false, gridPos: { h: 1, w: 24, x: 0, y } };
    const placed = panels.map((panel, index) => ({
      id: ++id,
      type: "timeseries",
      title: panel.title,
      datasource: source,
      gridPos: { h: height, w: width, x: (index % 3) * width, y: y + 1 + Math.floor(index / 3) * height },
      fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
      targets: Object.entries(panel.queries).map(([legendFormat, expr], query) => ({
        refId: String.fromCharCode(65 + query),
        datasource: source,
        expr,
        legendFormat,
      })),
    }));
    y += 1 + Math.ceil(panels.length / 3) * height;
    return [row, ...placed];
  });
  return {
    uid: `lakehead-${namespace}`.slice(0, 40),
    title: `Lakehead: ${namespace}`,
    tags: ["lakehead"],
    schemaVersion: 39,
    editable: false,
    time: { from: "now-6h", to: "now" },
    refresh: "1m",
    templating: { list: [{ name: "datasource", type: "datasource", query: "prometheus", label: "Data source" }] },
    panels,
  };
}
