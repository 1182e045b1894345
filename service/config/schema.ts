import { availableParallelism } from "node:os";
import { z } from "zod";
import { ports } from "../contract.ts";
import { auth } from "./auth.ts";
import { maintenanceRules } from "./maintenance-policy.ts";
import { plainDatabase, storageFaults } from "./storage-options.ts";
import { choice, decimal, integer, json, list, text, variable, variablesOf } from "./variable.ts";

const mebibyte = 2 ** 20;
const cpus = availableParallelism();

const port = integer(0, 65_535);
const bytes = integer(256 * mebibyte, Number.MAX_SAFE_INTEGER);

const server = z.object({
  host: variable("LAKEHEAD_HOST", "Address that both ports listen on", text.default("127.0.0.1")),
  port: variable("LAKEHEAD_PORT", "Port of the API; 0 lets the system choose", port.default(ports.api)),
  healthPort: variable(
    "LAKEHEAD_OPERATIONS_PORT",
    "Port of /livez, /readyz and /metrics; 0 lets the system choose",
    port.default(ports.operations),
  ),
  logLevel: variable(
    "LAKEHEAD_LOG_LEVEL",
    "Minimum log level",
    choice("debug", "info", "warn", "error").default("info"),
  ),
  drainSeconds: variable(
    "LAKEHEAD_DRAIN_SECONDS",
    "Time between SIGTERM, which makes the service not ready, and the end of accepting connections, in seconds",
    decimal(0, 60).default(5),
  ),
  shutdownSeconds: variable(
    "LAKEHEAD_SHUTDOWN_SECONDS",
    "Time that requests in flight have to finish after that, in seconds",
    decimal(0, 600).default(30),
  ),
  guard: variable(
    "LAKEHEAD_UNSAFE_GUARD",
    "off disables the verification of queries: one request can then end the process. For tests only",
    choice("on", "off").default("on"),
  ),
  docs: variable(
    "LAKEHEAD_DOCS",
    "on serves an API page at /docs, for development (`npm start` sets it); the page needs no token and shows no data",
    choice("on", "off").default("off"),
  ),
  console: variable(
    "LAKEHEAD_CONSOLE",
    "on serves the console at /console (`npm start` sets it): a page over the API, with the rights of who signs in there",
    choice("on", "off").default("off"),
  ),
  consoleClientId: variable(
    "LAKEHEAD_CONSOLE_CLIENT_ID",
    "Client id of the console at LAKEHEAD_AUTH_ISSUER, for sign-in by the authorization code flow with PKCE; absent: sign-in with a token only",
    text.exactOptional(),
  ),
  consoleScope: variable(
    "LAKEHEAD_CONSOLE_SCOPE",
    "Scopes that the console requests at sign-in, separated by spaces; absent: openid and the scopes of this service",
    text.exactOptional(),
  ),
  otlpEndpoint: variable(
    "LAKEHEAD_OTLP_ENDPOINT",
    "OTLP endpoint for OpenTelemetry traces; absent: no traces",
    text.exactOptional(),
  ),
});

const storageOptions = z
  .record(z.string(), z.string())
  .superRefine((options, context) =>
    storageFaults(options).forEach((message) => void context.addIssue({ code: "custom", message })),
  );

