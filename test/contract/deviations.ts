import type { Kind, Part } from "./compare.ts";

/**
 * Differences between the service's document and the specification, with their reasons. An unlisted difference fails the
 * run, and so does an entry without a difference.
 */
export interface Deviation {
  /** Paths after `/v1/table/{id}/`, or after `/v1/`; `every` if all operations with the field share the difference. */
  readonly operations: readonly string[] | "every";
  readonly part: Part;
  readonly kind: Kind;
  readonly fields: readonly string[];
  readonly reason: string;
}

const differing =
  (kind: Kind) =>
  (part: Part, operations: Deviation["operations"], fields: readonly string[], reason: string): Deviation => ({
    operations,
    part,
    kind,
    fields,
    reason,
  });
const absent = differing("absent");
const added = differing("added");
const optional = differing("optional");
const required = differing("required");
const typed = differing("type");

const post = ["POST"];
const searches = ["explain_plan", "analyze_plan", "query"];
const bodiless = ["tags/list", "branches/list", "version/list"];

const unserved: readonly Deviation[] = [
  absent("operation", ["rename"], post, "the database cannot rename a table of a directory or bucket: 406 with code 0"),
  absent(
    "operation",
    ["register", "deregister", "schema_metadata/update"],
    post,
    "the database's SDK has no call for it: 406 with code 0",
  ),
  absent(
    "operation",
    ["version/create", "version/delete", "table/batch-commit", "table/version/batch-create"],
    post,
    "the database's SDK commits versions itself, and removes them only when it compacts: 406 with code 0",
  ),
  absent(
    "operation",
    ["transaction/{id}/describe", "transaction/{id}/alter"],
    post,
    "the database's SDK knows no transactions by an id: 406 with code 0",
  ),
];

const rowWrites = ["insert", "merge_insert"];
const bodilessWrites = ["drop", "index/{index_name}/drop"];
const indexBuilds = ["create_index", "create_scalar_index"];
const commits = [
  ...["insert", "merge_insert", "update", "delete", "restore", "add_columns", "alter_columns", "drop_columns"],
  ...["update_field_metadata", "create_index", "create_scalar_index", "index/{index_name}/drop"],
];

