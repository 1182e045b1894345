import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { createAuthenticator } from "./auth/index.ts";
import { openVending } from "./catalog/open.ts";
import type { Config } from "./config/config.ts";
import { createConsole } from "./console/console.ts";
import { consoleSettings } from "./console/settings.ts";
import { Functions } from "./functions/index.ts";
import { Guard, GuardOff } from "./guard/guard.ts";
import { requestLimits } from "./guard/limits.ts";
import { Jobs } from "./jobs/index.ts";
import { StoreMonitor } from "./lance/connection/store-monitor.ts";
import { openInProcess } from "./lance/in-process-database.ts";
import { DueTables } from "./lance/maintenance/due-tables.ts";
import { MaintenanceRecord } from "./lance/maintenance/maintenance-record.ts";
import { underLease } from "./lance/maintenance/table-lease.ts";
import { LanceFunctionStore } from "./lance/records/function-store.ts";
import { LanceJobStore } from "./lance/records/job-store.ts";
import { commitUpload, LargeCommits } from "./lance/uploads/large-commits.ts";
import { MultipartUploads } from "./lance/uploads/multipart.ts";
import { MaintenanceOnRequest } from "./maintenance/on-request.ts";
import { refreshFunction } from "./operations/functions/function-columns.ts";
import { createFunctionHandler } from "./operations/functions/functions.ts";
import { functionOperations, readOperations, writeOperations } from "./operations/index.ts";
import { refreshColumnHandler, refreshViewHandler } from "./operations/jobs/refresh.ts";
import { type AdmissionClass, admissionClasses } from "./operations/operation.ts";
import { AdmissionLimit } from "./server/admission.ts";
import { createApiPage } from "./server/api-page.ts";
import { ByteBudget } from "./server/byte-budget.ts";
import { createEntry } from "./server/entry.ts";
import { createHealthApp, isReady, type Readiness } from "./server/health.ts";
import { type Listener, listen, webListener } from "./server/listener.ts";
import { makeMemoryDirectory } from "./server/memory-file.ts";
import { createOpenApi } from "./server/openapi.ts";
import { createPages } from "./server/pages.ts";
import { PrincipalLimit } from "./server/principal-limit.ts";
import { Turns } from "./server/turns.ts";
import { removeStale } from "./server/upload-directory.ts";
import { Uploads } from "./server/uploads.ts";
import type { Log } from "./telemetry/log.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";
import { type Isolation, openIsolated, type PoolName } from "./workers/isolated-database.ts";
import type { ExitReport } from "./workers/pool.ts";

export interface Service {
  readonly api: Listener;
  /** Probes and metrics. */
  readonly health: Listener;
  /** Fails readiness at once, accepts requests for `drainSeconds`, completes those in flight and closes everything. */
  stop(): Promise<void>;
}

/** Opens the database in this process or, if the configuration says so, with worker processes. */
const openDatabase = (config: Config, log: Log, metrics: Metrics): Isolation => {
  const database = openInProcess(config.database, (table, tags) =>
    log.warn({ table, tags }, "tags with invalid files are left out of a list"),
  );
  if (config.isolation === undefined) return { database, available: true, workers: {}, workerBytes: {} };
  const onExit = (pool: PoolName, report: ExitReport): void => {
    if (report.reason === "stopped") return;
    metrics.workerEnd(pool, report.reason);
    log.warn({ pool, ...report }, "a worker process has ended");
  };
  return openIsolated(database, config.isolation, onExit, makeMemoryDirectory(undefined, "lakehead-windows-"));
};

