import { pino } from "pino";

/**
 * The log line of a request. This type is the allow-list: it has no header, body, filter, vector or token. Native error
 * text is logged without the words of the body.
 */
export interface RequestLine {
  readonly requestId: string;
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  /** Lance error code; absent for a success. */
  readonly code?: number;
  readonly table?: string;
  readonly principal?: string;
  readonly durationMs: number;
  readonly context?: Readonly<Record<string, string>>;
  readonly traceId?: string;
  /** Scrubbed text of the error behind a failure of the service. */
  readonly cause?: string;
}

/** The audit line of a write that was committed, or may have been. Like a request's line, it has no content of rows. */
export interface WriteLine {
  readonly requestId: string;
  readonly operation: string;
  readonly principal?: string;
  readonly table?: string;
  readonly outcome: "committed" | "unknown";
  /** The version that the write replaced. */
  readonly before?: number;
  readonly version?: number;
  readonly rows?: { readonly inserted: number; readonly updated: number; readonly deleted: number };
  /** Bytes of the rows as sent. */
  readonly bytes?: number;
  readonly traceId?: string;
}

/** The audit line of credentials that were lent: who may do what with which files until when, and nothing of the credentials. */
export interface LoanLine {
  readonly requestId: string;
  readonly principal?: string;
  readonly table?: string;
  readonly right: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly until: string;
  readonly traceId?: string;
}

/** The audit line of a Function that was registered or dropped: who, what, and which source. */
export interface FunctionLine {
  readonly requestId: string;
  readonly operation: string;
  readonly principal?: string;
  readonly function: string;
  readonly digest: string;
  readonly traceId?: string;
}

export interface Log {
  request(line: RequestLine): void;
  /** Written at every log level. */
  loan(line: LoanLine): void;
  /** Written at every log level. */
  function(line: FunctionLine): void;
  /** Written at every log level. */
  write(line: WriteLine): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface Destination {
  write(text: string): unknown;
}

/**
 * Standard output, which pino writes in the background: lines that arrive during a write share the next one, and those that
 * are left are written at exit. A process that is killed loses at most these lines.
 */
const standardOutput = (): Destination => pino.destination({ fd: process.stdout.fd, sync: false });

/** JSON lines on `destination`. Responses with 5xx have the level error, others info. */
export const createLog = (level: string, destination: Destination = standardOutput()): Log => {
  const logger = pino(
    {
      level,
      base: { service: "lakehead" },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination as never,
  );
  const audit = logger.child({}, { level: "info" });
  return {
    write: (line) => audit.info(line, "write"),
    function: (line) => audit.info(line, "function"),
    loan: (line) => audit.info(line, "credentials lent"),
    request: (line) => logger[line.status >= 500 ? "error" : "info"](line, "request"),
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
};