const writes: readonly Deviation[] = [
  added(
    "status",
    [...commits, "branches/delete"],
    ["409"],
    "several callers may change a table at once: code 14; a state that forbids it: code 19",
  ),
  added(
    "status",
    [
      ...commits,
      ...[
        "create",
        "declare",
        "drop",
        "branches/create",
        "branches/delete",
        "namespace/{id}/create",
        "namespace/{id}/drop",
      ],
    ],
    ["424"],
    "the outcome of a write whose store or worker failed during the commit is unknown; no client repeats it by itself",
  ),
  absent(
    "answer",
    [
      ...["create", "declare", "insert", "merge_insert", "update", "delete", "drop", "drop_columns"],
      ...["namespace/{id}/create", "namespace/{id}/drop"],
    ],
    ["transaction_id"],
    "the database's SDK knows no transactions by an id",
  ),
  typed(
    "request",
    ["create", ...rowWrites],
    [" (array or bytes or string there, bytes here)"],
    "rows are one Arrow IPC stream",
  ),
  absent(
    "parameter",
    ["create"],
    ["properties", "storage_options"],
    "the catalog keeps no properties of tables, and the options of the store are the service's own",
  ),
  absent(
    "answer",
    ["create"],
    ["storage_options", "properties"],
    "the service has written the rows: `describe` lends credentials",
  ),
  required("answer", ["create", "insert", "merge_insert", "delete"], ["version"], "always sent"),
  required("answer", ["insert"], ["num_inserted_rows"], "always sent"),
  required("answer", ["merge_insert"], ["num_updated_rows", "num_inserted_rows", "num_deleted_rows"], "always sent"),
  added("answer", ["merge_insert"], ["num_attempts"], "LanceDB's clients read it"),
  typed(
    "parameter",
    ["merge_insert"],
    ["timeout (string there, any here)"],
    "LanceDB's clients send milliseconds in a header, others text with a unit",
  ),
  added("parameter", ["merge_insert"], ["use_lsm"], "LanceDB's clients send it"),
  added("parameter", ["add_columns"], ["branch"], "an Arrow schema in the body has no place for it"),
  added(
    "request type",
    ["add_columns"],
    ["application/vnd.apache.arrow.stream"],
    "LanceDB's clients send columns without an expression as an Arrow schema",
  ),
  added(
    "operation",
    ["get_lsm_write_spec"],
    post,
    "LanceDB's clients ask it before they load data; the answer is that there is none",
  ),
  added("answer", ["update"], ["rows_updated"], "LanceDB's clients read the number under this name"),
  added("answer", ["delete"], ["num_deleted_rows"], "LanceDB's clients read it"),
  absent("request", ["update"], ["properties"], "the catalog keeps no properties of tables"),
  absent("answer", ["update", "drop"], ["properties"], "the catalog keeps no properties of tables"),
  absent("answer", ["drop"], ["location"], "the table is gone"),
  required("answer", ["drop"], ["id"], "always sent"),
  added(
    "request",
    bodilessWrites,
    ["", "id", "identity", "context"],
    "a body, or `null`, is accepted: one client family sends it",
  ),
  added(
    "request type",
    bodilessWrites,
    ["application/json"],
    "a body, or `null`, is accepted: one client family sends it",
  ),
  required("answer", ["namespace/{id}/create"], ["properties"], "always sent"),
  absent("answer", ["namespace/{id}/drop"], ["properties"], "the namespace is gone"),
  absent(
    "request",
    ["add_columns"],
    ["new_columns[].virtual_column"],
    "columns are computed by SQL expressions; functions run in Geneva on Ray",
  ),
  absent(
    "request",
    ["alter_columns"],
    ["alterations[].virtual_column"],
    "columns are computed by SQL expressions; functions run in Geneva on Ray",
  ),
  absent("request", indexBuilds, ["target_partition_size"], "the database's SDK does not take it"),
  added(
    "request",
    indexBuilds,
    [
      ...["metric_type", "min_ngram_length", "max_ngram_length", "prefix_only", "replace"],
      ...["custom_stop_words", "block_size", "lance_tokenizer", "index_operators"],
      ...["preserve_original", "split_identifiers", "split_on_numerics"],
    ],
    "LanceDB's clients send them",
  ),
  absent("answer", ["update_field_metadata"], ["fields"], "`describe` gives the fields"),
];

const shared: readonly Deviation[] = [
  absent(
    "request",
    "every",
    ["context.*"],
    "the entries of `context` may have values of any type, not strings alone; they go to the log",
  ),
  absent("answer", "every", ["context"], "clients fill it from the response headers by themselves"),
  absent("error", "every", ["context"], "clients fill it from the response headers by themselves"),
  required("error", "every", ["error", "instance"], "every error has its sentence and the id of its request"),
  added(
    "status",
    "every",
    ["405", "406", "408", "413", "415", "429", "431"],
    "every operation documents the statuses of its transport and of its Lance codes",
  ),
  added(
    "status",
    ["describe", "tags/list", "tags/update", "tags/version"],
    ["409"],
    "several callers may change a tag at once: code 14",
  ),
  absent(
    "status",
    ["namespace/{id}/list", "namespace/{id}/table/list"],
    ["406"],
    "the service implements the operation and never returns 406 for it",
  ),
  added(
    "operation",
    ["stats", "count_rows", "tags/list", "branches/list", "index/{index_name}/stats"],
    ["GET"],
    "one client family asks by GET",
  ),
];

const queries: readonly Deviation[] = [
  typed(
    "request",
    searches,
    ["vector (object there, array or object here)", "columns (object there, array or object here)"],
    "LanceDB's clients send arrays and maps, the specification's send envelopes: both are read",
  ),
  added(
    "request",
    searches,
    ["vector[]", "columns[]", "columns.*", "full_text_query.query", "full_text_query.columns"],
    "the forms of LanceDB's clients",
  ),
  added(
    "request",
    searches,
    ["query", "columns", "boost", "operator"].map(
      (field) => `full_text_query.structured_query.query.multi_match.${field}`,
    ),
    "the form of LanceDB's clients for one text over several columns",
  ),
  optional(
    "request",
    searches,
    ["multi_match.match_queries", "boolean.must", "boolean.must_not", "boolean.should"].map(
      (field) => `full_text_query.structured_query.query.${field}`,
    ),
    "an absent list is an empty one, and `multi_match` has the other form too",
  ),
  optional("request", searches, ["vector"], "a query by filter or full text has none"),
  added("request", searches, ["order_by", "use_lsm"], "LanceDB's clients send them"),
];