/** With a slash at its end, so that no longer name begins with it. */
const blobPrefix = text.refine(
  (value) =>
    /^(?:(?:s3|gs|az):\/\/[^/]+|file:\/\/\/[^/]+)\/(?:.*\/)?$/.test(value) &&
    !/[%?#\\]|\/\.{0,2}\//.test(value.slice(value.indexOf("://") + 3)),
  { error: "must be an s3://, gs://, az:// or file:/// address of a directory that ends with /, without .., % or ?" },
);

const database = z.object({
  uri: variable(
    "LAKEHEAD_DATABASE",
    "Location of the tables: a directory, s3://bucket/prefix or gs://bucket/prefix",
    text,
  ),
  storageOptions: variable(
    "LAKEHEAD_STORAGE_OPTIONS",
    "Storage options of the SDK as JSON, for instance aws_region, aws_endpoint, allow_http; for s3:// and gs:// they override the service's timeouts and retries",
    json(storageOptions, '{"aws_region": "eu-central-1"}').default({}),
    { secret: true, defaultText: "{}" },
  ),
  showLocations: variable(
    "LAKEHEAD_TABLE_LOCATIONS",
    "Whether describe returns a table's location, for clients that open the table themselves; never with credentials",
    choice("on", "off")
      .transform((value) => value === "on")
      .default(true),
    { defaultText: "on" },
  ),
  stableRowIds: variable(
    "LAKEHEAD_STABLE_ROW_IDS",
    "on gives tables that the service creates stable row ids, which materialized views of them need and which no table gets later",
    choice("on", "off")
      .transform((value) => value === "on")
      .default(false),
    { defaultText: "off" },
  ),
  consistencySeconds: variable(
    "LAKEHEAD_CONSISTENCY_SECONDS",
    "Maximum staleness of table metadata, in seconds; 0 checks the store at every request (tags are always read)",
    decimal(0, 3600).default(1),
  ),
  pinnedSeconds: variable(
    "LAKEHEAD_PINNED_SECONDS",
    "Time that the handle of a version, and a name in a namespace, are cached, in seconds; a table that was dropped and created again, or a name that was reassigned, may serve stale data for that time",
    decimal(1, 86_400).default(60),
  ),
  maxHandles: variable(
    "LAKEHEAD_MAX_HANDLES",
    "Maximum number of open table handles, and of version handles",
    integer(1, 100_000).default(1000),
  ),
  maxHandleBytes: variable(
    "LAKEHEAD_MAX_HANDLE_BYTES",
    "Maximum bytes of the schemas and manifests of all open table handles, about; those used least recently are closed",
    integer(mebibyte, Number.MAX_SAFE_INTEGER).exactOptional(),
    { defaultText: "a sixteenth of the memory" },
  ),
  maxResultBytes: variable(
    "LAKEHEAD_MAX_RESULT_BYTES",
    "Maximum bytes of a response, of every operation; the rows of a query take up to four times as much memory in their worker process and twice as much in the main process",
    integer(1024, 512 * mebibyte).default(32 * mebibyte),
  ),
  blobPrefixes: variable(
    "LAKEHEAD_BLOB_PREFIXES",
    "Prefixes, separated by commas, below which blobs outside of the database are read, for instance s3://photos/public/; a row of a table can name any address, which is read with the identity of the service. Absent: none",
    list(blobPrefix).default([]),
    { defaultText: "" },
  ),
  maxResponseBytes: variable(
    "LAKEHEAD_MAX_RESPONSE_BYTES",
    "Maximum bytes of all responses of more than 64 KiB that are made or sent; one caller has half of them, more of its requests wait",
    integer(1024, Number.MAX_SAFE_INTEGER).exactOptional(),
    { defaultText: "a sixteenth of the memory, at least twice LAKEHEAD_MAX_RESULT_BYTES" },
  ),
  schemas: z.object({
    maxSchemaBytes: variable(
      "LAKEHEAD_MAX_SCHEMA_BYTES",
      "Maximum bytes of a table's schema in Arrow's format, with all metadata; tables with a larger one are neither made nor read by the main process",
      integer(1024, 1024 * mebibyte).default(2 * mebibyte),
    ),
    maxValueBytes: variable(
      "LAKEHEAD_MAX_VALUE_BYTES",
      "Maximum bytes of one value of a column of fixed size (a vector, fixed-size binary), and a quarter of that for all columns together; wider columns are neither made nor planned in the main process",
      integer(1024, 1024 * mebibyte).default(mebibyte),
    ),
  }),
});

const limits = z.object({
  maxBodyBytes: variable(
    "LAKEHEAD_MAX_BODY_BYTES",
    "Maximum bytes of a request body",
    integer(1, 64 * mebibyte).default(mebibyte),
  ),
  maxJsonDepth: variable("LAKEHEAD_MAX_JSON_DEPTH", "Maximum nesting of a request body", integer(1, 1000).default(32)),
  maxParts: variable("LAKEHEAD_MAX_ID_PARTS", "Maximum parts of a table id", integer(1, 100).default(16)),
  maxPartLength: variable(
    "LAKEHEAD_MAX_ID_PART_LENGTH",
    "Maximum characters of one part of a table id",
    integer(1, 255).default(128),
  ),
  maxK: variable(
    "LAKEHEAD_MAX_K",
    "Maximum k with a vector, full_text_query or order_by",
    integer(1, 1_000_000).default(10_000),
  ),
  maxOffset: variable("LAKEHEAD_MAX_OFFSET", "Maximum offset", integer(0, 2 ** 32 - 1).default(1_000_000)),
  maxNprobes: variable(
    "LAKEHEAD_MAX_NPROBES",
    "Maximum nprobes, minimum_nprobes and maximum_nprobes",
    integer(1, 1_000_000).default(4096),
  ),
  maxEf: variable("LAKEHEAD_MAX_EF", "Maximum ef", integer(1, 1_000_000).default(20_000)),
  maxRefineFactor: variable("LAKEHEAD_MAX_REFINE_FACTOR", "Maximum refine_factor", integer(1, 100_000).default(1000)),
  maxCandidates: variable(
    "LAKEHEAD_MAX_CANDIDATES",
    "Maximum (k + offset) × refine_factor × number of vectors",
    integer(1, 100_000_000).default(1_000_000),
  ),
  maxDimensions: variable(
    "LAKEHEAD_MAX_DIMENSIONS",
    "Maximum dimensions of a query vector",
    integer(1, 65_536).default(8192),
  ),
  maxVectors: variable("LAKEHEAD_MAX_VECTORS", "Maximum query vectors of a request", integer(1, 10_000).default(100)),
  maxColumns: variable(
    "LAKEHEAD_MAX_COLUMNS",
    "Maximum columns in columns, order_by or a full-text clause",
    integer(1, 10_000).default(500),
  ),
  maxFullTextDepth: variable(
    "LAKEHEAD_MAX_FULL_TEXT_DEPTH",
    "Maximum nesting of a full-text query",
    integer(1, 64).default(8),
  ),
  maxFullTextClauses: variable(
    "LAKEHEAD_MAX_FULL_TEXT_CLAUSES",
    "Maximum match and phrase clauses of a full-text query",
    integer(1, 1000).default(64),
  ),
  maxFullTextBytes: variable(
    "LAKEHEAD_MAX_FULL_TEXT_BYTES",
    "Maximum bytes of all terms of a full-text query; the time of a search grows with the number of words",
    integer(1, mebibyte).default(1024),
  ),
  maxFullTextExpansions: variable(
    "LAKEHEAD_MAX_FULL_TEXT_EXPANSIONS",
    "Maximum max_expansions, prefix_length and slop",
    integer(1, 100_000).default(1000),
  ),
  maxTagLength: variable("LAKEHEAD_MAX_TAG_LENGTH", "Maximum characters of a tag", integer(1, 200).default(128)),
  expression: z.object({
    maxBytes: variable(
      "LAKEHEAD_MAX_EXPRESSION_BYTES",
      "Maximum bytes of an SQL expression",
      integer(1, 65_536).default(8192),
    ),
    maxOperators: variable(
      "LAKEHEAD_MAX_EXPRESSION_OPERATORS",
      "Maximum operators, casts and calls of an SQL expression; several hundred can overflow the engine's stack",
      integer(1, 256).default(128),
    ),
    maxDepth: variable(
      "LAKEHEAD_MAX_EXPRESSION_DEPTH",
      "Maximum nesting of an SQL expression; planning time grows exponentially with it",
      integer(1, 20).default(16),
    ),
    maxListItems: variable(
      "LAKEHEAD_MAX_EXPRESSION_LIST",
      "Maximum items of one list in an SQL expression",
      integer(1, 10_000).default(1000),
    ),
  }),
});

const admission = z.object({
  analyze: z.object({
    concurrency: variable(
      "LAKEHEAD_ANALYZE_CONCURRENCY",
      "Concurrency limit of calls that execute a query or read without bound: analyze_plan, query, count_rows with a predicate, lists of versions, of branches and of all tables, describe with load_detailed_metadata; one worker process for every four",
      integer(1, 256).default(2 * Math.max(2, cpus)),
      { defaultText: "twice the number of CPUs, at least 4" },
    ),
    queue: variable(
      "LAKEHEAD_ANALYZE_QUEUE",
      "Maximum number of these calls in the queue; principals take turns, and a full queue evicts the newest call of the principal with most calls in it",
      integer(0, 10_000).default(64),
    ),
  }),
  plan: z.object({
    concurrency: variable(
      "LAKEHEAD_PLAN_CONCURRENCY",
      "Concurrency limit of explain_plan; one principal has a sixteenth of it while others are active, because plans use the CPU of the main process; raise it with LAKEHEAD_CONSISTENCY_SECONDS=0, where each call reads from the store",
      integer(1, 1024).default(16 * cpus),
      { defaultText: "16 times the number of CPUs" },
    ),
    queue: variable(
      "LAKEHEAD_PLAN_QUEUE",
      "Maximum number of explain_plan calls in the queue",
      integer(0, 10_000).default(256),
    ),
  }),
  metadata: z.object({
    concurrency: variable(
      "LAKEHEAD_METADATA_CONCURRENCY",
      "Concurrency limit of all other calls (statistics, tags, descriptions, lists)",
      integer(1, 4096).default(64),
    ),
    queue: variable(
      "LAKEHEAD_METADATA_QUEUE",
      "Maximum number of all other calls in the queue",
      integer(0, 10_000).default(512),
    ),
  }),
});

const load = z.object({
  queueSeconds: variable(
    "LAKEHEAD_QUEUE_SECONDS",
    "Maximum time of a call in the queue, in seconds; then 503",
    decimal(0.01, 600).default(10),
  ),
  maxInFlightPerPrincipal: variable(
    "LAKEHEAD_MAX_IN_FLIGHT_PER_PRINCIPAL",
    "Maximum calls of one principal that run or wait, of all kinds together; more are answered with 429",
    integer(1, 100_000).default(256),
  ),
  bodyStallSeconds: variable(
    "LAKEHEAD_BODY_STALL_SECONDS",
    "Time in which 16 KiB for each of its seconds must arrive of a request's body, or its rest, in seconds; then 408, and the connection is closed",
    decimal(0.1, 3600).default(30),
  ),
  memoryBytes: variable(
    "LAKEHEAD_MEMORY_LIMIT_BYTES",
    "Memory that the service may use, in bytes; absent: that of the container or machine",
    bytes.exactOptional(),
  ),
});

const isolation = z.object({
  mode: variable(
    "LAKEHEAD_ISOLATION",
    "Calls that run in worker processes, which can be ended without ending the service: off, analyze (with queries, counts with a predicate, and lists that read every version), or all (also explain_plan)",
    choice("off", "analyze", "all").default("analyze"),
  ),
  analyzeDeadlineSeconds: variable(
    "LAKEHEAD_ANALYZE_DEADLINE_SECONDS",
    "Deadline of an isolated call other than explain_plan, and of a list of all tables, in seconds; then 503",
    decimal(0.1, 3600).default(30),
  ),
  planDeadlineSeconds: variable(
    "LAKEHEAD_PLAN_DEADLINE_SECONDS",
    "Deadline of an isolated explain_plan, in seconds; then 503",
    decimal(0.1, 3600).default(15),
  ),
  planWorkers: variable(
    "LAKEHEAD_PLAN_WORKERS",
    "Number of worker processes for isolated explain_plan calls",
    integer(1, 256).default(2),
  ),
  workerMemoryBytes: variable(
    "LAKEHEAD_WORKER_MEMORY_BYTES",
    "Memory at which a worker process is ended, in bytes; twice as much for one that runs the analyses of two; absent: its share of three quarters of the memory, at least 512 MiB. Fewer workers run where more would not fit",
    bytes.exactOptional(),
  ),
});

const writes = z.object({
  mode: variable(
    "LAKEHEAD_WRITES",
    "on serves the operations that change tables and namespaces; off answers them with 406",
    choice("on", "off").default("off"),
  ),
  maxWriteBytes: variable(
    "LAKEHEAD_MAX_WRITE_BYTES",
    "Maximum bytes of the rows of one write, as sent and when decompressed",
    integer(1024, 1024 * mebibyte).exactOptional(),
    { defaultText: "an eighth of a worker's memory, at most 256 MiB" },
  ),
  maxUploadBytes: variable(
    "LAKEHEAD_MAX_UPLOAD_BYTES",
    "Maximum bytes of the rows of all writes in flight, at least four times LAKEHEAD_MAX_WRITE_BYTES; one principal may hold as many as it leaves free; up to four bodies of at most 4 MiB are in `/dev/shm`, larger ones are files in the directory for temporary files",
    integer(1024, Number.MAX_SAFE_INTEGER).default(1024 * mebibyte),
  ),
  multipart: z.object({
    maxUploads: variable(
      "LAKEHEAD_MAX_UPLOADS",
      "Maximum number of uploads in parts at once, whose parts are in the storage; one principal may have as many as it leaves free",
      integer(1, 10_000).default(32),
    ),
    maxLargeBytes: variable(
      "LAKEHEAD_MAX_LARGE_UPLOAD_BYTES",
      "Maximum bytes of an upload in parts that is larger than LAKEHEAD_MAX_WRITE_BYTES, each of whose parts is not: the runner of Functions commits it, as a job; 0: there is none",
      integer(0, Number.MAX_SAFE_INTEGER).default(0),
    ),
    keptHours: variable(
      "LAKEHEAD_UPLOAD_HOURS",
      "Time after which what is left of an upload in parts is removed, in hours",
      decimal(0.01, 720).default(24),
    ),
  }),
  uploadSeconds: variable(
    "LAKEHEAD_UPLOAD_SECONDS",
    "Maximum time in which a request's body arrives where writes are on, in seconds",
    decimal(1, 86_400).default(600),
  ),
  concurrency: variable(
    "LAKEHEAD_WRITE_CONCURRENCY",
    "Concurrency limit of writes other than small appends, and number of their worker processes, of which two always and more where they have 512 MiB each; one principal occupies as many as it leaves free, and inserts of one that is alone all",
    integer(1, 256).default(3),
  ),
  queue: variable("LAKEHEAD_WRITE_QUEUE", "Maximum number of writes in the queue", integer(0, 10_000).default(64)),
  appendConcurrency: variable(
    "LAKEHEAD_APPEND_CONCURRENCY",
    "Concurrency limit of appends of at most 4 MiB, which share commits; as many more may wait",
    integer(1, 10_000).default(256),
  ),
  deadlineSeconds: variable(
    "LAKEHEAD_WRITE_DEADLINE_SECONDS",
    "Deadline of a write, in seconds; then its worker is ended and its outcome is unknown",
    decimal(0.1, 86_400).default(600),
  ),
});

const vending = z.object({
  mode: variable(
    "LAKEHEAD_VENDING",
    "How the service gets the credentials that it lends for the files of one table: assume-role (S3, with its own credentials), web-identity (S3, with the token of its pod), google (Google Cloud Storage, with the account of its pod), or off. See docs/catalog.md",
    choice("off", "assume-role", "web-identity", "google").default("off"),
  ),
  role: variable(
    "LAKEHEAD_VENDING_ROLE",
    "ARN of the role whose sessions are lent on S3; it needs no more rights than on the prefix of LAKEHEAD_DATABASE",
    text
      .refine((value) => /^arn:[\w-]+:\S+$/.test(value), {
        error: "must be an ARN, for instance arn:aws:iam::123456789012:role/lakehead-vending",
      })
      .exactOptional(),
  ),
  seconds: variable(
    "LAKEHEAD_VENDING_SECONDS",
    "Life of a credential on S3, in seconds; at most the role's maximum, and 3600 with assume-role where the service has a role itself; a right that is withdrawn ends with it",
    integer(900, 43_200).default(3600),
  ),
  region: variable(
    "LAKEHEAD_VENDING_REGION",
    "Region of the bucket on S3, for clients and for STS; absent: aws_region of LAKEHEAD_STORAGE_OPTIONS",
    text.exactOptional(),
  ),
  stsUrl: variable(
    "LAKEHEAD_VENDING_STS",
    "Address of the service that issues credentials; absent: aws_endpoint of LAKEHEAD_STORAGE_OPTIONS, else that of the cloud",
    text
      .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""), {
        error: "must be an http:// or https:// URL",
      })
      .exactOptional(),
  ),
  metadataUrl: variable(
    "LAKEHEAD_VENDING_METADATA",
    "Address of Google's metadata server, which gives the token of the pod's account",
    text.default("http://metadata.google.internal"),
  ),
  kmsKey: variable(
    "LAKEHEAD_VENDING_KMS_KEY",
    "ARN of the key of AWS KMS that encrypts the bucket, which a session must be allowed to use; absent: none",
    text.exactOptional(),
  ),
  tokenFile: variable(
    "LAKEHEAD_VENDING_TOKEN_FILE",
    "File with the token for web-identity, which is read for each session",
    text.default("/var/run/secrets/eks.amazonaws.com/serviceaccount/token"),
  ),
});

