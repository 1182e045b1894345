import { pino } from "pino";

/**
 * One line of a request. This type is the allow-list: what has no field here does not reach the log. No header, body,
 * filter, vector or token is among them, and native error text only with every word of the body struck out.
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
  /** Scrubbed text of the error behind a failure of ours. */
  readonly cause?: string;
}

export interface Log {
  request(line: RequestLine): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface Destination {
  write(text: string): unknown;
}

/**
 * Writes what is logged in one turn of the event loop at its end, in one system call. No line is held back longer, so no
 * more than that is missing from the log of a process that is killed.
 */
const onceATurn = (destination: Destination): Destination => {
  let text = "";
  const flush = (): void => {
    if (text === "") return;
    const lines = text;
    text = "";
    destination.write(lines);
  };
  process.on("exit", flush);
  return {
    write: (line) => {
      if (text === "") setImmediate(flush);
      text += line;
    },
  };
};

/** Standard output, written before `write` returns. */
const standardOutput = (): Destination => onceATurn(pino.destination({ fd: process.stdout.fd, sync: true }));

/** JSON lines on `destination`; 5xx as errors, everything else as info. */
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
  return {
    request: (line) => logger[line.status >= 500 ? "error" : "info"](line, "request"),
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
};
