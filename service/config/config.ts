import { totalmem } from "node:os";
import type { z } from "zod";
import type { AuthConfig } from "../auth/types.ts";
import type { FunctionLimits } from "../functions/index.ts";
import type { ConfigurableLimits } from "../guard/limits.ts";
import type { JobLimits } from "../jobs/index.ts";
import type { DatabaseConfig } from "../lance/database.ts";
import type { MultipartLimits } from "../lance/uploads/multipart.ts";
import type { AdmissionClass } from "../operations/operation.ts";
import type { AdmissionOptions } from "../server/admission.ts";
import type { BodyLimits } from "../server/body.ts";
import type { BudgetLimits } from "../server/byte-budget.ts";
import type { UploadLimits } from "../server/uploads.ts";
import type { IsolationConfig, PoolConfig } from "../workers/isolated-database.ts";
import { type Environment, parseEnvironment } from "./environment.ts";
import { type MaintenanceConfig, type TableMaintenanceConfig, toMaintainedDatabase } from "./maintenance.ts";
import { maintenanceSchema, schema } from "./schema.ts";
import { withStorageDefaults } from "./storage-options.ts";

type Values = z.output<typeof schema>;

export interface Config extends Readonly<Omit<Values["server"], "otlpEndpoint">> {
  readonly otlpEndpoint?: string;
  readonly database: DatabaseConfig;
  readonly auth: AuthConfig;
  readonly limits: ConfigurableLimits & Pick<BodyLimits, "stallMs">;
  /** Seconds after which an operation that reads without bound is ended. */
  readonly deadlineSeconds: number;
  readonly admission: Readonly<Record<AdmissionClass, AdmissionOptions>>;
  readonly maxInFlightPerPrincipal: number;
  /** Bytes that requests may keep in the main process. */
  readonly budgets: { readonly responses: BudgetLimits; readonly bodies: BudgetLimits };
  /** Bytes of a blob that are read at once. */
  readonly blobWindowBytes: number;
  /** Milliseconds that a request waits for them. */
  readonly maxWaitMs: number;
  readonly writes: Values["writes"]["mode"];
  readonly vending: Values["vending"];
  readonly uploads: UploadLimits;
  readonly multipart: MultipartLimits;
  /** Maximum time in which a request arrives, in milliseconds; absent: the listener's. */
  readonly requestMs?: number;
  /** Absent: every call runs in the service's own process. */
  readonly isolation?: IsolationConfig;
  readonly jobs: JobLimits;
  readonly functions: FunctionLimits & { readonly mode: "on" | "off" };
  /** Of a table whose maintenance a caller asks for. */
  readonly maintenance: TableMaintenanceConfig;
}

/** Memory that the process may use, in bytes. */
const memoryOf = ({ memoryBytes }: Pick<Values["load"], "memoryBytes">): number =>
  memoryBytes ?? Math.min(process.constrainedMemory() || totalmem(), totalmem());

/**
 * The database of a process with `memory` bytes. The SDK's default caches, 7 GiB in all, exceed most containers; a third
 * of the memory leaves room for queries.
 */
const toDatabase = (
  { storageOptions, maxHandleBytes, maxResponseBytes: _, ...database }: Values["database"],
  memory: number,
  maxWriteBytes: number,
): DatabaseConfig => ({
  ...database,
  maxWriteBytes,
  maxHandleBytes: maxHandleBytes ?? Math.floor(memory * handleShare),
  storageOptions: withStorageDefaults(database.uri, storageOptions),
  caches: { indexBytes: Math.floor(memory * 0.25), metadataBytes: Math.floor(memory * 0.08) },
});

/** The share of a process's memory for open table handles; a quarter of the memory is the main process's. */
const handleShare = 1 / 4;

/** The share of the memory for responses that are made or sent. */
const responseShare = 1 / 16;

/** The share of the memory for bodies in JSON, which take up to sixteen times as much when they are parsed. */
const bodyShare = 1 / 64;

/** The budget of all callers, of which one has half. @param largest bytes of one request, which always fit. */
const toBudget = (totalBytes: number, largest: number): BudgetLimits => {
  const callerBytes = Math.max(largest, Math.floor(totalBytes / 2));
  return { totalBytes: Math.max(totalBytes, 2 * callerBytes), callerBytes };
};

const toBudgets = ({ database, load, limits }: Values): Config["budgets"] => {
  const { maxResultBytes, maxResponseBytes } = database;
  const memory = memoryOf(load);
  return {
    responses: toBudget(maxResponseBytes ?? Math.floor(memory * responseShare), maxResultBytes),
    bodies: toBudget(Math.floor(memory * bodyShare), limits.maxBodyBytes),
  };
};

/** Share of the memory for worker processes. */
const workersShare = 0.75;

/** Share of a worker's memory that counts for its caches, which then take a fifth of the worker's memory. */
const workerCacheShare = 0.6;

/** Analyses for which there is a share of the memory. */
const analysesPerShare = 2;

/** One process that runs several analyses takes less CPU time for each than several processes do. */
const sharesPerWorker = 2;

