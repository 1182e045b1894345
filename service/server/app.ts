import { Hono } from "hono";
import { paths } from "../contract.ts";
import { errorKinds, ServiceError } from "../errors.ts";
import { operations } from "../operations/index.ts";
import { prefixes } from "../operations/operation.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { scrub } from "../telemetry/scrub.ts";
import { annotate, inSpan, traceIdOf } from "../telemetry/tracing.ts";
import { type PipelineParts, pipeline } from "./pipeline.ts";
import { type AppEnv, answerHeaders, asServiceError, errorBody, newRecord, type RequestRecord } from "./request.ts";
import { routedPath } from "./request-url.ts";

export interface AppParts extends PipelineParts {
  readonly log: Log;
  readonly metrics: Metrics;
  /** The OpenAPI document and its entity tag. */
  readonly openapi: { readonly text: string; readonly etag: string };
  /** Called for every request that failed at the store. */
  readonly onStoreFailure: () => void;
  /** Pages for browsers beside the API. */
  readonly pages: readonly Hono<AppEnv>[];
}

/** Records a finished request in the metrics. @returns the fields of its log line and span. */
const conclude = (parts: AppParts, record: RequestRecord, method: string, status: number) => {
  const durationMs = Math.round((performance.now() - record.startedAt) * 1000) / 1000;
  const { failure } = record;
  const hasCause = failure !== undefined && failure.status >= 500 && failure.cause !== undefined;
  parts.metrics.request(record.operation, status, durationMs / 1000);
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
    ...(hasCause ? { cause: scrub(failure.cause, record.body) } : {}),
  };
};

/** The API as a function of its parts, without a socket or an environment: tests use `app.request()`. */
export const createApp = (parts: AppParts): Hono<AppEnv> => {
  // LanceDB's client appends a slash to every table route.
  const app = new Hono<AppEnv>({ getPath: routedPath });

  app.use(async (context, next) => {
    const record = newRecord(context);
    context.set("record", record);
    await inSpan(
      "request",
      (name) => context.req.header(name),
      async (span) => {
        await next();
        const line = conclude(parts, record, context.req.method, context.res.status);
        const { context: entries, ...facts } = line;
        annotate(span, facts, entries);
        span.updateName(record.operation);
        const traceId = traceIdOf(span);
        parts.log.request(traceId === undefined ? line : { ...line, traceId });
      },
    );
  });

  for (const operation of operations) {
    const path = `${prefixes[operation.target]}${operation.path}`;
    app.on([...operation.methods], path, pipeline(operation, parts));
    app.all(path, () => {
      const allow = operation.methods.join(", ");
      throw new ServiceError(0, {
        transport: "methodNotAllowed",
        message: `method not allowed; use ${allow}`,
        headers: { allow },
      });
    });
  }

  app.get(paths.openapi, (context) => {
    const { text, etag } = parts.openapi;
    const headers = { ...answerHeaders(context.get("record")), etag, "cache-control": "no-cache" };
    if (context.req.header("if-none-match") === etag) return context.body(null, 304, headers);
    return context.body(text, 200, { ...headers, "content-type": "application/json" });
  });

  for (const page of parts.pages) app.route("/", page);

  // An operation of the catalog that this server lacks is 406: clients read 404 as "no such table" and retry 5xx.
  app.all("/v1/*", () => {
    throw new ServiceError(0, { message: `${errorKinds[0].message}; see ${paths.openapi}` });
  });
  app.all("*", () => {
    throw new ServiceError(0, {
      transport: "noSuchRoute",
      message: `not found; see ${paths.openapi}`,
    });
  });

  app.onError((error, context) => {
    const failure = asServiceError(error);
    const record = context.get("record") ?? newRecord(context);
    record.failure = failure;
    if (failure.dependency === "store") parts.onStoreFailure();
    return context.json(errorBody(failure, record.id), failure.status, {
      ...answerHeaders(record),
      ...failure.headers,
    });
  });
  return app;
};
