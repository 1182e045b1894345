import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, test, vi } from "vitest";
import { type TestService, useService } from "../../support/service.ts";
import { analyze, canary, exits, explain, get, lives, longTimeouts, vector } from "./support.ts";

vi.setConfig(longTimeouts);

/** The guard is off, so that queries that crash a process reach a worker. */
const memoryLimit = 400 * 2 ** 20;
const service = useService({
  environment: {
    LAKEHEAD_ISOLATION: "all",
    LAKEHEAD_UNSAFE_GUARD: "off",
    LAKEHEAD_WORKER_MEMORY_BYTES: String(memoryLimit),
    // One worker for all plans, so that other plans share it with the crashing one.
    LAKEHEAD_PLAN_WORKERS: "1",
    LAKEHEAD_ANALYZE_CONCURRENCY: "2",
    LAKEHEAD_QUEUE_SECONDS: "100",
    LAKEHEAD_PLAN_DEADLINE_SECONDS: "100",
    LAKEHEAD_ANALYZE_DEADLINE_SECONDS: "100",
  },
});

const nearest = { k: 10, vector, vector_column: "vector" };
const sum = `text = '${canary}' or id = ${"1+".repeat(2000)}1`;
const largeConstant = `'${canary}' = text or repeat('a', 500000000) = 'a'`;
const maxInteger = 2 ** 32 - 1;

const expected = {
  crash: { exitReason: "crash", says: "the query crashed its worker process: simplify its expressions, or request" },
  memory: { exitReason: "memory", says: "the query exceeded the memory limit of 400 MiB and was stopped: request" },
} as const;

const crashing: [string, keyof typeof expected, "analyze" | "plan", () => ReturnType<TestService["call"]>][] = [
  ["a sum of 2,000 terms in explain_plan", "crash", "plan", () => explain(service, sum)],
  ["a sum of 2,000 terms in analyze_plan", "crash", "analyze", () => analyze(service, sum)],
  ["k of 2^32-1", "crash", "analyze", () => service.call("analyze_plan", "docs", { ...nearest, k: maxInteger })],
  [
    "refine_factor of 2^32-1",
    "crash",
    "analyze",
    () => service.call("analyze_plan", "docs", { ...nearest, refine_factor: maxInteger }),
  ],
  ["a query with k of 2^32-1", "crash", "analyze", () => service.call("query", "docs", { ...nearest, k: maxInteger })],
  [
    "a count with a sum of 2,000 terms",
    "crash",
    "analyze",
    () => service.call("count_rows", "docs", { predicate: sum }),
  ],
  ["a constant of 500 MB in explain_plan", "memory", "plan", () => explain(service, largeConstant)],
  ["a constant of 500 MB in analyze_plan", "memory", "analyze", () => analyze(service, largeConstant)],
];

const harmless = (): Promise<{ status: number }>[] => [
  ...Array.from({ length: 4 }, (_, id) => explain(service, `id = ${id}`)),
  service.call("analyze_plan", "docs", nearest),
  service.call("stats", "plain", {}),
  service.call("tags/version", "docs", { tag: "none" }).then(({ body }) => ({ status: body.code === 8 ? 200 : 0 })),
];

/** A worker allocates so fast, and the service measures it between the delays of its event loop. */
const allocatedPerSecond = 2 * 2 ** 30;

const countExits = async (pool: string, reason: string): Promise<number> => {
  const { text } = await get(service, "/metrics");
  const sample = new RegExp(`lakehead_worker_ends_total\\{pool="${pool}",reason="${reason}"\\} (\\d+)`);
  return Number(sample.exec(text)?.[1] ?? 0);
};

test.each(crashing)("%s fails alone: its worker is replaced and all other requests succeed", async (...row) => {
  const [, kind, pool, crash] = row;
  const { exitReason, says } = expected[kind];
  const counted = await countExits(pool, exitReason);
  const before = exits(service).length;
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  const [failed, ...others] = await Promise.all([crash(), ...harmless()]);
  expect(failed).toMatchObject({ status: 400, body: { code: 13, error: expect.stringContaining(says) } });
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));

  delays.disable();
  const late = (delays.max / 1e9) * allocatedPerSecond;

  const lines = exits(service).slice(before);
  // After the exit of a worker with several calls, each call runs alone, which shows the cause.
  expect(lines.at(-1)).toMatchObject({ pool, reason: exitReason, calls: 1 });
  for (const { pid, peakBytes } of lines) {
    expect(lives(pid)).toBe(false);
    expect(peakBytes).toBeLessThan(memoryLimit + 600 * 2 ** 20 + late);
  }

  expect(await countExits(pool, exitReason)).toBeGreaterThan(counted);
  expect((await get(service, "/metrics")).text + JSON.stringify(service.log)).not.toContain(canary);
  const readiness = await get(service, "/readyz");
  expect(readiness.status).toBe(200);
  expect(JSON.parse(readiness.text)).toMatchObject({ workersAvailable: true });
});

test("the log names a failed allocation", async () => {
  await service.call("analyze_plan", "docs", { ...nearest, k: maxInteger });
  expect(exits(service).at(-1)?.exitError).toMatch(/^an allocation of \d+ bytes failed$/);
});
