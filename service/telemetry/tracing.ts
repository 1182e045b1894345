import {
  context,
  INVALID_SPAN_CONTEXT,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

const name = "lakehead";
const tracer = trace.getTracer(name);

/** The span of every request while nothing records spans. */
const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

const isRecording = (): boolean => {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(name) !== undefined;
};

export interface Tracing {
  stop(): Promise<void>;
}

/** Exports traces to an OTLP endpoint. Without it, spans are no-ops. */
export const startTracing = async (endpoint: string): Promise<Tracing> => {
  const [{ NodeSDK }, { OTLPTraceExporter }] = await Promise.all([
    import("@opentelemetry/sdk-node"),
    import("@opentelemetry/exporter-trace-otlp-http"),
  ]);
  const sdk = new NodeSDK({ serviceName: name, traceExporter: new OTLPTraceExporter({ url: endpoint }) });
  sdk.start();
  return { stop: () => sdk.shutdown() };
};

/** Runs a request in a span that continues the caller's trace (`traceparent`). */
export const inSpan = <T>(
  title: string,
  header: (name: string) => string | undefined,
  run: (span: Span) => Promise<T>,
): Promise<T> => {
  if (!isRecording()) return run(noSpan);
  const parent = propagation.extract(context.active(), undefined, {
    keys: () => ["traceparent", "tracestate"],
    get: (_, key) => header(key),
  });
  return context.with(parent, () => tracer.startActiveSpan(title, async (span) => run(span).finally(() => span.end())));
};

/** Sets the facts of the log line on the request's span. */
export const annotate = (
  span: Span,
  facts: Readonly<Record<string, string | number | undefined>>,
  entries: Readonly<Record<string, string>> = {},
): void => {
  if (!span.isRecording()) return;
  for (const [name, value] of Object.entries(facts))
    if (value !== undefined) span.setAttribute(`lakehead.${name}`, value);
  for (const [name, value] of Object.entries(entries)) span.setAttribute(`lakehead.context.${name}`, value);
  if (typeof facts.status === "number" && facts.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
};

export const traceIdOf = (span: Span): string | undefined => {
  const { traceId } = span.spanContext();
  return /^0*$/.test(traceId) ? undefined : traceId;
};