const lists: readonly Deviation[] = [
  added(
    "answer type",
    ["explain_plan", "analyze_plan"],
    ["application/vnd.lakehead.plan+json"],
    "the plan as data, with findings, for a request whose `Accept` names this type",
  ),
  added("parameter", ["analyze_plan"], ["distributed_metrics"], "LanceDB's clients send it"),
  added(
    "answer",
    ["version/list"],
    ["versions[].timestamp"],
    "LanceDB's clients up to Python 0.36, Node 0.21 and Rust 0.4.5 require it",
  ),
  added("answer", ["version/describe"], ["version.timestamp"], "as in `version/list`"),
  added(
    "request",
    bodiless,
    ["", "id", "identity", "context"],
    "a body, or `null`, is accepted: one client family sends it",
  ),
  added("request type", bodiless, ["application/json"], "a body, or `null`, is accepted: one client family sends it"),
  optional(
    "answer",
    ["tags/list"],
    ["tags"],
    "asked with a slash at the end, as LanceDB's clients do, the answer is the bare map that they read",
  ),
  added(
    "answer",
    ["tags/list"],
    ["*"],
    "asked with a slash at the end, as LanceDB's clients do, the answer is the bare map that they read",
  ),
  added("parameter", ["index/list"], ["page_token", "limit"], "pages as in the other lists"),
  added("request", ["exists", "version/list"], ["branch"], "as in the other operations on a table"),
];

