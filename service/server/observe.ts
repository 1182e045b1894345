import type { Log } from "../telemetry/log.ts";
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
  const hasCause = failure !== undefined && failure.status >= 500 && failure.cause !== undefined;
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
    ...(record.bytes === undefined ? {} : { bytes: record.bytes }),
    ...(record.commit === undefined ? {} : { commit: record.commit }),
    ...(record.context === undefined || Object.keys(record.context).length === 0 ? {} : { context: record.context }),
    ...(hasCause ? { cause: scrub(failure.cause, record.body) } : {}),
  };
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
    const { context: entries, commit, ...rest } = line;
    const facts = commit === undefined ? rest : { ...rest, version: commit.version };
    annotate(span, facts, entries);
    span.updateName(record.operation);
    const traceId = traceIdOf(span);
    log.request(traceId === undefined ? line : { ...line, traceId });
    return reply;
  });
