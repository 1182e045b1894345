import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../support/service.ts";
import { analyze, canary, ends, explain, get, lives, vector } from "./support.ts";

/** With the guard off, what is known to end a process ends a worker and nothing else. */
const limit = 400 * 2 ** 20;
let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    environment: {
      LAKEHEAD_ISOLATION: "all",
      LAKEHEAD_UNSAFE_GUARD: "off",
      LAKEHEAD_WORKER_MEMORY_BYTES: String(limit),
      // One process for all plans, so that the innocent ones share theirs with the killer.
      LAKEHEAD_PLAN_WORKERS: "1",
      LAKEHEAD_ANALYZE_CONCURRENCY: "2",
      LAKEHEAD_QUEUE_SECONDS: "25",
    },
  });
});
afterAll(() => service.stop());

const nearest = { k: 10, vector, vector_column: "vector" };
const sums = `text = '${canary}' or id = ${"1+".repeat(2000)}1`;
const memoryEater = `'${canary}' = text or repeat('a', 500000000) = 'a'`;

const killers: [string, "crash" | "memory", () => ReturnType<TestService["call"]>][] = [
  ["a sum of 2,000 terms, planned", "crash", () => explain(service, sums)],
  ["a sum of 2,000 terms, run", "crash", () => analyze(service, sums)],
  ["k of 2^32-1", "crash", () => service.call("analyze_plan", "docs", { ...nearest, k: 2 ** 32 - 1 })],
  [
    "refine_factor of 2^32-1",
    "crash",
    () => service.call("analyze_plan", "docs", { ...nearest, refine_factor: 2 ** 32 - 1 }),
  ],
  ["a query with k of 2^32-1", "crash", () => service.call("query", "docs", { ...nearest, k: 2 ** 32 - 1 })],
  ["a count by a sum of 2,000 terms", "crash", () => service.call("count_rows", "docs", { predicate: sums })],
  ["half a gigabyte folded at planning", "memory", () => explain(service, memoryEater)],
  ["half a gigabyte folded before a run", "memory", () => analyze(service, memoryEater)],
];

const innocents = (): Promise<{ status: number }>[] => [
  ...Array.from({ length: 4 }, (_, id) => explain(service, `id = ${id}`)),
  service.call("analyze_plan", "docs", nearest),
  service.call("stats", "plain", {}),
  service.call("tags/version", "docs", { tag: "none" }).then(({ body }) => ({ status: body.code === 8 ? 200 : 0 })),
];

test.each(killers)("%s ends its worker, its own request, and nothing else", async (_, reason, kill) => {
  const before = ends(service).length;
  const [killed, ...others] = await Promise.all([kill(), ...innocents()]);
  expect(killed).toMatchObject({ status: 400, body: { code: 13 } });
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));

  const lines = ends(service).slice(before);
  // A worker that several shared says nothing about whose fault it was: each then runs alone.
  expect(lines.at(-1)).toMatchObject({ reason, calls: 1 });
  for (const { pid, peakBytes } of lines) {
    expect(lives(pid)).toBe(false);
    expect(peakBytes).toBeLessThan(limit + 600 * 2 ** 20);
  }
});

test("the caller is told what to change, and neither log nor metrics repeat the query", async () => {
  const { body } = await explain(service, sums);
  expect(body.error).toBe("the query ended the process that ran it: simplify its expressions, or ask for less");
  const metrics = await get(service, "/metrics");
  expect(metrics.text).toMatch(/lakehead_worker_ends_total\{pool="analyze",reason="crash"\} [3-9]/);
  expect(metrics.text).toMatch(/lakehead_worker_ends_total\{pool="plan",reason="memory"\} [1-9]/);
  expect(metrics.text + JSON.stringify(service.log)).not.toContain(canary);
});

test("an allocation that fails is named in the log", () => {
  const words = service.log.map(({ lastWords }) => lastWords);
  expect(words).toContainEqual(expect.stringMatching(/^an allocation of \d+ bytes failed$/));
});

test("all the while the service counts as ready", async () => {
  const { status, text } = await get(service, "/readyz");
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({ workersAvailable: true });
});
