import { totalmem } from "node:os";
import { type AuthConfig, validateAuthConfig } from "../auth/index.ts";
import { defaultExpressionLimits } from "../guard/expression/index.ts";
import type { RequestLimits } from "../guard/limits.ts";
import type { DatabaseConfig } from "../lance/database.ts";
import type { AdmissionOptions } from "../server/admission.ts";
import type { IsolationConfig } from "../workers/isolated-database.ts";
import { readSettings, SettingsError, type Values } from "./settings.ts";
import { storageFaults, withStorageDefaults } from "./storage-options.ts";
import { settings } from "./variables.ts";

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly healthPort: number;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  readonly drainSeconds: number;
  readonly shutdownSeconds: number;
  readonly database: DatabaseConfig;
  readonly auth: AuthConfig;
  readonly limits: RequestLimits;
  /** Seconds after which an operation that reads without bound is ended. */
  readonly deadlineSeconds: number;
  readonly admission: Readonly<Record<"analyze" | "plan" | "metadata", AdmissionOptions>>;
  readonly maxInFlightPerPrincipal: number;
  /** Absent: every call runs in the service's own process. */
  readonly isolation?: IsolationConfig;
  readonly guard: "on" | "off";
  readonly docs: "on" | "off";
  readonly otlpEndpoint: string | undefined;
}

type SettingValues = Values<typeof settings>;

const toAuth = (value: SettingValues): AuthConfig => ({
  audience: value.LAKEHEAD_AUTH_AUDIENCE,
  algorithms: value.LAKEHEAD_AUTH_ALGORITHMS,
  clockToleranceSeconds: value.LAKEHEAD_AUTH_CLOCK_SKEW_SECONDS,
  scopeClaim: value.LAKEHEAD_AUTH_SCOPE_CLAIM,
  defaultTables: value.LAKEHEAD_AUTH_DEFAULT_TABLES,
  keyCacheSeconds: value.LAKEHEAD_AUTH_KEY_CACHE_SECONDS,
  staleKeySeconds: value.LAKEHEAD_AUTH_STALE_KEY_SECONDS,
  cooldownSeconds: value.LAKEHEAD_AUTH_COOLDOWN_SECONDS,
  allowApiKeyHeader: value.LAKEHEAD_AUTH_API_KEY,
  staticTokens: value.LAKEHEAD_AUTH_STATIC_TOKENS,
  ...(value.LAKEHEAD_AUTH_ISSUER === undefined ? {} : { issuer: value.LAKEHEAD_AUTH_ISSUER }),
  ...(value.LAKEHEAD_AUTH_JWKS_URL === undefined ? {} : { jwksUrl: value.LAKEHEAD_AUTH_JWKS_URL }),
  ...(value.LAKEHEAD_AUTH_SCOPE_PREFIX === undefined ? {} : { scopePrefix: value.LAKEHEAD_AUTH_SCOPE_PREFIX }),
  ...(value.LAKEHEAD_AUTH_SCOPE_MAP === undefined ? {} : { scopeMap: value.LAKEHEAD_AUTH_SCOPE_MAP }),
  ...(value.LAKEHEAD_AUTH_TABLES_CLAIM === undefined ? {} : { tablesClaim: value.LAKEHEAD_AUTH_TABLES_CLAIM }),
});

/** The variable behind each key of the authentication's own messages. */
const authVariables = {
  issuer: "LAKEHEAD_AUTH_ISSUER",
  jwksUrl: "LAKEHEAD_AUTH_JWKS_URL",
  audience: "LAKEHEAD_AUTH_AUDIENCE",
  algorithms: "LAKEHEAD_AUTH_ALGORITHMS",
  clockToleranceSeconds: "LAKEHEAD_AUTH_CLOCK_SKEW_SECONDS",
  scopeClaim: "LAKEHEAD_AUTH_SCOPE_CLAIM",
  scopePrefix: "LAKEHEAD_AUTH_SCOPE_PREFIX",
  scopeMap: "LAKEHEAD_AUTH_SCOPE_MAP",
  tablesClaim: "LAKEHEAD_AUTH_TABLES_CLAIM",
  defaultTables: "LAKEHEAD_AUTH_DEFAULT_TABLES",
  keyCacheSeconds: "LAKEHEAD_AUTH_KEY_CACHE_SECONDS",
  staleKeySeconds: "LAKEHEAD_AUTH_STALE_KEY_SECONDS",
  cooldownSeconds: "LAKEHEAD_AUTH_COOLDOWN_SECONDS",
  allowApiKeyHeader: "LAKEHEAD_AUTH_API_KEY",
  staticTokens: "LAKEHEAD_AUTH_STATIC_TOKENS",
} as const satisfies Record<keyof AuthConfig, keyof typeof settings>;

