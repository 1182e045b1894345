/**
 * All that a deployment knows about the service: `infra/workloads/` builds its objects from this file, and the service
 * listens accordingly. It imports nothing, so that both sides can import it.
 */

/** TCP ports. `operations` is the port of the health listener (probes, metrics); it is never exposed outside the cluster. */
export const ports = { api: 8080, operations: 9090 } as const;

/** HTTP paths. The first three are served by the health listener. */
export const paths = {
  live: "/livez",
  ready: "/readyz",
  metrics: "/metrics",
  openapi: "/openapi.json",
  docs: "/docs",
  console: "/console",
} as const;

/** The entry point, relative to the image's working directory; run as `node <entry>`. */
export const entry = "service/main.ts";

/** A run of the maintenance, the same way; it ends by itself. */
export const maintenanceEntry = "service/maintenance/main.ts";

/** Maximum seconds from SIGTERM to the exit of a pod: readiness delay, drain, close. */
export const terminationGraceSeconds = 60;

/**
 * Maximum seconds from the first byte of a request to the response, for the timeouts of load balancers: the service ends a
 * slow request itself, and a client that gets a balancer's 504 repeats a write that may be done. With writes, the time in
 * which the body arrives and the deadline of the write, both at their defaults.
 */
export const longestRequestSeconds = (writes: boolean): number => (writes ? 1320 : 120);

/** The scopes that an issuer grants. An operation needs one of them (`plan`: explain_plan, `analyze`: analyze_plan, …). */
export const scopes = [
  "plan",
  "analyze",
  "stats",
  "read",
  "tags:read",
  "tags:write",
  "write",
  "manage",
  "credentials",
  "functions",
] as const;

/** Storage options with the address of an object store. A deployment must allow connections to it. */
export const storageAddress = /^(aws_)?endpoint(_url)?$|^(google_)?base_url$/i;

/** Names of the environment variables that a deployment sets. `service/config/schema.ts` describes them. */
export const environment = {
  database: "LAKEHEAD_DATABASE",
  storageOptions: "LAKEHEAD_STORAGE_OPTIONS",
  host: "LAKEHEAD_HOST",
  port: "LAKEHEAD_PORT",
  operationsPort: "LAKEHEAD_OPERATIONS_PORT",
  logLevel: "LAKEHEAD_LOG_LEVEL",
  issuer: "LAKEHEAD_AUTH_ISSUER",
  audience: "LAKEHEAD_AUTH_AUDIENCE",
  jwksUrl: "LAKEHEAD_AUTH_JWKS_URL",
  scopeClaim: "LAKEHEAD_AUTH_SCOPE_CLAIM",
  clusterIssuer: "LAKEHEAD_AUTH_CLUSTER_ISSUER",
  apiKey: "LAKEHEAD_AUTH_API_KEY",
  serviceAccounts: "LAKEHEAD_AUTH_SERVICE_ACCOUNTS",
  staticTokens: "LAKEHEAD_AUTH_STATIC_TOKENS",
  console: "LAKEHEAD_CONSOLE",
  consoleClientId: "LAKEHEAD_CONSOLE_CLIENT_ID",
  writes: "LAKEHEAD_WRITES",
  functions: "LAKEHEAD_FUNCTIONS",
  maxLargeUploadBytes: "LAKEHEAD_MAX_LARGE_UPLOAD_BYTES",
  vending: "LAKEHEAD_VENDING",
  vendingRole: "LAKEHEAD_VENDING_ROLE",
  vendingKmsKey: "LAKEHEAD_VENDING_KMS_KEY",
  vendingSeconds: "LAKEHEAD_VENDING_SECONDS",
  maintenance: "LAKEHEAD_MAINTENANCE",
  maintenanceRunSeconds: "LAKEHEAD_MAINTENANCE_RUN_SECONDS",
  maintenanceTableSeconds: "LAKEHEAD_MAINTENANCE_TABLE_SECONDS",
  maintenanceRay: "LAKEHEAD_MAINTENANCE_RAY",
  maintenanceRayToken: "LAKEHEAD_MAINTENANCE_RAY_TOKEN",
  maintenanceRayPackages: "LAKEHEAD_MAINTENANCE_RAY_PACKAGES",
  maintenanceRayWorkers: "LAKEHEAD_MAINTENANCE_RAY_WORKERS",
  maintenanceRayBytes: "LAKEHEAD_MAINTENANCE_RAY_BYTES",
  memoryLimit: "LAKEHEAD_MEMORY_LIMIT_BYTES",
} as const;
