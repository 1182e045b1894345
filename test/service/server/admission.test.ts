import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Authenticator, compileTablePatterns, scopes } from "../../../service/auth/index.ts";
import { readConfig } from "../../../service/config/config.ts";
import { Guard } from "../../../service/guard/guard.ts";
import { requestLimits } from "../../../service/guard/limits.ts";
import type { Database } from "../../../service/lance/database.ts";
import { readOperations } from "../../../service/operations/index.ts";
import type { Tools } from "../../../service/operations/operation.ts";
import { AdmissionLimit } from "../../../service/server/admission.ts";
import { ByteBudget } from "../../../service/server/byte-budget.ts";
import { createEntry } from "../../../service/server/entry.ts";
import { type Listener, listen } from "../../../service/server/listener.ts";
import { PrincipalLimit } from "../../../service/server/principal-limit.ts";
import { Turns } from "../../../service/server/turns.ts";
import { createLog } from "../../../service/telemetry/log.ts";
import { createMetrics } from "../../../service/telemetry/metrics.ts";
import { staticToken } from "../../support/static-token.ts";

const deferred = () => {
  let settle: () => void = () => {};
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
};

const config = { concurrency: 1, queue: 1, maxWaitMs: 60_000 };

describe("an admission limit", () => {
  test("refuses with 503 and Retry-After when the queue is full", async () => {
    const limit = new AdmissionLimit(config);
    const first = deferred();
    const running = limit.run(() => first.promise);
    const waiting = limit.run(async () => "second");
    await expect(limit.run(async () => "third")).rejects.toMatchObject({
      code: 17,
      status: 503,
      headers: { "retry-after": "1" },
    });
    first.settle();
    await running;
    expect(await waiting).toBe("second");
  });

  test("refuses a call that waits too long and reports the reason", async () => {
    const refusals: string[] = [];
    const limit = new AdmissionLimit({ ...config, maxWaitMs: 1 }, (refusal) => refusals.push(refusal));
    const first = deferred();
    const running = limit.run(() => first.promise);
    await expect(limit.run(async () => {})).rejects.toMatchObject({ code: 17 });
    expect(refusals).toEqual(["waited too long"]);
    first.settle();
    await running;
  });

  test("drops a waiting call whose client disconnects, and still counts the running one", async () => {
    const limit = new AdmissionLimit(config);
    const first = deferred();
    const running = limit.run(() => first.promise);
    const client = new AbortController();
    const waiting = limit.run(async () => {}, { client });
    client.abort();
    await expect(waiting).rejects.toMatchObject({ code: 17 });
    expect(limit).toMatchObject({ running: 1, waiting: 0 });
    first.settle();
    await running;
    expect(limit.running).toBe(0);
  });

  test("stops counting a call that fails", async () => {
    const limit = new AdmissionLimit(config);
    await expect(limit.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(limit.running).toBe(0);
  });

  describe("of calls that take long", () => {
    const long = { concurrency: 3, queue: 10, maxWaitMs: 60_000, long: true } as const;
    const open = (isAlone = false) => new AdmissionLimit(long, undefined, () => isAlone);

    test("runs as many of a caller as it leaves free, even if the caller is alone", async () => {
      const limit = open(true);
      const held = deferred();
      const calls = Array.from({ length: 3 }, () => limit.run(() => held.promise, { caller: "many" }));
      expect(limit).toMatchObject({ running: 2, waiting: 1 });
      expect(await limit.run(async () => "other", { caller: "other" })).toBe("other");
      expect(await limit.run(async () => "soon", { caller: "third", endsSoon: true })).toBe("soon");
      held.settle();
      await Promise.all(calls);
    });

    test.each([
      [true, 3],
      [false, 2],
    ])("runs calls that end soon beside them if their caller is alone (%s)", async (isAlone, running) => {
      const limit = open(isAlone);
      const held = deferred();
      const calls = Array.from({ length: 3 }, () => limit.run(() => held.promise, { caller: "a", endsSoon: true }));
      expect(limit.running).toBe(running);
      held.settle();
      await Promise.all(calls);
    });

    /** Calls that run until they should end, and which of them should. */
    const runLong = (limit: AdmissionLimit, ...callers: readonly string[]) => {
      const ended: string[] = [];
      const calls = callers.map((caller) => {
        const client = new AbortController();
        const settled = limit.run(
          (stop) =>
            new Promise<void>((resolve) => {
              stop?.addEventListener("abort", () => {
                ended.push(caller);
                resolve();
              });
            }),
          { caller, client },
        );
        return { leave: () => client.abort(), settled };
      });
      return { ended, calls };
    };

    test("ends one whose client has left when another call waits, and none before that or besides", async () => {
      const limit = open();
      const { ended, calls } = runLong(limit, "a", "a", "b");
      for (const { leave } of calls) leave();
      expect([limit.running, ended]).toEqual([3, []]);
      expect(await limit.run(async () => "waited", { caller: "c" })).toBe("waited");
      expect(ended).toHaveLength(1);
      expect(limit.running).toBe(2);
    });

    test("ends one when its client leaves while another call waits, and not one whose client is there", async () => {
      const limit = open();
      const { ended, calls } = runLong(limit, "a", "a", "b");
      const waiting = limit.run(async () => "waited", { caller: "c" });
      expect([limit.waiting, ended]).toEqual([1, []]);
      calls[2]?.leave();
      expect(await waiting).toBe("waited");
      expect(ended).toEqual(["b"]);
    });

    test("ends a caller's own first, and another's only if the caller then has a share of it", async () => {
      const limit = open();
      const { ended, calls } = runLong(limit, "a", "a", "b");
      calls[2]?.leave();
      const waiting = limit.run(async () => "waited", { caller: "a" });
      expect(ended).toEqual([]);
      // Without both, the caller runs as many as it leaves free.
      calls[0]?.leave();
      expect(await waiting).toBe("waited");
      expect(ended).toEqual(["a", "b"]);
    });
  });

  test("gives callers turns, whatever the length of their queues", async () => {
    const limit = new AdmissionLimit({ ...config, queue: 10 });
    const first = deferred();
    const served: string[] = [];
    const send = (caller: string) => limit.run(async () => void served.push(caller), { caller });
    const running = limit.run(() => first.promise, { caller: "many" });
    const waiting = ["many", "many", "many", "few", "few", "one"].map(send);
    first.settle();
    await Promise.all([running, ...waiting]);
    expect(served).toEqual(["many", "few", "one", "many", "few", "many"]);
    expect(limit).toMatchObject({ running: 0, waiting: 0 });
  });

  test("evicts calls of the caller that fills the queue when another caller arrives", async () => {
    const limit = new AdmissionLimit({ ...config, queue: 4 });
    const first = deferred();
    const send = (caller: string) => limit.run(async () => caller, { caller }).catch(({ code }) => code);
    const running = limit.run(() => first.promise, { caller: "burst" });
    const burst = Array.from({ length: 6 }, () => send("burst"));
    const others = ["other", "other", "other", "third"].map(send);
    expect(limit.waiting).toBe(4);
    first.settle();
    await running;
    expect(await Promise.all(burst)).toEqual(["burst", 17, 17, 17, 17, 17]);
    expect(await Promise.all(others)).toEqual(["other", "other", 17, "third"]);
  });

  describe("with a share for each caller", () => {
    const shared = { ...config, concurrency: 4, queue: 10, share: 2 };
    const hold = (limit: AdmissionLimit, caller: string) => {
      const { promise, settle } = deferred();
      let started = false;
      const ended = limit.run(
        () => {
          started = true;
          return promise;
        },
        { caller },
      );
      return { settle, ended, started: () => started };
    };

    test("runs no more calls of one caller while others are active, and calls of others at once", async () => {
      const limit = new AdmissionLimit(
        shared,
        () => {},
        () => false,
      );
      const burst = [hold(limit, "burst"), hold(limit, "burst"), hold(limit, "burst"), hold(limit, "burst")];
      expect(burst.map(({ started }) => started())).toEqual([true, true, false, false]);
      const other = hold(limit, "other");
      expect(other.started()).toBe(true);
      expect(limit).toMatchObject({ running: 3, waiting: 2 });
      other.settle();
      await other.ended;
      expect(burst.map(({ started }) => started())).toEqual([true, true, false, false]);
      burst[0]?.settle();
      await burst[0]?.ended;
      await Promise.resolve();
      expect(burst.map(({ started }) => started())).toEqual([true, true, true, false]);
      for (const { settle } of burst) settle();
      await Promise.all(burst.map(({ ended }) => ended));
      expect(limit).toMatchObject({ running: 0, waiting: 0 });
    });

    test("runs all calls of a caller that is alone", async () => {
      const limit = new AdmissionLimit(shared);
      const calls = [hold(limit, "one"), hold(limit, "one"), hold(limit, "one"), hold(limit, "one")];
      expect(calls.map(({ started }) => started())).toEqual([true, true, true, true]);
      for (const { settle } of calls) settle();
      await Promise.all(calls.map(({ ended }) => ended));
    });

    test("runs the calls that waited for their share when the others are no longer active", async () => {
      let alone = false;
      const limit = new AdmissionLimit(
        shared,
        () => {},
        () => alone,
      );
      const calls = [hold(limit, "one"), hold(limit, "one"), hold(limit, "one"), hold(limit, "one")];
      alone = true;
      calls[0]?.settle();
      await calls[0]?.ended;
      await Promise.resolve();
      expect(calls.map(({ started }) => started())).toEqual([true, true, true, true]);
      for (const { settle } of calls) settle();
      await Promise.all(calls.map(({ ended }) => ended));
    });

    test("keeps concurrency and shares, and serves every call", async () => {
      const callers = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(
          callers,
          fc.integer({ min: 1, max: 4 }),
          fc.integer({ min: 1, max: 3 }),
          async (sent, concurrency, share) => {
            const limit = new AdmissionLimit(
              { concurrency, share, queue: 100, maxWaitMs: 60_000 },
              () => {},
              () => false,
            );
            const running = new Map<string, number>();
            const served = sent.map((caller) =>
              limit.run(
                async () => {
                  running.set(caller, (running.get(caller) ?? 0) + 1);
                  expect(running.get(caller)).toBeLessThanOrEqual(share);
                  expect(limit.running).toBeLessThanOrEqual(concurrency);
                  await new Promise(setImmediate);
                  running.set(caller, (running.get(caller) ?? 0) - 1);
                  return caller;
                },
                { caller },
              ),
            );
            expect(await Promise.all(served)).toEqual(sent);
            expect(limit).toMatchObject({ running: 0, waiting: 0 });
          },
        ),
        { numRuns: 50 },
      );
    });
  });

  test("keeps its concurrency, counts every call once and serves in order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 40 }),
        async (concurrency, calls) => {
          const limit = new AdmissionLimit({ concurrency, queue: 100, maxWaitMs: 60_000 });
          let running = 0;
          const started: number[] = [];
          const all = calls.map((fails, index) =>
            limit.run(async () => {
              started.push(index);
              expect(++running).toBeLessThanOrEqual(concurrency);
              await new Promise(setImmediate);
              running--;
              if (fails) throw new Error("no");
            }),
          );
          await Promise.allSettled(all);
          expect(started).toEqual(calls.map((_, index) => index));
          expect(limit).toMatchObject({ running: 0, waiting: 0 });
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("a principal", () => {
  const call = (limit: PrincipalLimit, principal: string) => limit.run(principal, async () => {});

  test("is alone until another one calls, and again 10 seconds after that one's last call", async () => {
    vi.useFakeTimers();
    try {
      const limit = new PrincipalLimit(10);
      await call(limit, "a");
      await call(limit, "a");
      expect(limit.isAlone("a")).toBe(true);
      await call(limit, "b");
      expect([limit.isAlone("a"), limit.isAlone("b")]).toEqual([false, false]);
      vi.advanceTimersByTime(9_000);
      await call(limit, "a");
      await call(limit, "a");
      expect([limit.isAlone("a"), limit.isAlone("b"), limit.isAlone("c")]).toEqual([false, false, false]);
      vi.advanceTimersByTime(1_001);
      expect([limit.isAlone("a"), limit.isAlone("b")]).toEqual([true, false]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("is not alone while a call of another one runs, however long that takes", async () => {
    vi.useFakeTimers();
    try {
      const limit = new PrincipalLimit(10);
      const slow = deferred();
      const running = limit.run("b", () => slow.promise);
      await call(limit, "a");
      vi.advanceTimersByTime(60_000);
      expect([limit.isAlone("a"), limit.isAlone("b")]).toEqual([false, true]);
      slow.settle();
      await running;
      expect(limit.isAlone("a")).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ["40", undefined, 3],
    ["16", undefined, 1],
    ["1", undefined, 1],
    ["64", "all", undefined],
  ])("has a share of %s plans in the main process (isolation %s): %s", (concurrency, isolation, share) => {
    const { admission } = readConfig({
      LAKEHEAD_DATABASE: "nowhere",
      LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([staticToken("ci", "token")]),
      LAKEHEAD_PLAN_CONCURRENCY: concurrency,
      ...(isolation === undefined ? {} : { LAKEHEAD_ISOLATION: isolation }),
    });
    expect(admission.plan.share).toBe(share);
    expect(admission.metadata.share).toBeUndefined();
  });
});

describe("an operation", () => {
  const { limits } = readConfig({
    LAKEHEAD_DATABASE: "nowhere",
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([staticToken("ci", "token")]),
  });

  /** Two callers with the same subject: `Bearer jwt` and `Bearer static-token`. */
  const authenticator: Authenticator = {
    authenticate: async ({ bearer }) => ({
      subject: "ci",
      method: bearer === "jwt" ? "jwt" : "static-token",
      scopes: new Set(scopes),
      tables: compileTablePatterns(["**"]),
    }),
    ready: () => true,
    close() {},
  };

  const listeners: Listener[] = [];
  afterEach(() => Promise.all(listeners.splice(0).map((listener) => listener.close(0))));

  const serve = async (database: Partial<Database>, { max = 10, deadlineSeconds = 1 } = {}) => {
    const open = () => new AdmissionLimit({ ...config, queue: 0 });
    const metadata = new AdmissionLimit({ ...config, concurrency: 10 });
    const admission = { analyze: open(), plan: open(), metadata, write: open(), append: open() };
    const budget = () => new ByteBudget({ totalBytes: 2 ** 20, callerBytes: 2 ** 20 }, 100, "bytes");
    const entry = createEntry({
      operations: readOperations,
      tools: { database, deadlineSeconds, guard: new Guard(requestLimits(limits)) } as unknown as Tools,
      authenticator,
      limits,
      admission,
      principalLimit: new PrincipalLimit(max),
      turns: new Turns(),
      budgets: { responses: budget(), bodies: budget() },
      maxResponseBytes: 2 ** 20,
      log: createLog("error", { write() {} }),
      metrics: createMetrics("0.0.0-test"),
      onStoreFailure() {},
      pages() {},
    });
    const listener = await listen(entry, 0, "127.0.0.1");
    listeners.push(listener);
    const base = `http://127.0.0.1:${listener.port}`;
    const post = async (path: string, body: object = {}, bearer = "jwt") => {
      const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
      return fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
    };
    const get = async (path: string) => fetch(base + path, { headers: { authorization: "Bearer jwt" } });
    return { admission, post, get };
  };

  const described = { version: 1, schema: { fields: [] } };

  test("is admitted in the class that its body and its parameters call for", async () => {
    const { admission, post } = await serve({ describe: async () => described, versions: async () => [] });
    const first = deferred();
    const running = admission.analyze.run(() => first.promise);
    const describe = "/v1/table/docs/describe";
    const status = async (query: string, body: object) => (await post(describe + query, body)).status;
    expect(await status("", {})).toBe(200);
    expect(await status("", { load_detailed_metadata: true })).toBe(503);
    expect(await status("?load_detailed_metadata=true", {})).toBe(503);
    expect(await status("?load_detailed_metadata=false", { load_detailed_metadata: true })).toBe(200);
    first.settle();
    await running;
    expect(await status("?load_detailed_metadata=true", {})).toBe(200);
  });

  test("counts callers with the same subject but different authentication methods apart", async () => {
    const first = deferred();
    const describe = async () => first.promise.then(() => described);
    const { post } = await serve({ describe }, { max: 1 });
    const answers = ["jwt", "static-token", "jwt"].map((bearer) => post("/v1/table/docs/describe", {}, bearer));
    expect((await answers[2])?.status).toBe(429);
    first.settle();
    expect([(await answers[0])?.status, (await answers[1])?.status]).toEqual([200, 200]);
  });

  test("that would never end fails at its deadline and stops counting", async () => {
    // Each namespace contains another one.
    const endless = { tables: async () => [], namespaces: async () => ["deeper"] };
    const { admission, get } = await serve(endless, { deadlineSeconds: 0.01 });
    const answer = await get("/v1/table");
    expect(await answer.json()).toMatchObject({ code: 17, error: expect.stringContaining("one namespace at a time") });
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(admission.analyze.running).toBe(0);
  });
});
