/**
 * The registry of failures: Lance error code, HTTP status, public message. No other file sets an error status. Codes and
 * statuses follow the Lance Namespace specification (0 to 23).
 */

interface ErrorKind {
  readonly name: string;
  readonly status: 400 | 401 | 403 | 404 | 405 | 406 | 408 | 409 | 413 | 415 | 416 | 424 | 429 | 431 | 500 | 503;
  /** Default message. */
  readonly message: string;
}

export const errorKinds = {
  0: { name: "Unsupported", status: 406, message: "this operation is not supported by this server" },
  1: { name: "NamespaceNotFound", status: 404, message: "the namespace does not exist" },
  2: { name: "NamespaceAlreadyExists", status: 409, message: "the namespace already exists" },
  3: { name: "NamespaceNotEmpty", status: 409, message: "the namespace is not empty" },
  4: { name: "TableNotFound", status: 404, message: "the table does not exist" },
  5: { name: "TableAlreadyExists", status: 409, message: "the table already exists" },
  6: { name: "TableIndexNotFound", status: 404, message: "index not found: the table has no such index" },
  7: { name: "TableIndexAlreadyExists", status: 409, message: "the index already exists" },
  8: { name: "TableTagNotFound", status: 404, message: "tag not found: the table has no such tag" },
  9: { name: "TableTagAlreadyExists", status: 409, message: "the tag already exists" },
  10: { name: "TransactionNotFound", status: 404, message: "the transaction does not exist" },
  11: { name: "TableVersionNotFound", status: 404, message: "version not found: the table has no such version" },
  12: { name: "TableColumnNotFound", status: 404, message: "column not found: the table has no such column" },
  13: { name: "InvalidInput", status: 400, message: "the request is not valid" },
  14: {
    name: "ConcurrentModification",
    status: 409,
    message: "another writer changed the table at the same time; retry",
  },
  15: { name: "PermissionDenied", status: 403, message: "the credentials do not permit this" },
  16: { name: "Unauthenticated", status: 401, message: "the request carries no valid credentials" },
  17: { name: "ServiceUnavailable", status: 503, message: "the service is unavailable; retry" },
  18: {
    name: "Internal",
    status: 500,
    message: "internal error; find the cause in the service's log by the request id",
  },
  19: { name: "InvalidTableState", status: 409, message: "the state of the table does not permit this" },
  20: { name: "TableSchemaValidationError", status: 400, message: "the request does not match the table's schema" },
  21: { name: "Throttling", status: 429, message: "too many concurrent requests; retry" },
  22: { name: "TableBranchNotFound", status: 404, message: "branch not found: the table has no such branch" },
  23: { name: "TableBranchAlreadyExists", status: 409, message: "the branch already exists" },
} as const satisfies Record<number, ErrorKind>;

/** A Lance Namespace error code, 0 to 23. */
export type ErrorCode = keyof typeof errorKinds;

/** Transport failures with an HTTP status that differs from that of their Lance code. */
export const transportStatuses = {
  noSuchRoute: { status: 404, code: 0 },
  methodNotAllowed: { status: 405, code: 0 },
  bodyTooLarge: { status: 413, code: 13 },
  mediaTypeNotSupported: { status: 415, code: 13 },
  requestTimeout: { status: 408, code: 13 },
  rangeNotSatisfiable: { status: 416, code: 13 },
  headersTooLarge: { status: 431, code: 13 },
  // LanceDB's client retries 409, and recognizes a table that exists by this status and the words "already exists".
  tableExists: { status: 400, code: 5 },
  indexExists: { status: 400, code: 7 },
  tagExists: { status: 400, code: 9 },
  branchExists: { status: 400, code: 23 },
  // LanceDB's client says "Table … was not found" of every 404.
  columnMissing: { status: 400, code: 12 },
  // LanceDB's client retries 409, 429 and 500 to 504 by itself, which could write the same rows twice.
  outcomeUnknown: { status: 424, code: 18 },
} as const satisfies Record<string, { status: ErrorKind["status"]; code: ErrorCode }>;

/** The transport failures of codes whose status LanceDB's clients misread. */
export const lancedbFailures: Readonly<Partial<Record<ErrorCode, keyof typeof transportStatuses>>> = {
  5: "tableExists",
  7: "indexExists",
  9: "tagExists",
  12: "columnMissing",
  23: "branchExists",
};

/** What the service depends on while it handles a request, beyond its own process. */
export type Dependency = "store";

interface ErrorOptions {
  /** A sentence for the caller: key, value and remedy. Never native text. */
  readonly message?: string;
  /** Further text, for instance all issues of a body. */
  readonly detail?: string;
  /** For the log; never sent. */
  readonly cause?: unknown;
  /** Seconds for `Retry-After`. */
  readonly retryAfter?: number;
  readonly transport?: keyof typeof transportStatuses;
  /** The dependency that failed, if one did: the service checks it again until it recovers. */
  readonly dependency?: Dependency;
  /** Response headers that belong to this failure (`Allow`, `WWW-Authenticate`). */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A failure with a Lance error code. Any other error becomes code 18. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: ErrorKind["status"];
  readonly transport: keyof typeof transportStatuses | undefined;
  readonly detail: string | undefined;
  readonly dependency: Dependency | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    super(options.message ?? errorKinds[code].message, { cause: options.cause });
    this.name = errorKinds[code].name;
    this.code = code;
    this.transport = options.transport;
    this.status = options.transport ? transportStatuses[options.transport].status : errorKinds[code].status;
    this.detail = options.detail;
    this.dependency = options.dependency;
    this.headers = {
      ...options.headers,
      ...(options.retryAfter === undefined ? {} : { "retry-after": String(options.retryAfter) }),
    };
  }
}

/** A failure as LanceDB's clients recognize it. */
export const forLanceDb = (error: unknown): unknown => {
  if (!(error instanceof ServiceError)) return error;
  const { code, message, cause } = error;
  const transport = error.transport === undefined ? lancedbFailures[code] : undefined;
  return transport === undefined ? error : new ServiceError(code, { transport, message, cause });
};

/** Code 13, HTTP 400. */
export const invalid = (message: string, detail?: string): ServiceError =>
  new ServiceError(13, detail === undefined ? { message } : { message, detail });
