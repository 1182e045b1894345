import { type ErrorCode, errorKinds, ServiceError } from "../../errors.ts";
import { layersOf, withoutAddresses } from "./native-text.ts";

/**
 * The error code of a native error. The SDK reports errors as text with file paths and store addresses in it. Only this
 * table interprets that text: the response has the message of `say`, the log has the original.
 * `test/service/lance/classify.test.ts` provokes each row on the real database, so it fails if the SDK changes a text.
 */
export interface Meaning {
  /** Matches the beginning of a layer's text, because the rest may contain text of the caller. */
  readonly pattern: RegExp;
  readonly code: ErrorCode;
  /** The message; its argument is the pattern's capture group, a name that the caller sent. */
  readonly say?: string | ((name: string) => string) | undefined;
}

export const means = (code: ErrorCode, pattern: RegExp, say?: Meaning["say"]): Meaning => ({ code, pattern, say });

/** A name from native text that is safe to repeat. */
export const quotable = /^[\p{L}\p{N}_.$ -]{1,128}$/u;

const storeFailure =
  /^(?:Generic (?!N\/A|LocalFileSystem)[\w ]+ error: |Generic \{ store: |Request precondition failure for path )/;
const storeRefusal = /^(?:The operation lacked |PermissionDenied \{|Unauthenticated \{)/;
/** ENOSPC, EDQUOT and EFBIG of a local directory. */
const storeFull =
  /^(?:(?:ENOSPC|EDQUOT|EFBIG): |Generic LocalFileSystem error: .*\(os error (?:28|122|27)\)|[\w ]{1,40} \(os error (?:28|122|27)\))/s;
/** EMFILE and ENFILE: no descriptor is left. */
const noDescriptor =
  /^(?:(?:EMFILE|ENFILE): |Generic LocalFileSystem error: .*\(os error (?:24|23)\)|[\w ]{1,40} \(os error (?:24|23)\))/s;
/** Matches anywhere in the text of an otherwise unknown error: an unknown layer may precede it. */
const unnamedStoreFailure = /RetryErrorImpl|HttpError \{|Error performing (?:[A-Z]+|list request)\b|dispatch failure/;
/** Matches a store failure without its addresses. */
const denial =
  /AccessDenied|Access Denied|InvalidAccessKeyId|SignatureDoesNotMatch|NoSuchBucket|[Cc]redentials|status(?: code)?: 40[13]\b/;

const meanings: readonly Meaning[] = [
  means(9, /^Ref conflict error: tag/),
  means(8, /^Ref not found error: tag/),
  means(22, /^Ref not found error: branch/i),
  means(
    13,
    /^Ref is invalid/,
    "invalid name of a tag or branch: use letters, digits, '.', '-' and '_'; it must not start with a dot or end with .lock",
  ),
  means(
    0,
    /^Not found: \S*\/_refs\/tags\/\S*%25/,
    "the table has a tag whose name contains non-ASCII characters, so the database cannot list its tags: delete that tag by its name",
  ),
  // Deleted between the SDK's check that it exists and its next request.
  means(8, /^(?:Not found: |Object at location )\S*\/_refs\/tags\//),
  means(
    19,
    /^[^,]{1,200} at line \d+ column \d+, \S*\/dataset\/refs\.rs:/,
    "the file of a tag is not valid: delete the tag by its name with tags/delete",
  ),
  means(11, /^Version not found error/),
  means(1, /^Namespace not found/),
  means(4, /^Table '[^']*' was not found/),
  means(4, /^Table not found: table id/),
  means(14, /^(?:Commit conflict|Retryable commit conflict|Incompatible transaction)/),
  means(12, /^Schema error: No field named "?(.+?)"?\. Valid fields/s, missingColumn),
  means(12, /^[Cc]olumn "?(.+?)"? (?:does not exist|not found)/s, missingColumn),
  means(12, /^FTS field path '(.+?)' does not exist/s, missingColumn),
  means(12, /^no column named '(.+?)' in this table/s, missingColumn),
  means(
    13,
    /^column '(.+?)' is not a blob column/s,
    (name) => `column${quotable.test(name) ? ` '${name}'` : ""} is not a blob column`,
  ),
  means(
    13,
    /^column '.+?' is a legacy blob column/s,
    "the column is a legacy blob column (lance-encoding:blob), of which only descriptions can be read: write its bytes into a blob v2 column (lance.blob.v2)",
  ),
  means(13, /^Field path cannot be empty/, "the name of a column is empty"),
  means(
    13,
    /^Schema Error: More than one vector columns? found/,
    "the table has several vector columns: set vector_column",
  ),
  means(13, /^No vector column found/, "the table has no vector column with the dimensions of the vector"),
  means(13, /^Data type is not a vector/, "vector_column is not a column of vectors"),
  means(
    13,
    /^query (?:dim\(\d+\) doesn't match|vector at index \d+ has dimension)/,
    "the vector and the column have different dimensions",
  ),
  means(13, /^Cannot have both nearest and full text/, "vector and full_text_query cannot be combined"),
  means(13, /^ef must be greater/, "ef is smaller than k (times refine_factor): raise it, or leave it out"),
  means(13, /^Distance type \w+ does not support/, "distance_type does not support the type of the vector column"),
  means(13, /^Duplicate column name/, "columns contains the same column twice"),
  means(
    13,
    /^failed to construct the fuzzy query/,
    "a word is too long for this fuzziness: send a smaller fuzziness, or shorten the word",
  ),
  means(13, /^\w+ boost must be finite/, "boost in full_text_query must be 0 or greater"),
  means(
    13,
    /^(?:maximum_nprobes|minimum_nprobes) must be/,
    "maximum_nprobes must be 0 or at least minimum_nprobes (both default to nprobes, which defaults to 20)",
  ),
  means(
    13,
    /^(?:Cannot perform full text search|FTS (?:query|field)|boolean query must|position is not found but required)/,
    "the full-text query cannot be planned: it needs a text column with a full-text index (with positions for phrases) and at least one positive clause",
  ),
  means(13, /^use_lsm\(true\) was set/, "use_lsm is true, but the table has no write-ahead log"),
  means(
    13,
    /^(?:Error parsing statement|invalid SQL predicate|Expression is not valid): /,
    "an SQL expression (filter or columns) is not valid SQL",
  ),
  means(13, /^The filter .* does not return a boolean/s, "filter is not a condition: it must be a boolean expression"),
  means(
    13,
    /^TakeExec requires the input plan to have a column/,
    "order_by contains a column that columns does not: set with_row_id to true, or add that column to columns",
  ),
  means(
    13,
    /^(?:Invalid function '|Unsupported |Not supported: |This feature is not implemented: |Expression '.*' is not supported SQL|Operator \S+ is not supported)/s,
    "the query uses a feature that the database does not support",
  ),
  // The planner quotes the whole filter before the reason. The pattern may match the filter, which is the caller's anyway.
  means(
    13,
    /^(?:Divide by zero|Error optimizing sql filter: .*\bDivide by zero)/s,
    "an SQL expression (filter or columns) divides by zero",
  ),
  means(
    13,
    /^(?:Cast error: |Error optimizing sql filter: .*\bCast error: )/s,
    "an SQL expression (filter or columns) casts a value to a type that cannot hold it: use try_cast",
  ),
  means(
    13,
    /^(?:Error during planning: (?!There is no built-in encoding)|type_coercion|Error (?:optimizing|resolving) .*(?:Error during planning: |could not convert to literal))/s,
    "an SQL expression (filter or columns) combines incompatible types",
  ),
  means(
    13,
    /^(?:failed to call '\w+' )?Compute error: Regular expression did not compile: /,
    "an SQL expression (filter or columns) cannot be evaluated: a regular expression is not valid or too large; repeat less often, or use smaller classes",
  ),
  means(
    13,
    /^(?:(?:Execution|Parser|Compute|Invalid argument) error: |Arithmetic overflow: |regex parse error:|There is no built-in encoding|Error (?:optimizing sql filter|resolving filter expression): )/,
    "an SQL expression (filter or columns) cannot be evaluated: a function or operator does not accept an argument, or a value of a row",
  ),
];

export function missingColumn(name: string): string {
  return quotable.test(name) ? `column not found: the table has no column "${name}"` : errorKinds[12].message;
}

/** Failures of the object store: what the caller reads, and after how many seconds to retry. */
const storeFailures = {
  denied: { message: "the service has no access to its storage at the moment; retry", retryAfter: 5 },
  unavailable: { message: "the storage behind the service is unavailable; retry", retryAfter: 1 },
  exhausted: { message: "the service has no file descriptor left; retry", retryAfter: 1 },
  full: { message: "the storage behind the service has no space left: the write was refused", retryAfter: 30 },
} as const;

/**
 * The table, version or branch of a handle no longer exists: it was dropped, cleaned up or created again. A missing tag
 * does not match, because the table may exist.
 */
const gone =
  /^(?:Not found: (?!.*\/_refs\/).*(?:_versions|\.manifest|\.lance)|Dataset at path .* was not found|NotFound \{|Object at location (?!.*\/_refs\/).* not found: |No such file or directory \(os error|Generic LocalFileSystem error: .*No such file or directory \(os error)/s;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The first row of a table that matches a layer of a native error. */
export const findMeaning = (error: unknown, table: readonly Meaning[]): ServiceError | undefined => {
  const layers = layersOf(textOf(error));
  for (const { pattern, code, say } of table)
    for (const layer of layers) {
      const match = pattern.exec(layer);
      if (match !== null)
        return new ServiceError(code, {
          ...(say && { message: typeof say === "string" ? say : say(match[1] ?? "") }),
          cause: error,
        });
    }
  return undefined;
};

const storeMeaning = (layers: readonly string[]): keyof typeof storeFailures | undefined => {
  if (layers.some((layer) => storeFull.test(layer))) return "full";
  if (layers.some((layer) => noDescriptor.test(layer))) return "exhausted";
  if (layers.some((layer) => storeRefusal.test(layer))) return "denied";
  const failure = layers.find((layer) => storeFailure.test(layer));
  if (failure === undefined) return undefined;
  return denial.test(withoutAddresses(failure)) ? "denied" : "unavailable";
};

/** A full store still responds, so it is not checked; nor is it at fault if this process has no descriptor. */
const storeError = (failure: keyof typeof storeFailures, cause: unknown): ServiceError =>
  new ServiceError(17, {
    ...storeFailures[failure],
    ...(failure === "full" || failure === "exhausted" ? {} : { dependency: "store" }),
    cause,
  });

/** Whether this process was out of descriptors: unlike a full store, that may also happen after a commit. */
export const isExhausted = ({ message }: ServiceError): boolean => message === storeFailures.exhausted.message;

/** Whether the data of a handle no longer exists, so that the table has to be reopened. */
export const isGone = (error: unknown): boolean =>
  !(error instanceof ServiceError) && layersOf(textOf(error)).some((layer) => gone.test(layer));

/**
 * Converts a native error into a ServiceError, whose message is safe to send.
 * @param whenGone the code if the data does not exist.
 */
export const classify = (error: unknown, whenGone: ErrorCode = 4): ServiceError => {
  if (error instanceof ServiceError) return error;
  const layers = layersOf(textOf(error));
  // The store first, because the layers above report its failures in many forms.
  const store = storeMeaning(layers);
  if (store !== undefined) return storeError(store, error);
  const meaning = findMeaning(error, meanings);
  if (meaning !== undefined) return meaning;
  if (layers.some((layer) => gone.test(layer))) return new ServiceError(whenGone, { cause: error });
  if (layers.some((layer) => /^Invalid (?:user )?input/.test(layer)))
    return new ServiceError(13, { message: "the database rejects the request as invalid", cause: error });
  return unnamedStoreFailure.test(layers[0] ?? "")
    ? storeError("unavailable", error)
    : new ServiceError(18, { cause: error });
};

/**
 * The same for calls without a query. Their names are verified, so an error that looks like an invalid query is a fault
 * of the stored data.
 */
export const classifyAccess = (error: unknown, whenGone: ErrorCode = 4): ServiceError => {
  const meaning = classify(error, whenGone);
  return meaning.code === 13 && meaning !== error ? new ServiceError(18, { cause: error }) : meaning;
};
