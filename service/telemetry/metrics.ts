import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "@prometheus-io/client";
import { type MetricDefinition, type MetricName, metricDefinitions } from "./metric-definitions.ts";

/** The metrics of the service. */
export interface Metrics {
  request(operation: string, status: number, seconds: number): void;
  refusal(admissionClass: string, reason: string): void;
  workerEnd(pool: string, reason: string): void;
  /** Counts the rows of a committed write. @param rows by change. @param bytes of the rows as sent. */
  write(rows: Readonly<Record<string, number>> | undefined, bytes: number | undefined): void;
  /** Counts a job that has ended, and its rows. */
  jobEnd(
    type: string,
    state: string,
    seconds: number,
    rows: { readonly written: number; readonly failed: number },
  ): void;
  /** Sets the source of the values that are read at each scrape. */
  watch(read: () => Readings): void;
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface Readings {
  /** Calls that run and calls that wait, by admission class. */
  readonly admission: Readonly<Record<string, { readonly running: number; readonly waiting: number }>>;
  /** Table handles of this process, and counts of their lookups. */
  readonly handles: {
    readonly kept: number;
    readonly hits: number;
    readonly misses: number;
    readonly evictions: Readonly<Record<string, number>>;
  };
  /** Worker processes, by pool and state. */
  readonly workers: Readonly<Record<string, Readonly<Record<"starting" | "idle" | "busy", number>>>>;
  /** Resident memory, by pool. */
  readonly workerBytes: Readonly<Record<string, number>>;
  /** Bytes of the rows of writes in flight. */
  readonly uploadBytes: number;
  readonly ready: boolean;
  readonly storeAnswers: boolean;
  /** Jobs that the database keeps, by type and state; undefined where the service does not serve writes. */
  readonly jobs: readonly { readonly type: string; readonly state: string; readonly count: number }[] | undefined;
  /** Credentials that were lent: issued by the cloud, or kept since; undefined where none are. */
  readonly loans: { readonly issued: number; readonly kept: number } | undefined;
  /** Tables that stay due; undefined where the service does not serve writes. */
  readonly due: { readonly count: number; readonly seconds: number } | undefined;
}

const jobBuckets = [0.1, 1, 10, 60, 300, 1800, 7200, 21_600];

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A value with its labels. */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

const labelled = (label: string, values: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);

/** Values that are read at each scrape. */
const readAtScrape: Partial<Record<MetricName, (readings: Readings) => readonly Sample[]>> = {
  lakehead_native_calls_in_flight: ({ admission }) =>
    Object.entries(admission).map(([name, { running }]) => [{ class: name }, running]),
  lakehead_calls_waiting: ({ admission }) =>
    Object.entries(admission).map(([name, { waiting }]) => [{ class: name }, waiting]),
  lakehead_workers: ({ workers }) =>
    Object.entries(workers).flatMap(([pool, states]) =>
      labelled("state", states).map(([labels, count]): Sample => [{ pool, ...labels }, count]),
    ),
  lakehead_worker_resident_bytes: ({ workerBytes }) => labelled("pool", workerBytes),
  lakehead_table_handles: ({ handles }) => [[{}, handles.kept]],
  lakehead_table_handle_lookups_total: ({ handles }) => labelled("result", { hit: handles.hits, miss: handles.misses }),
  lakehead_table_handle_evictions_total: ({ handles }) => labelled("reason", handles.evictions),
  lakehead_upload_bytes: ({ uploadBytes }) => [[{}, uploadBytes]],
  lakehead_ready: ({ ready }) => [[{}, ready ? 1 : 0]],
  lakehead_store_available: ({ storeAnswers }) => [[{}, storeAnswers ? 1 : 0]],
  lakehead_credentials_lent_total: ({ loans }) => (loans === undefined ? [] : labelled("source", { ...loans })),
  lakehead_jobs: ({ jobs = [] }) => jobs.map(({ type, state, count }): Sample => [{ type, state }, count]),
  lakehead_maintenance_due_tables: ({ due }) => (due === undefined ? [] : [[{}, due.count]]),
  lakehead_maintenance_due_seconds: ({ due }) => (due === undefined ? [] : [[{}, due.seconds]]),
};

/** @param version of the software, shown by `lakehead_build_info`. */
export const createMetrics = (version: string): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  let read: (() => Readings) | undefined;

  const described = (name: MetricName) => {
    const { help, labels }: MetricDefinition = metricDefinitions[name];
    return { name, help, labelNames: [...labels], registers: [registry] };
  };
  for (const [name, samples] of Object.entries(readAtScrape) as [MetricName, (readings: Readings) => Sample[]][]) {
    const collect = (put: (...sample: Sample) => void): void => {
      if (read !== undefined) for (const sample of samples(read())) put(...sample);
    };
    if (metricDefinitions[name].type === "counter")
      new Counter({
        ...described(name),
        collect() {
          this.reset();
          collect((labels, value) => this.inc(labels, value));
        },
      });
    else
      new Gauge({
        ...described(name),
        collect() {
          this.reset();
          collect((labels, value) => this.set(labels, value));
        },
      });
  }
  new Gauge({
    ...described("lakehead_event_loop_delay_p99_seconds"),
    collect() {
      this.set(loop.percentile(99) / 1e9);
      loop.reset();
    },
  });
  new Gauge(described("lakehead_build_info")).set({ version }, 1);
  const requests = new Counter(described("lakehead_requests_total"));
  const duration = new Histogram({ ...described("lakehead_request_duration_seconds"), buckets: latencyBuckets });
  const refusals = new Counter(described("lakehead_admission_refusals_total"));
  const writtenRows = new Counter(described("lakehead_written_rows_total"));
  const writtenBytes = new Counter(described("lakehead_written_bytes_total"));
  const jobsEnded = new Counter(described("lakehead_jobs_ended_total"));
  const jobDuration = new Histogram({ ...described("lakehead_job_duration_seconds"), buckets: jobBuckets });
  const jobRows = new Counter(described("lakehead_job_rows_total"));
  const workerEnds = new Counter(described("lakehead_worker_ends_total"));

  return {
    request(operation, status, seconds) {
      requests.inc({ operation, status: String(status) });
      duration.observe({ operation }, seconds);
    },
    refusal: (name, reason) => refusals.inc({ class: name, reason }),
    write(rows = {}, bytes = 0) {
      for (const [change, count] of Object.entries(rows)) writtenRows.inc({ change }, count);
      writtenBytes.inc(bytes);
    },
    jobEnd(type, state, seconds, rows) {
      jobsEnded.inc({ type, state });
      jobDuration.observe({ type }, seconds);
      for (const [outcome, count] of Object.entries(rows)) jobRows.inc({ type, outcome }, count);
    },
    workerEnd: (pool, reason) => workerEnds.inc({ pool, reason }),
    watch(reader) {
      read = reader;
    },
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
};
