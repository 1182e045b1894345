import { beforeAll, describe, expect, test, vi } from "vitest";
import { startTestService, type TestService, useService } from "../../support/service.ts";
import {
  analyze,
  canary,
  exits,
  explain,
  lives,
  longTimeouts,
  slowToPlan,
  slowToRun,
  until,
  workersOf,
} from "./support.ts";

vi.setConfig(longTimeouts);

const environment = {
  LAKEHEAD_ISOLATION: "all",
  LAKEHEAD_UNSAFE_GUARD: "off",
  LAKEHEAD_PLAN_WORKERS: "1",
  LAKEHEAD_ANALYZE_CONCURRENCY: "2",
};

const oneAtATime = { ...environment, LAKEHEAD_ISOLATION: "analyze", LAKEHEAD_ANALYZE_CONCURRENCY: "1" };

describe("a deadline", () => {
  const service = useService({
    environment: {
      ...environment,
      LAKEHEAD_ANALYZE_DEADLINE_SECONDS: "2.5",
      LAKEHEAD_PLAN_DEADLINE_SECONDS: "2.5",
    },
  });
  beforeAll(async () => {
    await Promise.all([explain(service, "id = 1"), analyze(service, "id = 1")]);
  });

  test.each([
    ["analyze", () => analyze(service, slowToRun)],
    ["analyze", () => service.call("count_rows", "docs", { predicate: slowToRun })],
    ["plan", () => explain(service, slowToPlan)],
  ])("ends the worker of a slow query (%s): 503 with the reason and advice", async (pool, slow) => {
    const [late, other, third] = await Promise.all([slow(), explain(service, "id = 1"), analyze(service, "id = 1")]);
    expect([other.status, third.status]).toEqual([200, 200]);
    expect(late).toMatchObject({
      status: 503,
      body: { code: 17, error: expect.stringMatching(/ran for more than 2\.5 s and was stopped: reduce k/) },
    });
    expect(late.headers.get("retry-after")).toBe("3");
    const line = exits(service).at(-1);
    expect(line).toMatchObject({ pool, reason: "deadline" });
    expect(lives(line?.pid ?? 0)).toBe(false);
    expect(JSON.stringify(service.log)).not.toContain(canary);
    expect((await analyze(service, "id = 1")).status).toBe(200);
  });
});

describe("a killed worker", () => {
  const service = useService({ environment: oneAtATime });

  test("its query runs a second time, and fails with 503 after a second kill", async () => {
    const before = exits(service).length;
    const slow = analyze(service, slowToRun);
    for (const round of [1, 2]) {
      await until(async () => /pool="analyze",state="busy"} 1/.test(await metricsOf(service)));
      const busy = await onlyWorker();
      process.kill(busy, "SIGKILL");
      await until(() => exits(service).length === before + round);
      expect(exits(service).at(-1)).toMatchObject({ pool: "analyze", reason: "killed", calls: 1, pid: busy });
    }
    expect(await slow).toMatchObject({ status: 503, body: { code: 17, error: expect.stringMatching(/retry/) } });
    expect(await analyze(service, "id = 1")).toMatchObject({ status: 200 });
  });

  test("an idle one is replaced before the next query", async () => {
    const before = await onlyWorker();
    process.kill(before, "SIGKILL");
    expect(await analyze(service, "id = 1")).toMatchObject({ status: 200 });
    expect(await workersOf()).not.toContain(before);
  });
});

test("stopping the service kills a busy worker after the shutdown timeout and leaves no process", async () => {
  const service = await startTestService({ environment: { ...oneAtATime, LAKEHEAD_SHUTDOWN_SECONDS: "0.1" } });
  const slow = analyze(service, slowToRun).catch(() => "connection closed");
  await until(async () => /pool="analyze",state="busy"} 1/.test(await metricsOf(service))).finally(() =>
    service.stop(),
  );
  expect(await slow).toBe("connection closed");
  expect(await workersOf()).toEqual([]);
});

/** Throws rather than returning 0: a signal to process 0 reaches the whole process group, the test runner included. */
const onlyWorker = async (): Promise<number> => {
  const [pid, ...others] = await workersOf();
  if (pid === undefined || others.length > 0) throw new Error("expected exactly one worker process");
  return pid;
};

const metricsOf = async (service: TestService): Promise<string> =>
  (await fetch(`${service.operationsBase}/metrics`)).text();