const jobs = z.object({
  maxJobs: variable(
    "LAKEHEAD_JOBS_MAX",
    "Maximum number of jobs in progress; one principal may have as many as it leaves free",
    integer(1, 10_000).default(200),
  ),
  seconds: variable(
    "LAKEHEAD_JOBS_SECONDS",
    "Maximum time for which one process runs a job, in seconds; then it ends with TIMED_OUT, and what is committed stays",
    integer(1, 604_800).default(21_600),
  ),
  leaseSeconds: variable(
    "LAKEHEAD_JOBS_LEASE_SECONDS",
    "Time without a sign of life after which the jobs of a process are taken over or fail, in seconds; more than the clocks of two machines differ",
    integer(2, 3600).default(30),
  ),
});

const functions = z.object({
  mode: variable(
    "LAKEHEAD_FUNCTIONS",
    "on serves Functions: Python code that callers with the scope `functions` register, and that Ray runs on columns. Needs LAKEHEAD_WRITES=on. See docs/functions.md",
    choice("on", "off").default("off"),
  ),
  maxVersions: variable(
    "LAKEHEAD_MAX_FUNCTIONS",
    "Maximum number of versions of Functions; one principal may have as many as it leaves free",
    integer(1, 10_000).default(500),
  ),
});

const maintenance = z.object({
  rules: variable(
    "LAKEHEAD_MAINTENANCE",
    "Rules of the maintenance of tables as JSON, for `npm run maintain` and the operation `maintain`; see docs/maintenance.md",
    json(
      maintenanceRules((expected) => `must be ${expected}`),
      '[{"tables": ["prod$**"], "cleanup": {"olderThanHours": 168}}]',
    ).prefault('[{"tables":["**"]}]'),
    { defaultText: '[{"tables":["**"]}]' },
  ),
  tableSeconds: variable(
    "LAKEHEAD_MAINTENANCE_TABLE_SECONDS",
    "Maximum time of the maintenance of one table, in seconds; what is committed by then stays, and the next run continues",
    integer(1, 604_800).default(3600),
  ),
  runSeconds: variable(
    "LAKEHEAD_MAINTENANCE_RUN_SECONDS",
    "Time after which a run begins with no further table, in seconds",
    integer(1, 604_800).default(7200),
  ),
  leaseSeconds: variable(
    "LAKEHEAD_MAINTENANCE_LEASE_SECONDS",
    "Time after which the lease of a table is taken over from a run that no longer renews it, in seconds; more than the clocks of two machines differ",
    integer(2, 3600).default(120),
  ),
  attempts: variable(
    "LAKEHEAD_MAINTENANCE_ATTEMPTS",
    "Attempts at one step that conflicts with writers; then the table is left for the next run",
    integer(1, 100).default(5),
  ),
  ray: z.object({
    address: variable(
      "LAKEHEAD_MAINTENANCE_RAY",
      "Address of the dashboard of a Ray cluster that gets the work on large tables, for instance http://geneva-head-svc:8265; absent: one machine does all work",
      text
        .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""), {
          error: "must be an http:// or https:// URL",
        })
        .exactOptional(),
    ),
    token: variable(
      "LAKEHEAD_MAINTENANCE_RAY_TOKEN",
      "Bearer token of the Ray cluster; absent: it asks for none",
      text.exactOptional(),
      { secret: true },
    ),
    packages: variable(
      "LAKEHEAD_MAINTENANCE_RAY_PACKAGES",
      "Packages that a job installs on the Ray cluster, as pip's requirements separated by commas: lance-ray and pylance; absent: its image has them",
      list(text.min(1, { error: "must not be empty" })).default([]),
      { defaultText: "" },
    ),
    workers: variable(
      "LAKEHEAD_MAINTENANCE_RAY_WORKERS",
      "Maximum number of workers of one job on the Ray cluster, of one CPU each",
      integer(1, 1000).default(8),
    ),
    bytes: variable(
      "LAKEHEAD_MAINTENANCE_RAY_BYTES",
      "Bytes of a table from which the Ray cluster gets the work on it",
      integer(0, Number.MAX_SAFE_INTEGER).default(50_000_000_000),
    ),
  }),
});

