/** A metric of the service. Names and labels are stable: dashboards and alerts use them. */
export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  readonly help: string;
}

const metric =
  <const Type extends MetricDefinition["type"]>(type: Type) =>
  <const Labels extends readonly string[]>(labels: Labels, help: string) => ({ type, labels, help });
const counter = metric("counter");
const gauge = metric("gauge");
const histogram = metric("histogram");

/** The service's own metrics, besides `process_*` and `nodejs_*` of the client library. */
export const metricDefinitions = {
  lakehead_requests_total: counter(["operation", "status"], "Responses, by operation and HTTP status"),
  lakehead_request_duration_seconds: histogram(["operation"], "Time from a request's arrival to its response"),
  lakehead_native_calls_in_flight: gauge(
    ["class"],
    "Calls of the database that run, by admission class: analyze, plan, metadata, write, append",
  ),
  lakehead_calls_waiting: gauge(["class"], "Calls in the queue, by admission class"),
  lakehead_admission_refusals_total: counter(
    ["class", "reason"],
    "Calls that were not admitted, by admission class and reason: queue full, waited too long, client gone",
  ),
  lakehead_workers: gauge(
    ["pool", "state"],
    "Worker processes, by pool (analyze, plan, blob, write, append) and state (starting, idle, busy)",
  ),
  lakehead_worker_resident_bytes: gauge(["pool"], "Resident memory of a pool's worker processes, as last measured"),
  lakehead_worker_ends_total: counter(
    ["pool", "reason"],
    "Ended worker processes, by reason: deadline, abandoned, memory, crash, killed, start, recycled",
  ),
  lakehead_written_rows_total: counter(["change"], "Rows of committed writes, by change: inserted, updated, deleted"),
  lakehead_written_bytes_total: counter([], "Bytes of the rows of committed writes, as sent"),
  lakehead_upload_bytes: gauge([], "Bytes of the rows of writes in flight; the limit is LAKEHEAD_MAX_UPLOAD_BYTES"),
  lakehead_table_handles: gauge([], "Open table handles of the main process"),
  lakehead_table_handle_lookups_total: counter(
    ["result"],
    "Lookups of table handles in the main process: hit (open or being opened), miss (opened from the store)",
  ),
  lakehead_table_handle_evictions_total: counter(
    ["reason"],
    "Evicted table handles: full (LAKEHEAD_MAX_HANDLES), expired, gone (its data was deleted)",
  ),
  lakehead_event_loop_delay_p99_seconds: gauge([], "99th percentile of the event loop delay since the last scrape"),
  lakehead_ready: gauge([], "1 if /readyz responds with 200, else 0"),
  lakehead_store_available: gauge([], "1 while the store responds, 0 from a failed call until it responds again"),
  lakehead_credentials_lent_total: counter(
    ["source"],
    "Credentials in responses, by source: issued by the cloud for this response, kept from an earlier one; with LAKEHEAD_VENDING",
  ),
  lakehead_maintenance_due_tables: gauge([], "Tables that runs of the maintenance left due; with LAKEHEAD_WRITES=on"),
  lakehead_maintenance_due_seconds: gauge(
    [],
    "Time for which the first of these tables has been due; with LAKEHEAD_WRITES=on",
  ),
  lakehead_jobs: gauge(
    ["type", "state"],
    "Jobs that the database keeps, by type and state: the same of every replica; with LAKEHEAD_WRITES=on",
  ),
  lakehead_jobs_ended_total: counter(
    ["type", "state"],
    "Jobs that this process started or took over and that have ended, by type and state",
  ),
  lakehead_job_duration_seconds: histogram(["type"], "Time from the start of these jobs to their end"),
  lakehead_job_rows_total: counter(
    ["type", "outcome"],
    "Rows of these jobs, by outcome: written, failed (a Function gave no value)",
  ),
  lakehead_build_info: gauge(["version"], "1, with the version of the service as its label"),
} satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof metricDefinitions;
