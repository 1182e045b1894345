import { trace } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { scrub } from "../../../service/telemetry/scrub.ts";
import { useService } from "../../support/service.ts";

const spans = new InMemorySpanExporter();
beforeAll(() => {
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }));
});
const service = useService();
beforeEach(() => {
  service.log.length = 0;
  spans.reset();
});

const lines = () => service.log.filter(({ msg }) => msg === "request");

test("a request is one log line with exactly these fields", async () => {
  await service.call("stats", "docs", {}, { headers: { "x-request-id": "abc-1" } });
  const [line] = lines();
  expect(line).toMatchObject({
    requestId: "abc-1",
    operation: "stats",
    method: "POST",
    status: 200,
    table: "docs",
    principal: "tester",
  });
  expect(Object.keys(line ?? {}).sort()).toEqual(
    [
      "durationMs",
      "level",
      "method",
      "msg",
      "operation",
      "principal",
      "requestId",
      "service",
      "status",
      "table",
      "time",
      "traceId",
    ].sort(),
  );
});

test("a malformed request id is replaced", async () => {
  const { headers } = await service.call("stats", "docs", {}, { headers: { "x-request-id": "a b;c" } });
  expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
});

test("context of body and headers is in log and trace without credentials; headers have precedence", async () => {
  await service.call(
    "stats",
    "docs",
    { context: { team: "body", job: "nightly", "header.Authorization": "Bearer canary", long: "x".repeat(1000) } },
    { headers: { "x-lance-ctx-team": "header", "x-lance-ctx-api-key": "canary" } },
  );
  const [line] = lines();
  const context = line?.context as Record<string, string>;
  expect(context).toMatchObject({
    team: "header",
    job: "nightly",
    "header.Authorization": "[redacted]",
    "api-key": "[redacted]",
  });
  expect(context.long).toHaveLength(256);
  const [span] = spans.getFinishedSpans();
  expect(span?.name).toBe("stats");
  expect(span?.attributes).toMatchObject({ "lakehead.context.team": "header", "lakehead.table": "docs" });
  expect(JSON.stringify(line) + JSON.stringify(span?.attributes)).not.toContain("canary");
});

test("credentials in context are not logged, under any key", async () => {
  const jwt = `eyJhbGciOiJub25lIn0.${Buffer.from('{"sub":"canary"}').toString("base64url")}.`;
  const values = {
    headers: { Authorization: "Bearer canary" },
    list: ["canary"],
    jwt: "canary",
    note: "Bearer canary",
    curl: "curl -H 'authorization: basic canary'",
    found: `see ${jwt}`,
    own: `my ${service.token}`,
    [service.token]: "key",
    retries: 3,
    dry: false,
  };
  await service.call(
    "stats",
    "docs",
    { context: values },
    { headers: { "x-api-key": "canary-key", "x-lance-ctx-other": "(canary-key)" } },
  );
  const struck = ["jwt", "note", "curl", "found", "own", "other"];
  expect(lines()[0]?.context).toEqual({
    headers: "[object]",
    list: "[object]",
    retries: "3",
    dry: "false",
    ...Object.fromEntries(struck.map((key) => [key, "[redacted]"])),
  });
  const shown = JSON.stringify(lines()) + JSON.stringify(spans.getFinishedSpans().map(({ attributes }) => attributes));
  for (const secret of ["canary", jwt, service.token]) expect(shown).not.toContain(secret);
});

test("native text is logged without any word of the body", () => {
  const native = new Error('Schema error: No field named Secret_Thing in (Utf8("secret_thing"))');
  expect(scrub(native, { filter: "secret_thing = 1" })).toBe('Schema error: No field named […] in (Utf8("[…]"))');
});
