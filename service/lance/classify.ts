import { type ErrorCode, ServiceError } from "../errors.ts";

/**
 * What a native error means. The SDK's errors are prose with file paths and store addresses in it: this table is the
 * only reader of that prose, the caller gets the sentence on the right, the log gets the original.
 * `test/service/lance/classify.test.ts` provokes each row on the real database, so that an SDK that rewords one fails.
 */
interface Meaning {
  readonly pattern: RegExp;
  readonly code: ErrorCode;
  /** The capture group, if any, is a name that the caller sent. */
  readonly say?: (name: string) => string;
}

/** A name from native text, only if it is harmless to repeat. */
const quotable = /^[\p{L}\p{N}_.$ -]{1,128}$/u;

const store =
  /RetryError|HttpError|Connection refused|connection (closed|reset|error)|error sending request|timed? ?out|SlowDown|ServiceUnavailable|InternalError|dispatch failure|Generic \{ store|Generic (S3|GCS|MicrosoftAzure) error|\b50[0234]\b|\b429\b/i;
const storeDenied =
  /AccessDenied|Access Denied|InvalidAccessKeyId|SignatureDoesNotMatch|PermissionDenied|Unauthenticated|NoSuchBucket|CredentialsNotLoaded|credential/;

const meanings: readonly Meaning[] = [
  { pattern: /Ref conflict error: tag/, code: 9 },
  { pattern: /Ref not found error: tag/, code: 8 },
  { pattern: /Ref not found error: branch/i, code: 22 },
  {
    pattern: /Ref is invalid/,
    code: 13,
    say: () =>
      "the name of a tag or branch has letters, digits, '.', '-' and '_', starts with no dot and does not end with .lock",
  },
  {
    pattern: /Not found: \S*_refs\/tags\/\S*%25/,
    code: 0,
    say: () =>
      "the table has a tag with characters outside ASCII in its name, with which the database cannot list tags: remove it by its name",
  },
  { pattern: /Version not found error/, code: 11 },
  { pattern: /Namespace not found/, code: 1 },
  { pattern: /^Table '.*' was not found/s, code: 4 },
  { pattern: /Table not found: table id/, code: 4 },
  {
    pattern: /Commit conflict|RetryableCommitConflict|conflicting transaction|concurrent(ly)? (commit|modif)/i,
    code: 14,
  },
  { pattern: /No field named "?([^".]+)"?\./, code: 12, say: missingColumn },
  { pattern: /[Cc]olumn "?(\S+?)"? (?:does not exist|not found)/, code: 12, say: missingColumn },
  { pattern: /[Cc]olumn (.+?) does not exist in schema/s, code: 12, say: missingColumn },
  { pattern: /FTS field path '(.+?)' does not exist/, code: 12, say: missingColumn },
  { pattern: /Field path cannot be empty/, code: 13, say: () => "the name of a column is empty" },
  {
    pattern: /More than one vector columns? found/,
    code: 13,
    say: () => "the table has several vector columns: name one in vector_column",
  },
  {
    pattern: /No vector column found/,
    code: 13,
    say: () => "the table has no vector column of this number of dimensions",
  },
  {
    pattern: /is not a vector|must be a vector/i,
    code: 13,
    say: () => "vector_column names a column that holds no vectors",
  },
  {
    pattern: /query dim\(\d+\) doesn't match|dimension/,
    code: 13,
    say: () => "the vector's number of dimensions is not that of the column",
  },
  {
    pattern: /Cannot have both nearest and full text/,
    code: 13,
    say: () => "vector and full_text_query cannot be planned together",
  },
  {
    pattern: /ef must be greater/,
    code: 13,
    say: () => "ef is smaller than k (times refine_factor): raise it, or leave it out",
  },
  {
    pattern: /Distance type \w+ does not support/,
    code: 13,
    say: () => "distance_type cannot be computed on the type of the vector column",
  },
  {
    pattern: /Duplicate column name/,
    code: 13,
    say: () => "columns names the same column twice",
  },
  { pattern: /boost must be finite/, code: 13, say: () => "boost in full_text_query must be 0 or greater" },
  { pattern: /Divide by zero/i, code: 13, say: () => "an SQL expression (filter or columns) divides by zero" },
  {
    pattern: /Cannot cast/,
    code: 13,
    say: () => "an SQL expression (filter or columns) casts a value to a type that cannot hold it: use try_cast",
  },
  {
    pattern: /maximum_nprobes must be|minimum_nprobes must be/,
    code: 13,
    say: () => "maximum_nprobes must be 0 or at least minimum_nprobes (both default to nprobes, that to 20)",
  },
  {
    pattern: /INVERTED index|inverted index|full text search|FTS (query|field)|boolean query must/i,
    code: 13,
    say: () =>
      "the full-text query cannot be planned: it needs a column of text with a full-text index (with positions for phrases) and at least one positive clause",
  },
  {
    pattern: /sql parser error|Error parsing statement|Error tokenizing|ParserError/,
    code: 13,
    say: () => "an SQL expression (filter or columns) is not valid SQL",
  },
  {
    pattern: /does not return a boolean/,
    code: 13,
    say: () => "filter is not a condition: it must be true or false for a row",
  },
  {
    pattern: /Invalid function|Unsupported|not supported|not implemented|NotImplemented/i,
    code: 13,
    say: () => "the query asks for something that the database does not support",
  },
  {
    pattern: /TakeExec requires the input plan to have a column/,
    code: 13,
    say: () =>
      "order_by names a column that columns does not return, which the database sorts by only where it has the row ids: send with_row_id true, or return that column too",
  },
  {
    pattern: /type_coercion|Error during planning|Cannot (infer|coerce|cast)|coercion|Cast error|Arrow error/i,
    code: 13,
    say: () => "the types in an SQL expression (filter or columns) do not fit together",
  },
  { pattern: /MemWAL|LSM/, code: 13, say: () => "use_lsm is true, but the table has no write-ahead log" },
  { pattern: /Cannot order by|order_by/i, code: 13, say: () => "order_by cannot be planned with this query" },
];