/** About the memory of a flat search over a million vectors: what a worker has at least for each of its calls. */
const minWorkerBytes = 512 * 2 ** 20;

/** A write takes several times the memory of its rows: as sent, as a file, decoded, and encoded. */
const writeShare = 1 / 8;
const maxDefaultWriteBytes = 256 * 2 ** 20;

/** @param memory of the process that writes. */
const maxWriteBytesOf = ({ writes }: Values, memory: number): number =>
  writes.maxWriteBytes ?? Math.min(maxDefaultWriteBytes, Math.floor(memory * writeShare));

/** Worker processes for appends that share commits, and the memory that each usually takes. */
const appendWorkers = 2;
const appendBytes = 256 * 2 ** 20;

/** With two, one caller cannot occupy all of them. */
const minWriteWorkers = 2;

/** Writes at a time, apart from appends that share commits: as many as are wanted, where each has the memory for it. */
const writeConcurrencyOf = ({ writes, load, isolation }: Values): number => {
  const bytes = isolation.workerMemoryBytes ?? minWorkerBytes;
  const fitting = Math.floor((memoryOf(load) * workersShare) / bytes) - 1;
  return Math.min(writes.concurrency, Math.max(minWriteWorkers, fitting));
};

/** @param shareBytes memory of one of `shares`, in bytes. */
const toAnalyzePool = (
  { admission, isolation }: Values,
  shares: number,
  shareBytes: number,
): Omit<PoolConfig, "maxWaitMs"> => {
  const callsPerShare = Math.max(
    1,
    Math.min(admission.analyze.concurrency, analysesPerShare, Math.floor(shareBytes / minWorkerBytes)),
  );
  const workers = Math.max(1, Math.floor(shares / sharesPerWorker));
  return {
    workers,
    workersApart: shares,
    memoryBytes: Math.floor((shares * shareBytes) / workers),
    callsPerWorker: Math.floor((shares * callsPerShare) / workers),
    deadlineSeconds: isolation.analyzeDeadlineSeconds,
  };
};

/** Processes that read blobs in windows, and the calls that each runs at a time. */
const blobPool = { workers: 1, workersApart: 2, callsPerWorker: 8 } as const;

const toIsolation = (values: Values): IsolationConfig | undefined => {
  const { isolation, admission, load, database, writes } = values;
  if (isolation.mode === "off") return undefined;
  const budget = memoryOf(load) * workersShare;
  const planWorkers = isolation.mode === "all" ? isolation.planWorkers : 0;
  const writeWorkers = writes.mode === "on" ? writeConcurrencyOf(values) : 0;
  const otherWorkers = planWorkers + writeWorkers;
  const wanted = Math.ceil(admission.analyze.concurrency / analysesPerShare);
  const left = writes.mode === "on" ? budget - appendWorkers * appendBytes : budget;
  const memoryBytes =
    isolation.workerMemoryBytes ?? Math.max(minWorkerBytes, Math.floor(left / (wanted + otherWorkers)));
  const fitting = Math.floor(left / memoryBytes) - otherWorkers;
  const shares = Math.max(1, Math.min(wanted, fitting));
  const maxWaitMs = load.queueSeconds * 1000;
  const common = { memoryBytes, maxWaitMs };
  const toWritePool = (workers: number): PoolConfig => ({
    ...common,
    workers,
    workersApart: workers,
    callsPerWorker: 1,
    deadlineSeconds: writes.deadlineSeconds,
  });
  return {
    database: toDatabase(database, memoryBytes * workerCacheShare, maxWriteBytesOf(values, memoryBytes)),
    analyze: { ...toAnalyzePool(values, shares, memoryBytes), maxWaitMs },
    blob: { ...common, ...blobPool, deadlineSeconds: isolation.analyzeDeadlineSeconds },
    ...(planWorkers > 0 && {
      plan: {
        ...common,
        workers: planWorkers,
        workersApart: planWorkers,
        callsPerWorker: Math.ceil(admission.plan.concurrency / planWorkers),
        deadlineSeconds: isolation.planDeadlineSeconds,
      },
    }),
    ...(writeWorkers > 0 && {
      writes: {
        write: toWritePool(writeWorkers),
        append: { ...toWritePool(appendWorkers), priority: "append" },
        // The job's own limit ends it first, and says so.
        job: { ...toWritePool(jobConcurrency), deadlineSeconds: values.jobs.seconds + 60 },
      },
    }),
  };
};

/**
 * The share of the plan limit that one principal has while others are active. By default one call for each CPU: planning
 * occupies the CPUs of the main process, and calls of all classes wait behind what runs.
 */
const planShare = 1 / 16;