interface Holders {
  readonly database: z.output<typeof database>;
  readonly isolation: Pick<z.output<typeof isolation>, "analyzeDeadlineSeconds">;
  readonly writes: Pick<z.output<typeof writes>, "deadlineSeconds">;
  readonly maintenance: z.output<typeof maintenance>;
}

/** No version may be deleted that a query may still read, and no file that a write may still use. */
const checkCleanup = (
  { database, isolation, writes, maintenance }: Holders,
  addIssue: (issue: { code: "custom"; path: PropertyKey[]; message: string }) => void,
): void => {
  const held = Math.max(database.pinnedSeconds + isolation.analyzeDeadlineSeconds, writes.deadlineSeconds);
  for (const [index, { cleanup }] of maintenance.rules.entries())
    if (cleanup.olderThanHours !== undefined && cleanup.olderThanHours * 3600 < held)
      addIssue({
        code: "custom",
        path: ["maintenance", "rules", index, "cleanup", "olderThanHours"],
        message: `must be at least ${held} s, written in hours: a query may read a version for LAKEHEAD_PINNED_SECONDS and LAKEHEAD_ANALYZE_DEADLINE_SECONDS together, and a write may take LAKEHEAD_WRITE_DEADLINE_SECONDS`,
      });
};

type Vending = z.output<typeof vending>;

