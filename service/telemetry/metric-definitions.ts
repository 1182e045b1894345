/** One metric of the service; names and labels are a promise to whoever has dashboards and alerts. */
export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  readonly help: string;
}

/** Every metric of the service's own; beside them stand the client library's `process_*` and `nodejs_*`. The README's table is made from it. */
export const metricDefinitions = {
  lakehead_requests_total: {
    type: "counter",
    labels: ["operation", "status"],
    help: "Requests answered, by operation and HTTP status",
  },
  lakehead_request_duration_seconds: {
    type: "histogram",
    labels: ["operation"],
    help: "Time from a request's arrival to its answer",
  },
  lakehead_native_calls_in_flight: {
    type: "gauge",
    labels: ["gate"],
    help: "Calls of the database that run at the moment, by gate: analyze, plan, metadata",
  },
  lakehead_calls_waiting: {
    type: "gauge",
    labels: ["gate"],
    help: "Calls that wait for a place, by gate",
  },
  lakehead_gate_refusals_total: {
    type: "counter",
    labels: ["gate", "reason"],
    help: "Calls that found no place: queue full, waited too long, client gone",
  },
  lakehead_workers: {
    type: "gauge",
    labels: ["pool", "state"],
    help: "Worker processes, by pool (analyze, plan) and state (starting, idle, busy)",
  },
  lakehead_worker_resident_bytes: {
    type: "gauge",
    labels: ["pool"],
    help: "Memory of a pool's worker processes together, as last seen",
  },
  lakehead_worker_ends_total: {
    type: "counter",
    labels: ["pool", "reason"],
    help: "Worker processes that have ended, by reason: deadline, memory, crash, killed, start, recycled",
  },
  lakehead_table_handles: {
    type: "gauge",
    labels: [],
    help: "Table handles that the main process keeps open",
  },
  lakehead_table_handle_lookups_total: {
    type: "counter",
    labels: ["result"],
    help: "Table handles asked for in the main process: hit (open, or being opened), miss (opened at the store)",
  },
  lakehead_table_handle_evictions_total: {
    type: "counter",
    labels: ["reason"],
    help: "Table handles given up: full (LAKEHEAD_MAX_HANDLES), expired, gone (the data behind it was)",
  },
  lakehead_event_loop_delay_p99_seconds: {
    type: "gauge",
    labels: [],
    help: "99th percentile of the event loop's delay since the last scrape",
  },
  lakehead_ready: {
    type: "gauge",
    labels: [],
    help: "1 when /readyz answers 200, else 0",
  },
  lakehead_store_answers: {
    type: "gauge",
    labels: [],
    help: "1 while the store behind the tables answers, 0 from a call that failed at it until it answers again",
  },
  lakehead_build_info: {
    type: "gauge",
    labels: ["version"],
    help: "1; the version that runs",
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof metricDefinitions;
