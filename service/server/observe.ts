import type { FunctionLine, LoanLine, Log, WriteLine } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { scrub } from "../telemetry/scrub.ts";
import { annotate, inSpan, traceIdOf } from "../telemetry/tracing.ts";
import type { RequestRecord } from "./request.ts";

export interface ObserveParts {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Records a finished request in the metrics. @returns the fields of its log line and span. */
const conclude = (metrics: Metrics, record: RequestRecord, method: string, status: number) => {
  const durationMs = Math.round((performance.now() - record.startedAt) * 1000) / 1000;
  const { failure } = record;
  const isFault = failure !== undefined && (failure.status >= 500 || failure.transport === "outcomeUnknown");
  metrics.request(record.operation, status, durationMs / 1000);
  return {
    requestId: record.id,
    operation: record.operation,
    method,
    status,
    ...(failure === undefined ? {} : { code: failure.code }),
    ...(record.table === undefined ? {} : { table: record.table }),
    ...(record.principal === undefined ? {} : { principal: record.principal }),
    durationMs,
    ...(record.context === undefined || Object.keys(record.context).length === 0 ? {} : { context: record.context }),
    ...(isFault && failure.cause !== undefined ? { cause: scrub(failure.cause, record.body) } : {}),
  };
};

/** The audit line of a write; undefined for other requests, and for a write that was refused. */
const writeOf = ({ writes, failure, ...record }: RequestRecord, status: number): WriteLine | undefined => {
  const isUnknown = failure?.transport === "outcomeUnknown";
  if (!writes || (status !== 200 && !isUnknown)) return undefined;
  return {
    requestId: record.id,
    operation: record.operation,
    ...(record.principal === undefined ? {} : { principal: record.principal }),
    ...(record.table === undefined ? {} : { table: record.table }),
    outcome: isUnknown ? "unknown" : "committed",
    ...record.commit,
    ...(record.bytes === undefined ? {} : { bytes: record.bytes }),
  };
};

/** The audit line of credentials that a response lends. */
const loanOf = ({ id, loan, principal, table }: RequestRecord, status: number): LoanLine | undefined =>
  loan === undefined || status !== 200
    ? undefined
    : {
        requestId: id,
        ...(principal === undefined ? {} : { principal }),
        ...(table === undefined ? {} : { table }),
        ...loan,
      };

/** The audit line of a Function that was registered or dropped. */
const functionOf = (
  { id, operation, principal, ...record }: RequestRecord,
  status: number,
): FunctionLine | undefined =>
  record.function === undefined || status >= 300
    ? undefined
    : {
        requestId: id,
        operation,
        ...(principal === undefined ? {} : { principal }),
        function: record.function.id,
        digest: record.function.digest,
      };

/** Runs a request in its span, then writes its log line, span and metrics. `run` never rejects. */
export const observe = <T extends { readonly status: number }>(
  { log, metrics }: ObserveParts,
  record: RequestRecord,
  method: string,
  header: (name: string) => string | undefined,
  run: () => Promise<T>,
): Promise<T> =>
  inSpan("request", header, async (span) => {
    const reply = await run();
    const line = conclude(metrics, record, method, reply.status);
    const { context: entries, ...facts } = line;
    annotate(span, facts, entries);
    span.updateName(record.operation);
    const traceId = traceIdOf(span);
    const traced = traceId === undefined ? {} : { traceId };
    log.request({ ...line, ...traced });
    const write = writeOf(record, reply.status);
    if (write !== undefined) {
      log.write({ ...write, ...traced });
      metrics.write(write.rows, write.bytes);
    }
    const registered = functionOf(record, reply.status);
    if (registered !== undefined) log.function({ ...registered, ...traced });
    const loan = loanOf(record, reply.status);
    if (loan !== undefined) log.loan({ ...loan, ...traced });
    return reply;
  });