const authFaults = (auth: AuthConfig): string[] =>
  validateAuthConfig(auth, (key) => authVariables[key]).map(({ message }) => message);

const toLimits = (value: SettingValues): RequestLimits => ({
  maxBodyBytes: value.LAKEHEAD_MAX_BODY_BYTES,
  maxJsonDepth: value.LAKEHEAD_MAX_JSON_DEPTH,
  maxParts: value.LAKEHEAD_MAX_ID_PARTS,
  maxPartLength: value.LAKEHEAD_MAX_ID_PART_LENGTH,
  maxK: value.LAKEHEAD_MAX_K,
  maxOffset: value.LAKEHEAD_MAX_OFFSET,
  maxNprobes: value.LAKEHEAD_MAX_NPROBES,
  maxEf: value.LAKEHEAD_MAX_EF,
  maxRefineFactor: value.LAKEHEAD_MAX_REFINE_FACTOR,
  maxCandidates: value.LAKEHEAD_MAX_CANDIDATES,
  maxDimensions: value.LAKEHEAD_MAX_DIMENSIONS,
  maxVectors: value.LAKEHEAD_MAX_VECTORS,
  maxColumns: value.LAKEHEAD_MAX_COLUMNS,
  maxFullTextDepth: value.LAKEHEAD_MAX_FULL_TEXT_DEPTH,
  maxFullTextClauses: value.LAKEHEAD_MAX_FULL_TEXT_CLAUSES,
  maxFullTextBytes: value.LAKEHEAD_MAX_FULL_TEXT_BYTES,
  maxFullTextExpansions: value.LAKEHEAD_MAX_FULL_TEXT_EXPANSIONS,
  maxTagLength: value.LAKEHEAD_MAX_TAG_LENGTH,
  expression: {
    ...defaultExpressionLimits,
    maxBytes: value.LAKEHEAD_MAX_EXPRESSION_BYTES,
    maxOperators: value.LAKEHEAD_MAX_EXPRESSION_OPERATORS,
    maxDepth: value.LAKEHEAD_MAX_EXPRESSION_DEPTH,
    maxListItems: value.LAKEHEAD_MAX_EXPRESSION_LIST,
  },
});

const memoryOf = (value: SettingValues): number =>
  value.LAKEHEAD_MEMORY_LIMIT_BYTES ?? Math.min(process.constrainedMemory() || totalmem(), totalmem());

/**
 * The database of a process that may use so many bytes. The SDK's own cache sizes, 7 GiB in all, would outgrow most
 * containers; a third of the memory leaves room for queries.
 */
const toDatabase = (value: SettingValues, memory: number): DatabaseConfig => ({
  uri: value.LAKEHEAD_DATABASE,
  storageOptions: withStorageDefaults(value.LAKEHEAD_DATABASE, value.LAKEHEAD_STORAGE_OPTIONS),
  consistencySeconds: value.LAKEHEAD_CONSISTENCY_SECONDS,
  pinnedSeconds: value.LAKEHEAD_PINNED_SECONDS,
  maxHandles: value.LAKEHEAD_MAX_HANDLES,
  maxResultBytes: value.LAKEHEAD_MAX_RESULT_BYTES,
  showLocations: value.LAKEHEAD_TABLE_LOCATIONS === "on",
  caches: { indexBytes: Math.floor(memory * 0.25), metadataBytes: Math.floor(memory * 0.08) },
});

/** What of the memory is for worker processes, where there are any. */
const workersShare = 0.75;

/** Of a worker's memory: what goes by the rule for a whole process, so that a fifth of it is for caches. */
const workerCacheShare = 0.6;

