import { availableParallelism } from "node:os";
import { z } from "zod";
import { authDefaults, scopes } from "../auth/index.ts";
import { ports } from "../contract.ts";
import { defaultExpressionLimits } from "../guard/expression/index.ts";
import { choice, decimal, flag, integer, json, list, maybe, required, secret, text, withDefault } from "./settings.ts";

const mebibyte = 2 ** 20;
const cpus = availableParallelism();
const maxInt = Number.MAX_SAFE_INTEGER;

const scopeName = z.enum(scopes);
const staticTokens = z.array(
  z.strictObject({
    name: z.string().min(1),
    sha256: z.string(),
    scopes: z.array(scopeName),
    tables: z.array(z.string()).default(["**"]),
  }),
);

/** Every environment variable of the service. The README's table is made from it. */
export const settings = {
  LAKEHEAD_DATABASE: required("Where the tables are: a directory, s3://bucket/prefix or gs://bucket/prefix", text),
  LAKEHEAD_STORAGE_OPTIONS: secret(
    withDefault(
      "The SDK's storage options, for instance aws_region, aws_endpoint, allow_http; for s3:// and gs:// they go over timeouts and retries of ours",
      json(z.record(z.string(), z.string()), "an object of strings"),
      {},
      "{}",
    ),
  ),
  LAKEHEAD_HOST: withDefault("Address that both ports listen on", text, "127.0.0.1"),
  LAKEHEAD_PORT: withDefault("Port of the API; 0 lets the system choose", integer(0, 65535), ports.api),
  LAKEHEAD_OPERATIONS_PORT: withDefault(
    "Port of /livez, /readyz and /metrics; 0 lets the system choose",
    integer(0, 65535),
    ports.operations,
  ),
  LAKEHEAD_LOG_LEVEL: withDefault("Least level that is logged", choice("debug", "info", "warn", "error"), "info"),
  LAKEHEAD_DRAIN_SECONDS: withDefault(
    "Seconds between SIGTERM (not ready any more) and the end of accepting, for load balancers to notice",
    decimal(0, 60),
    5,
  ),
  LAKEHEAD_SHUTDOWN_SECONDS: withDefault(
    "Seconds that requests in flight have to finish after that",
    decimal(0, 600),
    30,
  ),

  LAKEHEAD_TABLE_LOCATIONS: withDefault(
    "Whether describe says where a table lies (on), which clients that open it by themselves need; never with credentials",
    choice("on", "off"),
    "on",
  ),

  LAKEHEAD_CONSISTENCY_SECONDS: withDefault(
    "Seconds until a version or table of another process is seen; 0 looks at every request (tags are always looked up)",
    decimal(0, 3600),
    1,
  ),
  LAKEHEAD_PINNED_SECONDS: withDefault(
    "Seconds that a version's handle is kept, and a name in a namespace; bounds how long a table dropped and made anew answers as its old self, and one by a name that was taken from it",
    decimal(1, 86400),
    60,
  ),
  LAKEHEAD_MAX_HANDLES: withDefault("Table handles, and handles of versions, kept open", integer(1, 100_000), 1000),
  LAKEHEAD_MEMORY_LIMIT_BYTES: maybe(
    "Memory that the process may use; absent: what the container or machine has",
    integer(256 * mebibyte, maxInt),
  ),

  LAKEHEAD_AUTH_ISSUER: maybe("Issuer of the JWTs that are accepted (claim iss); found by OpenID discovery", text),
  LAKEHEAD_AUTH_JWKS_URL: maybe("Address of the issuer's keys, where there is no discovery", text),
  LAKEHEAD_AUTH_AUDIENCE: withDefault(
    "Audiences (claim aud), one of which a JWT must carry",
    list,
    authDefaults.audience,
    "",
  ),
  LAKEHEAD_AUTH_ALGORITHMS: withDefault("Signature algorithms that are accepted", list, authDefaults.algorithms),
  LAKEHEAD_AUTH_CLOCK_SKEW_SECONDS: withDefault(
    "Seconds by which exp and nbf may be off",
    integer(0, 300),
    authDefaults.clockToleranceSeconds,
  ),
  LAKEHEAD_AUTH_SCOPE_CLAIM: withDefault(
    "Claim that holds the scopes; dots lead into it",
    text,
    authDefaults.scopeClaim,
  ),
  LAKEHEAD_AUTH_SCOPE_PREFIX: maybe("Prefix of this service's values in the scope claim, taken off", text),
  LAKEHEAD_AUTH_SCOPE_MAP: maybe(
    "Scopes for foreign values of the scope claim",
    json(z.record(z.string(), z.array(scopeName)), 'for instance {"lake-admin": ["plan", "tags:write"]}'),
  ),
  LAKEHEAD_AUTH_TABLES_CLAIM: maybe("Claim that holds table patterns", text),
  LAKEHEAD_AUTH_DEFAULT_TABLES: withDefault(
    "Table patterns of a JWT without that claim",
    list,
    authDefaults.defaultTables,
  ),
  LAKEHEAD_AUTH_KEY_CACHE_SECONDS: withDefault(
    "Seconds for which the issuer's keys are used without asking again",
    integer(1, 86_400),
    authDefaults.keyCacheSeconds,
  ),
  LAKEHEAD_AUTH_STALE_KEY_SECONDS: withDefault(
    "Seconds for which the last good keys serve on while the issuer is away; then 503",
    integer(0, 604_800),
    authDefaults.staleKeySeconds,
  ),
  LAKEHEAD_AUTH_COOLDOWN_SECONDS: withDefault(
    "Shortest time between two fetches of keys that tokens which do not verify can cause",
    integer(1, 3600),
    authDefaults.cooldownSeconds,
  ),
  LAKEHEAD_AUTH_API_KEY: withDefault(
    "Whether x-api-key is taken like a bearer token (LanceDB's own client sends it)",
    flag,
    authDefaults.allowApiKeyHeader,
  ),
  LAKEHEAD_AUTH_STATIC_TOKENS: secret(
    withDefault(
      "Tokens known by their hash",
      json(staticTokens, 'for instance [{"name": "ci", "sha256": "…", "scopes": ["stats"], "tables": ["**"]}]'),
      [],
      "[]",
    ),
  ),

  LAKEHEAD_MAX_BODY_BYTES: withDefault("Bytes of a request's body", integer(1, 64 * mebibyte), mebibyte),
  LAKEHEAD_MAX_JSON_DEPTH: withDefault("Nesting of a request's body", integer(1, 1000), 32),
  LAKEHEAD_MAX_ID_PARTS: withDefault("Parts of a table id", integer(1, 100), 16),
  LAKEHEAD_MAX_ID_PART_LENGTH: withDefault("Characters of one part of a table id", integer(1, 255), 128),
  LAKEHEAD_MAX_K: withDefault("k beside a vector, full_text_query or order_by", integer(1, 1_000_000), 10_000),
  LAKEHEAD_MAX_OFFSET: withDefault("offset", integer(0, 2 ** 32 - 1), 1_000_000),
  LAKEHEAD_MAX_NPROBES: withDefault("nprobes, minimum_nprobes and maximum_nprobes", integer(1, 1_000_000), 4096),
  LAKEHEAD_MAX_EF: withDefault("ef", integer(1, 1_000_000), 20_000),
  LAKEHEAD_MAX_REFINE_FACTOR: withDefault("refine_factor", integer(1, 100_000), 1000),
  LAKEHEAD_MAX_CANDIDATES: withDefault(
    "(k + offset) × refine_factor × number of vectors",
    integer(1, 100_000_000),
    1_000_000,
  ),
  LAKEHEAD_MAX_DIMENSIONS: withDefault("Dimensions of a query vector", integer(1, 65_536), 8192),
  LAKEHEAD_MAX_VECTORS: withDefault("Query vectors of one request", integer(1, 10_000), 100),
  LAKEHEAD_MAX_COLUMNS: withDefault(
    "Columns named in columns, order_by or a full-text clause",
    integer(1, 10_000),
    500,
  ),
  LAKEHEAD_MAX_FULL_TEXT_DEPTH: withDefault("Nesting of a full-text query", integer(1, 64), 8),
  LAKEHEAD_MAX_FULL_TEXT_CLAUSES: withDefault("Match and phrase clauses of a full-text query", integer(1, 1000), 64),
  LAKEHEAD_MAX_FULL_TEXT_BYTES: withDefault(
    "Bytes of all terms of a full-text query; a search takes time for each word",
    integer(1, mebibyte),
    1024,
  ),
  LAKEHEAD_MAX_FULL_TEXT_EXPANSIONS: withDefault("max_expansions, prefix_length and slop", integer(1, 100_000), 1000),
  LAKEHEAD_MAX_TAG_LENGTH: withDefault("Characters of a tag", integer(1, 200), 128),
  LAKEHEAD_MAX_EXPRESSION_BYTES: withDefault(
    "Bytes of an SQL expression",
    integer(1, 65_536),
    defaultExpressionLimits.maxBytes,
  ),
  LAKEHEAD_MAX_EXPRESSION_OPERATORS: withDefault(
    "Operators, casts and calls of an SQL expression; several hundred can overflow the engine's stack",
    integer(1, 256),
    defaultExpressionLimits.maxOperators,
  ),
  LAKEHEAD_MAX_EXPRESSION_DEPTH: withDefault(
    "Nesting of an SQL expression; the time to plan one grows exponentially with it",
    integer(1, 20),
    defaultExpressionLimits.maxDepth,
  ),
  LAKEHEAD_MAX_EXPRESSION_LIST: withDefault(
    "Items of one list in an SQL expression",
    integer(1, 10_000),
    defaultExpressionLimits.maxListItems,
  ),

  LAKEHEAD_MAX_RESULT_BYTES: withDefault(
    "Bytes of the rows that query answers; each answer that is under way takes up to four times as much memory in its worker and twice as much in the main process",
    integer(1024, 512 * mebibyte),
    32 * mebibyte,
  ),

  LAKEHEAD_ANALYZE_CONCURRENCY: withDefault(
    "Calls that run at once of those that execute a query or read without bound: analyze_plan, query, count_rows with a predicate, lists of versions, of branches and of all tables, describe with load_detailed_metadata",
    integer(1, 256),
    Math.max(2, cpus),
    "the number of CPUs, at least 2",
  ),
  LAKEHEAD_ANALYZE_QUEUE: withDefault(
    "Calls of these that wait for a place; principals take turns, and where the queue is full the one with most calls in it gives one up",
    integer(0, 10_000),
    64,
  ),
  LAKEHEAD_PLAN_CONCURRENCY: withDefault(
    "explain_plan calls that run at once; raise it with LAKEHEAD_CONSISTENCY_SECONDS=0, where each holds its place over a look at the store",
    integer(1, 1024),
    16 * cpus,
    "16 times the number of CPUs",
  ),
  LAKEHEAD_PLAN_QUEUE: withDefault("explain_plan calls that wait for a place", integer(0, 10_000), 256),
  LAKEHEAD_METADATA_CONCURRENCY: withDefault(
    "All other calls (statistics, tags, descriptions, lists) that run at once",
    integer(1, 4096),
    64,
  ),
  LAKEHEAD_METADATA_QUEUE: withDefault("All other calls that wait for a place", integer(0, 10_000), 512),
  LAKEHEAD_QUEUE_SECONDS: withDefault(
    "Seconds that a call waits for a place at the most; then 503",
    decimal(0.01, 600),
    10,
  ),
  LAKEHEAD_MAX_IN_FLIGHT_PER_PRINCIPAL: withDefault(
    "Calls of one principal that run or wait at once, of all kinds together; more are answered 429",
    integer(1, 100_000),
    256,
  ),

  LAKEHEAD_ISOLATION: withDefault(
    "What runs in worker processes, which can be ended and cannot take the service along: off, analyze (with queries, counts with a predicate, and the lists that read every version), or all (explain_plan too)",
    choice("off", "analyze", "all"),
    "analyze",
  ),
  LAKEHEAD_ANALYZE_DEADLINE_SECONDS: withDefault(
    "Seconds until an isolated call other than explain_plan, or a list of all tables, is ended and answered 503",
    decimal(0.1, 3600),
    30,
  ),
  LAKEHEAD_PLAN_DEADLINE_SECONDS: withDefault(
    "Seconds until an isolated explain_plan is ended and answered 503",
    decimal(0.1, 3600),
    15,
  ),
  LAKEHEAD_PLAN_WORKERS: withDefault(
    "Worker processes among which isolated explain_plan calls are spread",
    integer(1, 256),
    2,
  ),
  LAKEHEAD_WORKER_MEMORY_BYTES: maybe(
    "Memory at which a worker process is ended; absent: its part of three quarters of the memory, at least 512 MiB. Fewer than LAKEHEAD_ANALYZE_CONCURRENCY run where they would not fit",
    integer(256 * mebibyte, maxInt),
  ),

  LAKEHEAD_UNSAFE_GUARD: withDefault(
    "off lets queries through unchecked: one request can then end the process. For tests only",
    choice("on", "off"),
    "on",
  ),
  LAKEHEAD_DOCS: withDefault(
    "on serves a page of the API at /docs, for development (`npm start` has it on); it needs no token and shows no data",
    choice("on", "off"),
    "off",
  ),
  LAKEHEAD_OTLP_ENDPOINT: maybe("Address that OpenTelemetry traces are sent to; absent: none are made", text),
} as const;
