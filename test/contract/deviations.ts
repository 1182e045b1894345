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

const post = ["POST"];
const searches = ["explain_plan", "analyze_plan", "query"];
const bodiless = ["tags/list", "branches/list", "version/list"];

const unserved: readonly Deviation[] = [
  {
    operations: ["rename"],
    part: "operation",
    kind: "absent",
    fields: post,
    reason: "the database cannot rename a table of a directory or bucket: 406 with code 0",
  },
  {
    operations: ["register", "deregister", "schema_metadata/update"],
    part: "operation",
    kind: "absent",
    fields: post,
    reason: "the database's SDK has no call for it: 406 with code 0",
  },
  {
    operations: ["version/create", "version/delete", "table/batch-commit", "table/version/batch-create"],
    part: "operation",
    kind: "absent",
    fields: post,
    reason: "the database's SDK commits versions itself, and removes them only when it compacts: 406 with code 0",
  },
  {
    operations: ["transaction/{id}/describe", "transaction/{id}/alter"],
    part: "operation",
    kind: "absent",
    fields: post,
    reason: "the database's SDK knows no transactions by an id: 406 with code 0",
  },
];

const rowWrites = ["insert", "merge_insert"];
const bodilessWrites = ["drop", "index/{index_name}/drop"];
const indexBuilds = ["create_index", "create_scalar_index"];
const commits = [
  ...["insert", "merge_insert", "update", "delete", "restore", "add_columns", "alter_columns", "drop_columns"],
  ...["update_field_metadata", "create_index", "create_scalar_index", "index/{index_name}/drop"],
];