/** A flat search over a million vectors takes about as much. */
const leastWorkerBytes = 512 * 2 ** 20;

const toIsolation = (value: SettingValues, memory: number): IsolationConfig | undefined => {
  if (value.LAKEHEAD_ISOLATION === "off") return undefined;
  const budget = memory * workersShare;
  const planWorkers = value.LAKEHEAD_ISOLATION === "all" ? value.LAKEHEAD_PLAN_WORKERS : 0;
  const wanted = value.LAKEHEAD_ANALYZE_CONCURRENCY;
  const memoryBytes =
    value.LAKEHEAD_WORKER_MEMORY_BYTES ?? Math.max(leastWorkerBytes, Math.floor(budget / (wanted + planWorkers)));
  const fitting = Math.floor(budget / memoryBytes) - planWorkers;
  const common = { memoryBytes, maxWaitMs: value.LAKEHEAD_QUEUE_SECONDS * 1000 };
  return {
    database: toDatabase(value, memoryBytes * workerCacheShare),
    analyze: {
      ...common,
      workers: Math.max(1, Math.min(wanted, fitting)),
      callsPerWorker: 1,
      deadlineSeconds: value.LAKEHEAD_ANALYZE_DEADLINE_SECONDS,
    },
    ...(planWorkers > 0 && {
      plan: {
        ...common,
        workers: planWorkers,
        callsPerWorker: Math.ceil(value.LAKEHEAD_PLAN_CONCURRENCY / planWorkers),
        deadlineSeconds: value.LAKEHEAD_PLAN_DEADLINE_SECONDS,
      },
    }),
  };
};

const toAdmission = (
  value: SettingValues,
  analyzeWorkers = value.LAKEHEAD_ANALYZE_CONCURRENCY,
): Config["admission"] => {
  const maxWaitMs = value.LAKEHEAD_QUEUE_SECONDS * 1000;
  return {
    analyze: { concurrency: analyzeWorkers, queue: value.LAKEHEAD_ANALYZE_QUEUE, maxWaitMs },
    plan: { concurrency: value.LAKEHEAD_PLAN_CONCURRENCY, queue: value.LAKEHEAD_PLAN_QUEUE, maxWaitMs },
    metadata: { concurrency: value.LAKEHEAD_METADATA_CONCURRENCY, queue: value.LAKEHEAD_METADATA_QUEUE, maxWaitMs },
  };
};

/**
 * Reads the service's configuration from environment variables.
 * @throws SettingsError naming every wrong variable, its value and the way out.
 */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>): Config => {
  const value = readSettings(settings, environment, "LAKEHEAD_");
  const auth = toAuth(value);
  const faults = [
    ...storageFaults(value.LAKEHEAD_STORAGE_OPTIONS).map((fault) => `LAKEHEAD_STORAGE_OPTIONS: ${fault}`),
    ...authFaults(auth),
  ];
  if (faults.length > 0) throw new SettingsError(faults);
  const memory = memoryOf(value);
  const isolation = toIsolation(value, memory);
  return Object.freeze({
    host: value.LAKEHEAD_HOST,
    port: value.LAKEHEAD_PORT,
    healthPort: value.LAKEHEAD_OPERATIONS_PORT,
    logLevel: value.LAKEHEAD_LOG_LEVEL,
    drainSeconds: value.LAKEHEAD_DRAIN_SECONDS,
    shutdownSeconds: value.LAKEHEAD_SHUTDOWN_SECONDS,
    database: toDatabase(value, isolation === undefined ? memory : memory * (1 - workersShare)),
    auth,
    limits: toLimits(value),
    deadlineSeconds: value.LAKEHEAD_ANALYZE_DEADLINE_SECONDS,
    admission: toAdmission(value, isolation?.analyze.workers),
    maxInFlightPerPrincipal: value.LAKEHEAD_MAX_IN_FLIGHT_PER_PRINCIPAL,
    ...(isolation === undefined ? {} : { isolation }),
    guard: value.LAKEHEAD_UNSAFE_GUARD,
    docs: value.LAKEHEAD_DOCS,
    otlpEndpoint: value.LAKEHEAD_OTLP_ENDPOINT,
  });
};