/** Why credentials could not be lent with this configuration, by the key that names it. */
function* vendingFaults({
  vending: { mode, role, region },
  database: { uri, storageOptions, showLocations },
}: {
  readonly vending: Vending;
  readonly database: z.output<typeof database>;
}): Generator<[keyof Vending, string]> {
  if (mode === "off") return;
  const scheme = mode === "google" ? "gs" : "s3";
  if (!uri.startsWith(`${scheme}://`) || !plainDatabase.test(uri))
    yield ["mode", `requires a LAKEHEAD_DATABASE of ${scheme}://bucket/prefix with letters, digits and _.=+@- alone`];
  if (!showLocations)
    yield ["mode", "requires LAKEHEAD_TABLE_LOCATIONS=on: a client opens what it gets credentials for"];
  if (mode === "google") return;
  if (role === undefined) yield ["role", "must be set with LAKEHEAD_VENDING: sessions of this role are lent"];
  const names = Object.keys(storageOptions);
  if (region === undefined && !names.some((name) => /^(aws_)?(region|endpoint(_url)?)$/i.test(name)))
    yield ["region", "must be set with LAKEHEAD_VENDING: clients cannot find it without rights on the bucket"];
}

/** The environment of the service: names, descriptions, defaults, bounds and secrets of its variables. */
export const schema = z
  .object({ server, database, auth, limits, admission, load, isolation, writes, vending, jobs, functions, maintenance })
  .superRefine(({ server, auth, ...values }, context) => {
    if (values.writes.mode === "on") checkCleanup(values, (issue) => context.addIssue(issue));
    if (values.functions.mode === "on" && values.writes.mode === "off")
      context.addIssue({ code: "custom", path: ["functions", "mode"], message: "needs LAKEHEAD_WRITES=on" });
    for (const [key, message] of vendingFaults(values))
      context.addIssue({ code: "custom", path: ["vending", key], message });
    if (server.consoleClientId !== undefined && auth.issuer === undefined)
      context.addIssue({
        code: "custom",
        path: ["server", "consoleClientId"],
        message: "requires LAKEHEAD_AUTH_ISSUER: set it, or remove the client id to sign in with a token",
      });
  });

/** The part of the environment that a run of the maintenance reads. */
export const maintenanceSchema = z
  .object({
    server: server.pick({ logLevel: true }),
    database,
    load: load.pick({ memoryBytes: true }),
    isolation: isolation.pick({ analyzeDeadlineSeconds: true }),
    writes: writes.pick({ deadlineSeconds: true }),
    maintenance,
  })
  .superRefine((values, context) => checkCleanup(values, (issue) => context.addIssue(issue)));

/** Every environment variable of the service. */
export const variables = variablesOf(schema);