const extensions: readonly Deviation[] = [
  added(
    "operation",
    ["multipart_write/create", "multipart_write/complete", "multipart_write/abort"],
    post,
    "an extension of LanceDB's clients: the specification has no writes in parts",
  ),
  added(
    "parameter",
    ["insert"],
    ["upload_id", "upload_part_id"],
    "the rows are a part of a write that LanceDB's clients send in parts",
  ),
  added("status", ["insert"], ["202"], "the part is kept, and nothing is committed yet"),
  added("operation", ["fetch_blobs"], ["POST"], "an extension of LanceDB's clients: the specification has no blobs"),
  added(
    "operation",
    ["blob/{column}/{row_id}/bytes"],
    ["GET"],
    "an extension of LanceDB's clients: the specification has no blobs",
  ),
  added("request", ["add_columns"], ["auto_refresh_enabled"], "LanceDB's clients send it, false; true is refused"),
  added(
    "request",
    ["add_columns"],
    ["function", "new_columns[].all_null"],
    "LanceDB's clients bind columns to a Function so",
  ),
  absent(
    "request",
    ["backfill_column"],
    [
      ...["where", "concurrency", "intra_applier_concurrency", "min_checkpoint_size", "max_checkpoint_size"],
      ...["batch_checkpoint_flush_interval_seconds", "read_version", "task_size", "num_frags", "checkpoint_size"],
      ...["commit_granularity", "cluster", "manifest"],
    ],
    "a refresh is one commit of all rows that need it, in a process of the service: refused by name, but for null",
  ),
  added("status", ["backfill_column"], ["424"], "an operation that needs the scope `write`"),
  added(
    "operation",
    ["jobs/describe", "jobs/list", "jobs/cancel", "jobs/pause", "jobs/resume", "jobs/query_events"],
    post,
    "LanceDB's clients call them: the specification has no jobs",
  ),
  added(
    "operation",
    [
      ...["function/{id}/create", "function/{id}/describe", "function/{id}/drop"],
      ...["functions/create", "functions/describe"],
    ],
    post,
    "LanceDB's clients call them: the specification has no Functions",
  ),
  typed(
    "request",
    ["materialized_view/{id}/create"],
    [
      ...["kind", "source_query", "output_schema"].map((name) => `${name} (string there, any here)`),
      ...["udtf_spec (object there, any here)", "auto_refresh (boolean there, any here)"],
    ],
    "Geneva's form, which is refused by name",
  ),
  optional(
    "request",
    ["materialized_view/{id}/create"],
    ["kind", "source_query", "output_schema"],
    "Geneva's form, which is refused by name",
  ),
  absent(
    "request",
    ["materialized_view/{id}/create"],
    [
      ...["kind", "udtf", "udtf_sha", "udtf_name", "udtf_version", "input_columns", "partition_by"].map(
        (name) => `udtf_spec.${name}`,
      ),
      ...["partition_by_indexed_column", "num_cpus", "num_gpus", "memory", "error_handling"].map(
        (name) => `udtf_spec.${name}`,
      ),
      ...["batch", "manifest", "manifest_checksum"].map((name) => `udtf_spec.${name}`),
    ],
    "Geneva's form, which is refused by name",
  ),
  added("request", ["materialized_view/{id}/create"], ["query"], "the form of LanceDB's clients"),
  absent("status", ["materialized_view/{id}/create"], ["201"], "LanceDB's clients expect 202, or 200 without data"),
  added(
    "status",
    ["materialized_view/{id}/create"],
    ["200", "202", "424"],
    "LanceDB's clients expect 202, or 200 without data; 424 as for every write",
  ),
  absent(
    "request",
    ["materialized_view/{id}/refresh"],
    [
      ...["max_rows_per_fragment", "concurrency", "intra_applier_concurrency", "source_task_size", "cluster"],
      ...["output_limit", "manifest"],
    ],
    "a view is refreshed by one worker process",
  ),
  added(
    "request",
    ["materialized_view/{id}/refresh"],
    ["full", "source_version", "expected_incarnation"],
    "the form of LanceDB's clients",
  ),
  added(
    "status",
    ["materialized_view/{id}/refresh"],
    ["409", "424"],
    "the view may have been replaced; 424 as for every write",
  ),
  added(
    "operation",
    ["materialized_view/{id}/describe", "materialized_view/{id}/drop"],
    post,
    "LanceDB's clients call them",
  ),
  added("operation", ["namespace/{id}/materialized_view/list"], ["GET"], "LanceDB's clients call it"),
  added("operation", ["errors"], post, "LanceDB's clients call it: the specification has no Functions"),
  added(
    "operation",
    ["namespace/{id}/function/list"],
    ["GET"],
    "LanceDB's clients call it: the specification has no Functions",
  ),
  added(
    "operation",
    ["maintain"],
    post,
    "an extension: the specification has no operation that compacts a table or extends its indices",
  ),
  added("operation", ["maintenance"], ["GET"], "an extension: what is due for the permitted tables, for the console"),
];

const answers: readonly Deviation[] = [
  required("answer", ["declare"], ["location"], "always sent"),
  absent(
    "answer",
    ["declare", "describe"],
    ["properties", "managed_versioning"],
    "the catalog keeps no properties of tables, and versions are the tables' own",
  ),
  required("answer", ["describe"], ["table", "namespace"], "always sent"),
  required("answer", ["namespace/{id}/describe"], ["properties"], "always sent"),
  required(
    "answer",
    ["index/{index_name}/stats"],
    ["index_type", "num_indexed_rows", "num_unindexed_rows"],
    "always sent",
  ),
  absent("answer", ["branches/list"], ["branches.*.metadata"], "the database's SDK does not tell"),
  absent(
    "answer",
    ["version/list"],
    ["versions[].manifest_size", "versions[].e_tag"],
    "the database's SDK does not tell",
  ),
  absent(
    "answer",
    ["version/describe"],
    ["version.manifest_size", "version.e_tag"],
    "the database's SDK does not tell",
  ),
  required("answer", ["version/list"], ["versions[].timestamp_millis", "versions[].metadata"], "always sent"),
  required("answer", ["version/describe"], ["version.timestamp_millis", "version.metadata"], "always sent"),
];

export const deviations: readonly Deviation[] = [
  ...unserved,
  ...writes,
  ...shared,
  ...queries,
  ...lists,
  ...extensions,
  ...answers,
];