function missingColumn(name: string): string {
  return quotable.test(name) ? `the table has no column "${name}"` : "the table has no such column";
}

const storeMessages = {
  denied: "the service has no access to its storage at the moment",
  away: "the storage behind the service does not answer; retry",
} as const;

/** Whether a call has failed at the store; its sentence is all that comes through from a worker process. */
export const isStoreFailure = ({ code, message }: ServiceError): boolean =>
  code === 17 && Object.values<string>(storeMessages).includes(message);

/** The table, version or branch behind a handle is gone: dropped, cleaned up, or made anew. */
const gone =
  /Not found: .*(_versions|\.manifest|\.lance)|Dataset at path .* was not found|NotFound|No such file or directory/s;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether reopening may help, because what the handle points to is not there any more. */
export const isGone = (error: unknown): boolean => !(error instanceof ServiceError) && gone.test(textOf(error));

/**
 * Gives a native error its code and a sentence that is safe to send.
 * @param whenGone what it means here that the data was not found.
 */
export const classify = (error: unknown, whenGone: ErrorCode = 4): ServiceError => {
  if (error instanceof ServiceError) return error;
  const text = textOf(error);
  for (const { pattern, code, say } of meanings) {
    const match = pattern.exec(text);
    if (match !== null)
      return new ServiceError(code, { ...(say ? { message: say(match[1] ?? "") } : {}), cause: error });
  }
  if (storeDenied.test(text))
    return new ServiceError(17, {
      message: storeMessages.denied,
      cause: error,
      retryAfter: 5,
    });
  if (store.test(text))
    return new ServiceError(17, {
      message: storeMessages.away,
      cause: error,
      retryAfter: 1,
    });
  if (gone.test(text)) return new ServiceError(whenGone, { cause: error });
  if (/Invalid input/.test(text))
    return new ServiceError(13, { message: "the database refuses the query as not valid", cause: error });
  return new ServiceError(18, { cause: error });
};

/**
 * The same for calls that carry nothing of a caller but names which the guard has passed: what reads like a fault of
 * the query there is one of the stored data.
 */
export const classifyAccess = (error: unknown, whenGone: ErrorCode = 4): ServiceError => {
  const meaning = classify(error, whenGone);
  return meaning.code === 13 && meaning !== error ? new ServiceError(18, { cause: error }) : meaning;
};