const toAdmission = (values: Values, analyzePool: PoolConfig | undefined): Config["admission"] => {
  const { admission, load, isolation, writes } = values;
  const maxWaitMs = load.queueSeconds * 1000;
  const { analyze, plan, metadata } = admission;
  const writeConcurrency = isolation.mode === "off" ? writes.concurrency : writeConcurrencyOf(values);
  const fitting =
    analyzePool === undefined ? Number.POSITIVE_INFINITY : analyzePool.workers * analyzePool.callsPerWorker;
  return {
    analyze: { ...analyze, concurrency: Math.min(analyze.concurrency, fitting), maxWaitMs },
    plan: {
      ...plan,
      maxWaitMs,
      // Plans in worker processes do not occupy the main process.
      ...(isolation.mode !== "all" && { share: Math.ceil(plan.concurrency * planShare) }),
    },
    metadata: { ...metadata, maxWaitMs },
    write: { concurrency: writeConcurrency, queue: writes.queue, maxWaitMs, long: true },
    append: { concurrency: writes.appendConcurrency, queue: writes.appendConcurrency, maxWaitMs },
  };
};

/** One request takes no longer than a write, and no more memory than a worker that writes. */
const toTableMaintenance = (values: Values, memoryBytes: number): TableMaintenanceConfig => {
  const { rules, leaseSeconds, attempts, tableSeconds } = values.maintenance;
  return {
    database: toMaintainedDatabase(values.database, memoryBytes),
    rules,
    leaseSeconds,
    attempts,
    tableSeconds: Math.min(tableSeconds, values.writes.deadlineSeconds),
    memoryBytes,
  };
};

/** Jobs that one process runs at once, each in a worker process of its own. */
const jobConcurrency = 2;
const jobsKeptMs = 7 * 86_400_000;

const toJobs = ({ jobs }: Values): JobLimits => ({
  maxJobs: jobs.maxJobs,
  concurrency: jobConcurrency,
  maxMs: jobs.seconds * 1000,
  leaseMs: jobs.leaseSeconds * 1000,
  keptMs: jobsKeptMs,
});

/** Streams of one caller at a time, each with a window that is sent and one that is read ahead. */
const streamsOfCaller = 16;
const maxBlobWindowBytes = 4 * 2 ** 20;

const toBlobWindow = ({ callerBytes }: BudgetLimits): number =>
  Math.min(maxBlobWindowBytes, Math.floor(callerBytes / streamsOfCaller / 2));

/** Longer than a process, or its connection to the store, pauses; shorter than a client waits for a response. */
const commitLeaseMs = 30_000;

/**
 * Reads the service's configuration from environment variables.
 * @throws ConfigError with every invalid variable, and every unknown one of the service's prefix.
 */
export const readConfig = (environment: Environment): Config => {
  const values = parseEnvironment(schema, environment);
  const { server, auth, limits, load, isolation: isolated, database, writes, vending } = values;
  const memory = memoryOf(load);
  const isolation = toIsolation(values);
  const stallMs = load.bodyStallSeconds * 1000;
  const budgets = toBudgets(values);
  const maxWriteBytes = isolation?.database.maxWriteBytes ?? maxWriteBytesOf(values, memory);
  const maxPartsBytes = Math.max(maxWriteBytes, writes.multipart.maxLargeBytes);
  return Object.freeze({
    ...server,
    auth,
    limits: { ...limits, stallMs },
    database: {
      ...toDatabase(database, isolation === undefined ? memory : memory * (1 - workersShare), maxWriteBytes),
      opened: database.schemas,
    },
    budgets,
    blobWindowBytes: toBlobWindow(budgets.responses),
    maxWaitMs: load.queueSeconds * 1000,
    writes: writes.mode,
    vending,
    // A caller may hold as many bytes as it leaves free: one can send two of the largest bodies, and then another one more.
    uploads: {
      maxWriteBytes,
      maxPartsBytes,
      maxUploadBytes: Math.max(4 * maxWriteBytes, writes.maxUploadBytes),
      stallMs,
    },
    multipart: {
      maxWriteBytes,
      maxPartsBytes,
      maxUploads: writes.multipart.maxUploads,
      keptMs: writes.multipart.keptHours * 3_600_000,
      leaseMs: commitLeaseMs,
    },
    ...(writes.mode === "on" ? { requestMs: writes.uploadSeconds * 1000 } : {}),
    deadlineSeconds: isolated.analyzeDeadlineSeconds,
    admission: toAdmission(values, isolation?.analyze),
    maxInFlightPerPrincipal: load.maxInFlightPerPrincipal,
    ...(isolation === undefined ? {} : { isolation }),
    jobs: toJobs(values),
    functions: values.functions,
    maintenance: toTableMaintenance(values, isolation?.writes?.write.memoryBytes ?? Math.floor(memory * workersShare)),
  });
};

/** The share of the memory of a run for the process that works on a table. */
const maintenanceShare = 0.8;

/**
 * Reads the configuration of a run of the maintenance from the variables of the service, of which most are not needed.
 * @throws ConfigError with all faults.
 */
export const readMaintenanceConfig = (environment: Environment): MaintenanceConfig => {
  const { server, database, load, maintenance } = parseEnvironment(maintenanceSchema, environment);
  const memoryBytes = Math.floor(memoryOf(load) * maintenanceShare);
  const { logLevel } = server;
  const { ray, ...own } = maintenance;
  const { address, ...cluster } = ray;
  return {
    ...own,
    ...(address === undefined ? {} : { ray: { address, ...cluster } }),
    logLevel,
    memoryBytes,
    database: toMaintainedDatabase(database, memoryBytes),
  };
};