const writes: readonly Deviation[] = [
  {
    operations: [...commits, "branches/delete"],
    part: "status",
    kind: "added",
    fields: ["409"],
    reason: "several callers may change a table at once: code 14; a state that forbids it: code 19",
  },
  {
    operations: [
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
    part: "status",
    kind: "added",
    fields: ["424"],
    reason:
      "the outcome of a write whose store or worker failed during the commit is unknown; no client repeats it by itself",
  },
  {
    operations: [
      ...["create", "declare", "insert", "merge_insert", "update", "delete", "drop", "drop_columns"],
      ...["namespace/{id}/create", "namespace/{id}/drop"],
    ],
    part: "answer",
    kind: "absent",
    fields: ["transaction_id"],
    reason: "the database's SDK knows no transactions by an id",
  },
  {
    operations: ["create", ...rowWrites],
    part: "request",
    kind: "type",
    fields: [" (array or bytes or string there, bytes here)"],
    reason: "rows are one Arrow IPC stream",
  },
  {
    operations: ["create"],
    part: "parameter",
    kind: "absent",
    fields: ["properties", "storage_options"],
    reason: "the catalog keeps no properties of tables, and the options of the store are the service's own",
  },
  {
    operations: ["create"],
    part: "answer",
    kind: "absent",
    fields: ["storage_options", "properties"],
    reason: "the service has written the rows: `describe` lends credentials",
  },
  {
    operations: ["create", "insert", "merge_insert", "delete"],
    part: "answer",
    kind: "required",
    fields: ["version"],
    reason: "always sent",
  },
  {
    operations: ["insert"],
    part: "answer",
    kind: "required",
    fields: ["num_inserted_rows"],
    reason: "always sent",
  },
  {
    operations: ["merge_insert"],
    part: "answer",
    kind: "required",
    fields: ["num_updated_rows", "num_inserted_rows", "num_deleted_rows"],
    reason: "always sent",
  },
  {
    operations: ["merge_insert"],
    part: "answer",
    kind: "added",
    fields: ["num_attempts"],
    reason: "LanceDB's clients read it",
  },
  {
    operations: ["merge_insert"],
    part: "parameter",
    kind: "type",
    fields: ["timeout (string there, any here)"],
    reason: "LanceDB's clients send milliseconds in a header, others text with a unit",
  },
  {
    operations: ["merge_insert"],
    part: "parameter",
    kind: "added",
    fields: ["use_lsm"],
    reason: "LanceDB's clients send it",
  },
  {
    operations: ["add_columns"],
    part: "parameter",
    kind: "added",
    fields: ["branch"],
    reason: "an Arrow schema in the body has no place for it",
  },
  {
    operations: ["add_columns"],
    part: "request type",
    kind: "added",
    fields: ["application/vnd.apache.arrow.stream"],
    reason: "LanceDB's clients send columns without an expression as an Arrow schema",
  },
  {
    operations: ["get_lsm_write_spec"],
    part: "operation",
    kind: "added",
    fields: post,
    reason: "LanceDB's clients ask it before they load data; the answer is that there is none",
  },
  {
    operations: ["update"],
    part: "answer",
    kind: "added",
    fields: ["rows_updated"],
    reason: "LanceDB's clients read the number under this name",
  },
  {
    operations: ["delete"],
    part: "answer",
    kind: "added",
    fields: ["num_deleted_rows"],
    reason: "LanceDB's clients read it",
  },
  {
    operations: ["update"],
    part: "request",
    kind: "absent",
    fields: ["properties"],
    reason: "the catalog keeps no properties of tables",
  },
  {
    operations: ["update", "drop"],
    part: "answer",
    kind: "absent",
    fields: ["properties"],
    reason: "the catalog keeps no properties of tables",
  },
  {
    operations: ["drop"],
    part: "answer",
    kind: "absent",
    fields: ["location"],
    reason: "the table is gone",
  },
  {
    operations: ["drop"],
    part: "answer",
    kind: "required",
    fields: ["id"],
    reason: "always sent",
  },
  {
    operations: bodilessWrites,
    part: "request",
    kind: "added",
    fields: ["", "id", "identity", "context"],
    reason: "a body, or `null`, is accepted: one client family sends it",
  },
  {
    operations: bodilessWrites,
    part: "request type",
    kind: "added",
    fields: ["application/json"],
    reason: "a body, or `null`, is accepted: one client family sends it",
  },
  {
    operations: ["namespace/{id}/create"],
    part: "answer",
    kind: "required",
    fields: ["properties"],
    reason: "always sent",
  },
  {
    operations: ["namespace/{id}/drop"],
    part: "answer",
    kind: "absent",
    fields: ["properties"],
    reason: "the namespace is gone",
  },
  {
    operations: ["add_columns"],
    part: "request",
    kind: "absent",
    fields: ["new_columns[].virtual_column"],
    reason: "columns are computed by SQL expressions; functions run in Geneva on Ray",
  },
  {
    operations: ["alter_columns"],
    part: "request",
    kind: "absent",
    fields: ["alterations[].virtual_column"],
    reason: "columns are computed by SQL expressions; functions run in Geneva on Ray",
  },
  {
    operations: indexBuilds,
    part: "request",
    kind: "absent",
    fields: ["target_partition_size"],
    reason: "the database's SDK does not take it",
  },
  {
    operations: indexBuilds,
    part: "request",
    kind: "added",
    fields: [
      ...["metric_type", "min_ngram_length", "max_ngram_length", "prefix_only", "replace"],
      ...["custom_stop_words", "block_size", "lance_tokenizer", "index_operators"],
      ...["preserve_original", "split_identifiers", "split_on_numerics"],
    ],
    reason: "LanceDB's clients send them",
  },
  {
    operations: ["update_field_metadata"],
    part: "answer",
    kind: "absent",
    fields: ["fields"],
    reason: "`describe` gives the fields",
  },
];

const shared: readonly Deviation[] = [
  {
    operations: "every",
    part: "request",
    kind: "absent",
    fields: ["context.*"],
    reason: "the entries of `context` may have values of any type, not strings alone; they go to the log",
  },
  {
    operations: "every",
    part: "answer",
    kind: "absent",
    fields: ["context"],
    reason: "clients fill it from the response headers by themselves",
  },
  {
    operations: "every",
    part: "error",
    kind: "absent",
    fields: ["context"],
    reason: "clients fill it from the response headers by themselves",
  },
  {
    operations: "every",
    part: "error",
    kind: "required",
    fields: ["error", "instance"],
    reason: "every error has its sentence and the id of its request",
  },
  {
    operations: "every",
    part: "status",
    kind: "added",
    fields: ["405", "406", "408", "413", "415", "429", "431"],
    reason: "every operation documents the statuses of its transport and of its Lance codes",
  },
  {
    operations: ["describe", "tags/list", "tags/update", "tags/version"],
    part: "status",
    kind: "added",
    fields: ["409"],
    reason: "several callers may change a tag at once: code 14",
  },
  {
    operations: ["namespace/{id}/list", "namespace/{id}/table/list"],
    part: "status",
    kind: "absent",
    fields: ["406"],
    reason: "the service implements the operation and never returns 406 for it",
  },
  {
    operations: ["stats", "count_rows", "tags/list", "branches/list", "index/{index_name}/stats"],
    part: "operation",
    kind: "added",
    fields: ["GET"],
    reason: "one client family asks by GET",
  },
];

const queries: readonly Deviation[] = [
  {
    operations: searches,
    part: "request",
    kind: "type",
    fields: ["vector (object there, array or object here)", "columns (object there, array or object here)"],
    reason: "LanceDB's clients send arrays and maps, the specification's send envelopes: both are read",
  },
  {
    operations: searches,
    part: "request",
    kind: "added",
    fields: ["vector[]", "columns[]", "columns.*", "full_text_query.query", "full_text_query.columns"],
    reason: "the forms of LanceDB's clients",
  },
  {
    operations: searches,
    part: "request",
    kind: "added",
    fields: ["query", "columns", "boost", "operator"].map(
      (field) => `full_text_query.structured_query.query.multi_match.${field}`,
    ),
    reason: "the form of LanceDB's clients for one text over several columns",
  },
  {
    operations: searches,
    part: "request",
    kind: "optional",
    fields: ["multi_match.match_queries", "boolean.must", "boolean.must_not", "boolean.should"].map(
      (field) => `full_text_query.structured_query.query.${field}`,
    ),
    reason: "an absent list is an empty one, and `multi_match` has the other form too",
  },
  {
    operations: searches,
    part: "request",
    kind: "optional",
    fields: ["vector"],
    reason: "a query by filter or full text has none",
  },
  {
    operations: searches,
    part: "request",
    kind: "added",
    fields: ["order_by", "use_lsm"],
    reason: "LanceDB's clients send them",
  },
];

const lists: readonly Deviation[] = [
  {
    operations: ["explain_plan", "analyze_plan"],
    part: "answer type",
    kind: "added",
    fields: ["application/vnd.lakehead.plan+json"],
    reason: "the plan as data, with findings, for a request whose `Accept` names this type",
  },
  {
    operations: ["analyze_plan"],
    part: "parameter",
    kind: "added",
    fields: ["distributed_metrics"],
    reason: "LanceDB's clients send it",
  },
  {
    operations: ["version/list"],
    part: "answer",
    kind: "added",
    fields: ["versions[].timestamp"],
    reason: "LanceDB's clients up to Python 0.36, Node 0.21 and Rust 0.4.5 require it",
  },
  {
    operations: ["version/describe"],
    part: "answer",
    kind: "added",
    fields: ["version.timestamp"],
    reason: "as in `version/list`",
  },
  {
    operations: bodiless,
    part: "request",
    kind: "added",
    fields: ["", "id", "identity", "context"],
    reason: "a body, or `null`, is accepted: one client family sends it",
  },
  {
    operations: bodiless,
    part: "request type",
    kind: "added",
    fields: ["application/json"],
    reason: "a body, or `null`, is accepted: one client family sends it",
  },
  {
    operations: ["tags/list"],
    part: "answer",
    kind: "optional",
    fields: ["tags"],
    reason: "asked with a slash at the end, as LanceDB's clients do, the answer is the bare map that they read",
  },
  {
    operations: ["tags/list"],
    part: "answer",
    kind: "added",
    fields: ["*"],
    reason: "asked with a slash at the end, as LanceDB's clients do, the answer is the bare map that they read",
  },
  {
    operations: ["index/list"],
    part: "parameter",
    kind: "added",
    fields: ["page_token", "limit"],
    reason: "pages as in the other lists",
  },
  {
    operations: ["exists", "version/list"],
    part: "request",
    kind: "added",
    fields: ["branch"],
    reason: "as in the other operations on a table",
  },
];

const extensions: readonly Deviation[] = [
  {
    operations: ["multipart_write/create", "multipart_write/complete", "multipart_write/abort"],
    part: "operation",
    kind: "added",
    fields: post,
    reason: "an extension of LanceDB's clients: the specification has no writes in parts",
  },
  {
    operations: ["insert"],
    part: "parameter",
    kind: "added",
    fields: ["upload_id", "upload_part_id"],
    reason: "the rows are a part of a write that LanceDB's clients send in parts",
  },
  {
    operations: ["insert"],
    part: "status",
    kind: "added",
    fields: ["202"],
    reason: "the part is kept, and nothing is committed yet",
  },
  {
    operations: ["fetch_blobs"],
    part: "operation",
    kind: "added",
    fields: ["POST"],
    reason: "an extension of LanceDB's clients: the specification has no blobs",
  },
  {
    operations: ["blob/{column}/{row_id}/bytes"],
    part: "operation",
    kind: "added",
    fields: ["GET"],
    reason: "an extension of LanceDB's clients: the specification has no blobs",
  },
  {
    operations: ["add_columns"],
    part: "request",
    kind: "added",
    fields: ["auto_refresh_enabled"],
    reason: "LanceDB's clients send it, false; true is refused",
  },
  {
    operations: ["add_columns"],
    part: "request",
    kind: "added",
    fields: ["function", "new_columns[].all_null"],
    reason: "LanceDB's clients bind columns to a Function so",
  },
  {
    operations: ["backfill_column"],
    part: "request",
    kind: "absent",
    fields: [
      ...["where", "concurrency", "intra_applier_concurrency", "min_checkpoint_size", "max_checkpoint_size"],
      ...["batch_checkpoint_flush_interval_seconds", "read_version", "task_size", "num_frags", "checkpoint_size"],
      ...["commit_granularity", "cluster", "manifest"],
    ],
    reason:
      "a refresh is one commit of all rows that need it, in a process of the service: refused by name, but for null",
  },
  {
    operations: ["backfill_column"],
    part: "status",
    kind: "added",
    fields: ["424"],
    reason: "an operation that needs the scope `write`",
  },
  {
    operations: ["jobs/describe", "jobs/list", "jobs/cancel", "jobs/pause", "jobs/resume", "jobs/query_events"],
    part: "operation",
    kind: "added",
    fields: post,
    reason: "LanceDB's clients call them: the specification has no jobs",
  },
  {
    operations: [
      ...["function/{id}/create", "function/{id}/describe", "function/{id}/drop"],
      ...["functions/create", "functions/describe"],
    ],
    part: "operation",
    kind: "added",
    fields: post,
    reason: "LanceDB's clients call them: the specification has no Functions",
  },
  {
    operations: ["materialized_view/{id}/create"],
    part: "request",
    kind: "type",
    fields: [
      ...["kind", "source_query", "output_schema"].map((name) => `${name} (string there, any here)`),
      ...["udtf_spec (object there, any here)", "auto_refresh (boolean there, any here)"],
    ],
    reason: "Geneva's form, which is refused by name",
  },
  {
    operations: ["materialized_view/{id}/create"],
    part: "request",
    kind: "optional",
    fields: ["kind", "source_query", "output_schema"],
    reason: "Geneva's form, which is refused by name",
  },
  {
    operations: ["materialized_view/{id}/create"],
    part: "request",
    kind: "absent",
    fields: [
      ...["kind", "udtf", "udtf_sha", "udtf_name", "udtf_version", "input_columns", "partition_by"].map(
        (name) => `udtf_spec.${name}`,
      ),
      ...["partition_by_indexed_column", "num_cpus", "num_gpus", "memory", "error_handling"].map(
        (name) => `udtf_spec.${name}`,
      ),
      ...["batch", "manifest", "manifest_checksum"].map((name) => `udtf_spec.${name}`),
    ],
    reason: "Geneva's form, which is refused by name",
  },
  {
    operations: ["materialized_view/{id}/create"],
    part: "request",
    kind: "added",
    fields: ["query"],
    reason: "the form of LanceDB's clients",
  },
  {
    operations: ["materialized_view/{id}/create"],
    part: "status",
    kind: "absent",
    fields: ["201"],
    reason: "LanceDB's clients expect 202, or 200 without data",
  },
  {
    operations: ["materialized_view/{id}/create"],
    part: "status",
    kind: "added",
    fields: ["200", "202", "424"],
    reason: "LanceDB's clients expect 202, or 200 without data; 424 as for every write",
  },
  {
    operations: ["materialized_view/{id}/refresh"],
    part: "request",
    kind: "absent",
    fields: [
      ...["max_rows_per_fragment", "concurrency", "intra_applier_concurrency", "source_task_size", "cluster"],
      ...["output_limit", "manifest"],
    ],
    reason: "a view is refreshed by one worker process",
  },
  {
    operations: ["materialized_view/{id}/refresh"],
    part: "request",
    kind: "added",
    fields: ["full", "source_version", "expected_incarnation"],
    reason: "the form of LanceDB's clients",
  },
  {
    operations: ["materialized_view/{id}/refresh"],
    part: "status",
    kind: "added",
    fields: ["409", "424"],
    reason: "the view may have been replaced; 424 as for every write",
  },
  {
    operations: ["materialized_view/{id}/describe", "materialized_view/{id}/drop"],
    part: "operation",
    kind: "added",
    fields: post,
    reason: "LanceDB's clients call them",
  },
  {
    operations: ["namespace/{id}/materialized_view/list"],
    part: "operation",
    kind: "added",
    fields: ["GET"],
    reason: "LanceDB's clients call it",
  },
  {
    operations: ["errors"],
    part: "operation",
    kind: "added",
    fields: post,
    reason: "LanceDB's clients call it: the specification has no Functions",
  },
  {
    operations: ["namespace/{id}/function/list"],
    part: "operation",
    kind: "added",
    fields: ["GET"],
    reason: "LanceDB's clients call it: the specification has no Functions",
  },
  {
    operations: ["maintain"],
    part: "operation",
    kind: "added",
    fields: post,
    reason: "an extension: the specification has no operation that compacts a table or extends its indices",
  },
  {
    operations: ["maintenance"],
    part: "operation",
    kind: "added",
    fields: ["GET"],
    reason: "an extension: what is due for the permitted tables, for the console",
  },
];

const answers: readonly Deviation[] = [
  {
    operations: ["declare"],
    part: "answer",
    kind: "required",
    fields: ["location"],
    reason: "always sent",
  },
  {
    operations: ["declare", "describe"],
    part: "answer",
    kind: "absent",
    fields: ["properties", "managed_versioning"],
    reason: "the catalog keeps no properties of tables, and versions are the tables' own",
  },
  {
    operations: ["describe"],
    part: "answer",
    kind: "required",
    fields: ["table", "namespace"],
    reason: "always sent",
  },
  {
    operations: ["namespace/{id}/describe"],
    part: "answer",
    kind: "required",
    fields: ["properties"],
    reason: "always sent",
  },
  {
    operations: ["index/{index_name}/stats"],
    part: "answer",
    kind: "required",
    fields: ["index_type", "num_indexed_rows", "num_unindexed_rows"],
    reason: "always sent",
  },
  {
    operations: ["branches/list"],
    part: "answer",
    kind: "absent",
    fields: ["branches.*.metadata"],
    reason: "the database's SDK does not tell",
  },
  {
    operations: ["version/list"],
    part: "answer",
    kind: "absent",
    fields: ["versions[].manifest_size", "versions[].e_tag"],
    reason: "the database's SDK does not tell",
  },
  {
    operations: ["version/describe"],
    part: "answer",
    kind: "absent",
    fields: ["version.manifest_size", "version.e_tag"],
    reason: "the database's SDK does not tell",
  },
  {
    operations: ["version/list"],
    part: "answer",
    kind: "required",
    fields: ["versions[].timestamp_millis", "versions[].metadata"],
    reason: "always sent",
  },
  {
    operations: ["version/describe"],
    part: "answer",
    kind: "required",
    fields: ["version.timestamp_millis", "version.metadata"],
    reason: "always sent",
  },
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