/** Composition root: builds the service from its configuration and starts its listeners. */
export const startService = async (config: Config, log: Log, version: string): Promise<Service> => {
  const apiPage = config.docs === "on" ? await createApiPage() : undefined;
  const authenticator = createAuthenticator(config.auth, { log });
  const console =
    config.console === "on"
      ? await createConsole(authenticator, consoleSettings(config, version), config.writes === "on")
      : undefined;
  const vending = await openVending(config.vending, config.database, config.writes === "on" ? "write" : "read");
  const metrics = createMetrics(version);
  // A worker process removes its own, unless it is killed together with its supervisor.
  removeStale(tmpdir(), "lakehead-worker-");
  const isolation = openDatabase(config, log, metrics);
  const { database } = isolation;
  const principalLimit = new PrincipalLimit(config.maxInFlightPerPrincipal);
  const limit = (name: AdmissionClass): AdmissionLimit =>
    new AdmissionLimit(
      config.admission[name],
      (reason) => metrics.refusal(name, reason),
      (caller) => principalLimit.isAlone(caller),
    );
  const admission = Object.fromEntries(admissionClasses.map((name) => [name, limit(name)])) as Record<
    AdmissionClass,
    AdmissionLimit
  >;
  const uploads = config.writes === "on" ? new Uploads(config.uploads) : undefined;
  const due = config.writes === "on" ? new DueTables(config.database, config.database.caches) : undefined;
  const maintenance = new MaintenanceOnRequest(config.maintenance, config.database, log);
  const jobStore = new LanceJobStore(config.database, config.maintenance.database.caches);
  const jobs = new Jobs(jobStore, config.jobs, log, ({ type, state, createdAt, endedAt, result }) =>
    metrics.jobEnd(type, state, (endedAt - createdAt) / 1000, {
      written: Number(result?.rows_assigned ?? result?.rows_written ?? 0),
      failed: Number(result?.rows_failed ?? 0),
    }),
  );
  jobs.register(commitUpload, "elsewhere");
  const multipart = new MultipartUploads(config.database, database, new LargeCommits(jobs), config.multipart);
  if (config.writes === "on") multipart.watch();
  const leases = new MaintenanceRecord(config.database, config.maintenance.database.caches);
  const refreshTools = { database, underLease: underLease(leases, config.jobs.leaseMs) };
  jobs.register("refresh_column", refreshColumnHandler(refreshTools));
  jobs.register("refresh_view", refreshViewHandler(refreshTools));
  if (config.writes === "on") jobs.watch();
  const functionStore = new LanceFunctionStore(config.database, config.maintenance.database.caches);
  const functions = new Functions(functionStore, config.functions);
  jobs.register("create_function", createFunctionHandler(functions));
  jobs.register(refreshFunction, "elsewhere");
  const served = [
    ...readOperations,
    ...(config.writes === "on" ? writeOperations : []),
    ...(config.functions.mode === "on" ? functionOperations : []),
  ];
  const state = { draining: false };
  // The store may be unavailable when a pod starts: the pod is live but not ready, and retries.
  const store = new StoreMonitor(() => database.connect(), log, config.database.uri);

  const pages = createPages({
    log,
    metrics,
    openapi: createOpenApi(version, served),
    pages: [apiPage, console].filter((page) => page !== undefined),
  });
  const entry = createEntry({
    tools: {
      database,
      guard: new (config.guard === "on" ? Guard : GuardOff)(requestLimits(config.limits)),
      deadlineSeconds: config.deadlineSeconds,
      blobWindowBytes: config.blobWindowBytes,
      maintenance,
      showsLocations: config.database.showLocations,
      vending,
      uploads: multipart,
      jobs,
      functions: config.functions.mode === "on" ? functions : undefined,
      rowErrors: (table, query) => functionStore.rowErrors(table, query),
    },
    operations: served,
    uploads,
    authenticator,
    limits: config.limits,
    admission,
    principalLimit,
    turns: new Turns(),
    budgets: {
      responses: new ByteBudget(config.budgets.responses, config.maxWaitMs, "responses"),
      bodies: new ByteBudget(config.budgets.bodies, config.maxWaitMs, "request bodies"),
    },
    maxResponseBytes: config.database.maxResultBytes,
    log,
    metrics,
    pages: webListener(pages.fetch, config.host),
    onStoreFailure: () => store.reportFailure(),
  });
  const readiness = (): Readiness => ({
    ...state,
    databaseConnected: store.connected,
    databaseAvailable: store.answers,
    keysLoaded: authenticator.ready(),
    workersAvailable: isolation.available,
  });
  metrics.watch(() => ({
    admission,
    handles: database.handleCounts(),
    workers: isolation.workers,
    workerBytes: isolation.workerBytes,
    ready: isReady(readiness()),
    storeAnswers: store.answers,
    uploadBytes: uploads?.bytes ?? 0,
    due,
    jobs: config.writes === "on" ? jobs.kept : undefined,
    loans: vending?.counts,
  }));
  const healthApp = webListener(createHealthApp(metrics, readiness).fetch, config.host);

  const api = await listen(entry, config.port, config.host, config.requestMs).catch(async (error: unknown) => {
    store.stop();
    await database.close();
    throw error;
  });
  const health = await listen(healthApp, config.healthPort, config.host).catch(async (error: unknown) => {
    store.stop();
    await Promise.all([api.close(0), database.close()]);
    throw error;
  });
  return {
    api,
    health,
    async stop() {
      state.draining = true;
      store.stop();
      api.retire();
      log.info({ seconds: config.drainSeconds }, "draining");
      await sleep(config.drainSeconds * 1000);
      maintenance.stop();
      await jobs.stop();
      await functions.close();
      await leases.close();
      await api.close(config.shutdownSeconds * 1000);
      await health.close(0);
      authenticator.close();
      await database.close();
      uploads?.close();
      await due?.stop();
      await multipart.stop();
      await maintenance.close();
      log.info({}, "stopped");
    },
  };
};
