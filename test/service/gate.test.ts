import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Gate } from "../../service/http/gate.ts";

const deferred = () => {
  let settle: () => void = () => {};
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
};

const config = { concurrency: 1, queue: 1, maxWaitMs: 60_000 };

describe("Gate", () => {
  test("refuses with 503 and Retry-After when the queue is full", async () => {
    const gate = new Gate(config);
    const first = deferred();
    const running = gate.run(() => first.promise);
    const waiting = gate.run(async () => "second");
    await expect(gate.run(async () => "third")).rejects.toMatchObject({
      code: 17,
      status: 503,
      headers: { "retry-after": "1" },
    });
    first.settle();
    await running;
    expect(await waiting).toBe("second");
  });

  test("refuses who waits too long and says why", async () => {
    const refusals: string[] = [];
    const gate = new Gate({ ...config, maxWaitMs: 1 }, (refusal) => refusals.push(refusal));
    const first = deferred();
    const running = gate.run(() => first.promise);
    await expect(gate.run(async () => {})).rejects.toMatchObject({ code: 17 });
    expect(refusals).toEqual(["waited too long"]);
    first.settle();
    await running;
  });

  test("drops who has hung up while waiting, and keeps the place of who runs", async () => {
    const gate = new Gate(config);
    const first = deferred();
    const running = gate.run(() => first.promise);
    const client = new AbortController();
    const waiting = gate.run(async () => {}, client.signal);
    client.abort();
    await expect(waiting).rejects.toMatchObject({ code: 17 });
    expect(gate).toMatchObject({ running: 1, waiting: 0 });
    first.settle();
    await running;
    expect(gate.running).toBe(0);
  });

  test("a failed call frees its place", async () => {
    const gate = new Gate(config);
    await expect(gate.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(gate.running).toBe(0);
  });

  test("never runs more than it may, never loses a place, serves in order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 40 }),
        async (concurrency, calls) => {
          const gate = new Gate({ concurrency, queue: 100, maxWaitMs: 60_000 });
          let running = 0;
          const started: number[] = [];
          const all = calls.map((fails, index) =>
            gate.run(async () => {
              started.push(index);
              expect(++running).toBeLessThanOrEqual(concurrency);
              await new Promise(setImmediate);
              running--;
              if (fails) throw new Error("no");
            }),
          );
          await Promise.allSettled(all);
          expect(started).toEqual(calls.map((_, index) => index));
          expect(gate).toMatchObject({ running: 0, waiting: 0 });
        },
      ),
      { numRuns: 50 },
    );
  });
});
