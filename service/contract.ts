/**
 * What a deployment must know of the service and nothing else: `infra/workloads/` builds its objects from this file,
 * `service/main.ts` listens by it. It imports nothing, so that both sides may import it.
 */

/** TCP ports. The operations port is for probes and metrics and is never exposed outside the cluster. */
export const ports = { api: 8080, operations: 9090 } as const;

/** HTTP paths. The first three are served on the operations port. */
export const paths = {
  live: "/livez",
  ready: "/readyz",
  metrics: "/metrics",
  openapi: "/openapi.json",
  docs: "/docs",
} as const;

/** The entry point, relative to the image's working directory; run as `node <entry>`. */
export const entry = "service/main.ts";

/** Seconds that a pod needs from SIGTERM to its exit at the most: readiness delay, drain, close. */
export const terminationGraceSeconds = 60;

/** The scopes that an issuer grants. An operation needs one of them (`plan`: explain_plan, `analyze`: analyze_plan, …). */
export const scopes = ["plan", "analyze", "stats", "read", "tags:read", "tags:write"] as const;

/** Storage options that hold the address of a store, which a deployment must let the service reach. */
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
  staticTokens: "LAKEHEAD_AUTH_STATIC_TOKENS",
  memoryLimit: "LAKEHEAD_MEMORY_LIMIT_BYTES",
} as const;
