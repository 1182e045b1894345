import { expect, test } from "vitest";
import { metricDefinitions } from "../../../service/telemetry/metric-definitions.ts";
import { isolated, useService } from "../../support/service.ts";

const service = useService({ environment: { ...isolated, LAKEHEAD_MAX_HANDLES: "1" } });

const scrape = async (): Promise<string> => (await fetch(`${service.operationsBase}/metrics`)).text();

/** Value of a series in the text; undefined if absent. */
const seriesValue = (text: string, series: string): number | undefined => {
  const line = text.split("\n").find((entry) => entry.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

const handles = async () => {
  const text = await scrape();
  return {
    kept: seriesValue(text, "lakehead_table_handles"),
    hits: seriesValue(text, 'lakehead_table_handle_lookups_total{result="hit"}'),
    misses: seriesValue(text, 'lakehead_table_handle_lookups_total{result="miss"}'),
    full: seriesValue(text, 'lakehead_table_handle_evictions_total{reason="full"}'),
  };
};

test("the served metrics are the documented ones, each with its type and help text", async () => {
  const text = await scrape();
  const served = Object.fromEntries(
    [...text.matchAll(/^# HELP (lakehead_\w+) (.+)\n# TYPE \1 (\w+)$/gm)].map(([, name, help, type]) => [
      name,
      { help, type },
    ]),
  );
  expect(served).toEqual(
    Object.fromEntries(Object.entries(metricDefinitions).map(([name, { help, type }]) => [name, { help, type }])),
  );
});

test("no series has an undocumented label", async () => {
  await service.call("stats", "docs");
  const text = await scrape();
  const series = [...text.matchAll(/^(lakehead_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? /gm)];
  expect(series.length).toBeGreaterThan(20);
  const labels: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
    Object.entries(metricDefinitions).map(([name, definition]) => [name, definition.labels]),
  );
  for (const [line, name = "", pairs = ""] of series) {
    const found = [...pairs.matchAll(/(\w+)="/g)].map(([, label]) => label).filter((label) => label !== "le");
    expect(found, line).toEqual(labels[name]);
  }
});

test("a table handle is a miss first, then a hit, and is evicted for another table's", async () => {
  await service.call("describe", "plain");
  const before = await handles();
  await service.call("describe", "docs");
  const opened = await handles();
  await service.call("describe", "docs");
  const found = await handles();
  expect(opened).toEqual({ ...before, misses: (before.misses ?? 0) + 1, full: (before.full ?? 0) + 1 });
  expect(found).toEqual({ ...opened, hits: (opened.hits ?? 0) + 1 });
});

test("a missing table is a miss and leaves no handle", async () => {
  await service.call("describe", "plain");
  const before = await handles();
  await service.call("describe", "absent");
  expect(await handles()).toEqual({
    ...before,
    kept: 0,
    full: (before.full ?? 0) + 1,
    misses: (before.misses ?? 0) + 1,
  });
});

test("requests are counted by operation and status, and their durations are recorded", async () => {
  const series = 'lakehead_requests_total{operation="describe",status="404"}';
  const count = 'lakehead_request_duration_seconds_count{operation="describe"}';
  const before = await scrape();
  await service.call("describe", "absent");
  const after = await scrape();
  expect(seriesValue(after, series)).toBe((seriesValue(before, series) ?? 0) + 1);
  expect(seriesValue(after, count)).toBe((seriesValue(before, count) ?? 0) + 1);
});

test("readiness and version are metrics", async () => {
  while (seriesValue(await scrape(), "lakehead_ready") !== 1) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(seriesValue(await scrape(), 'lakehead_build_info{version="0.0.0-test"}')).toBe(1);
});
