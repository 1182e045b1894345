import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Memoizer, type MemoizerOptions } from "../../../service/lance/memoizer.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const forever = Number.POSITIVE_INFINITY;

/** A memoizer, and a load that ends on demand and returns its own number. */
const start = (options: Partial<MemoizerOptions> = {}) => {
  const memoizer = new Memoizer<string, number>({ max: 2, ttlMs: forever, ...options });
  const ends: ((result: number) => void)[] = [];
  return {
    memoizer,
    load: (): Promise<number> => new Promise((resolve) => ends.push(resolve)),
    started: () => ends.length,
    end: (load: number) => ends[load]?.(load),
  };
};

const loaded = (result: number) => async (): Promise<number> => result;
const fail = () => Promise.reject(new Error("unavailable"));

describe("get", () => {
  test("rejects every caller of a failed load and loads again afterwards", async () => {
    const { memoizer } = start();
    const calls = await Promise.allSettled([memoizer.get("a", fail), memoizer.get("a", fail)]);
    expect(calls.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(memoizer.counts).toMatchObject({ kept: 0, misses: 1 });
    expect(await memoizer.get("a", loaded(4))).toBe(4);
  });

  test("shares one load among concurrent callers and keeps its result", async () => {
    const { memoizer, load, end, started } = start();
    const calls = [memoizer.get("a", load), memoizer.get("a", load)];
    end(0);
    expect(await Promise.all([...calls, memoizer.get("a", load)])).toEqual([0, 0, 0]);
    expect(started()).toBe(1);
    expect(memoizer.counts).toMatchObject({ kept: 1, hits: 2, misses: 1 });
  });

  test("loads again when the time to live has passed, and counts the expired result", async () => {
    const { memoizer } = start({ ttlMs: 100 });
    await memoizer.get("a", loaded(1));
    await memoizer.get("b", loaded(1), { ttlMs: 300 });
    vi.advanceTimersByTime(99);
    expect(await memoizer.get("a", loaded(2))).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await memoizer.get("a", loaded(3))).toBe(3);
    expect(await memoizer.get("b", loaded(3))).toBe(1);
    expect(memoizer.counts.evictions).toEqual({ full: 0, expired: 1, gone: 0 });
  });

  test.each([
    [false, 2],
    [true, 1],
  ])("during a load that is slower than the time to live, with joinSlowLoads %s: %i loads", (joinSlowLoads, loads) => {
    const { memoizer, load, started } = start({ ttlMs: 100, joinSlowLoads });
    void memoizer.get("a", load);
    vi.advanceTimersByTime(100);
    void memoizer.get("a", load);
    expect(started()).toBe(loads);
  });

  test("loads again for another stamp", async () => {
    const { memoizer } = start();
    await memoizer.get("a", loaded(1), { stamp: 7 });
    expect(await memoizer.get("a", loaded(2), { stamp: 7 })).toBe(1);
    expect(await memoizer.get("a", loaded(3), { stamp: 8 })).toBe(3);
  });

  test("evicts the least recently used result when it is full, and the matching ones on demand", async () => {
    const { memoizer } = start();
    for (const key of ["a", "b", "a", "c"]) await memoizer.get(key, loaded(1));
    memoizer.evict((key) => key === "a" || key === "absent");
    expect(memoizer.counts).toMatchObject({ kept: 1, evictions: { full: 1, expired: 0, gone: 1 } });
    expect(await memoizer.get("b", loaded(2))).toBe(2);
  });
});

test("known returns a value only once it is loaded, and until it expires", async () => {
  const { memoizer, load, end } = start({ ttlMs: 100 });
  const loading = memoizer.get("a", load);
  expect(memoizer.known("a")).toBeUndefined();
  end(0);
  await loading;
  expect(memoizer.known("a")).toBe(0);
  vi.advanceTimersByTime(100);
  expect(memoizer.known("a")).toBeUndefined();
});

test("without a maximum, results belong to their key objects", async () => {
  const memoizer = new Memoizer<object, number>({ ttlMs: forever });
  const key = {};
  await memoizer.get(key, loaded(1));
  expect([memoizer.known(key), memoizer.known({})]).toEqual([1, undefined]);
});

describe("renew", () => {
  test("starts a load at once if none is in flight, whatever is kept", async () => {
    const { memoizer } = start();
    await memoizer.get("a", loaded(1));
    expect(await memoizer.renew("a", loaded(2))).toBe(2);
    expect(await memoizer.get("a", loaded(3))).toBe(2);
  });

  test("during a load, starts one more for all callers when the first ends", async () => {
    const { memoizer, load, started, end } = start();
    const first = memoizer.renew("a", load);
    const others = [memoizer.renew("a", load), memoizer.renew("a", load)];
    expect(started()).toBe(1);
    end(0);
    expect(await first).toBe(0);
    await vi.waitFor(() => expect(started()).toBe(2));
    end(1);
    expect(await Promise.all(others)).toEqual([1, 1]);
  });

  test("during a load that is slower than the window, starts the next one when the window has passed", async () => {
    const { memoizer, load, started, end } = start();
    void memoizer.renew("a", load);
    const second = memoizer.renew("a", load);
    await vi.advanceTimersByTimeAsync(1);
    expect(started()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(started()).toBe(2);
    end(1);
    expect(await second).toBe(1);
  });

  test("rejects the callers of a failed load, and neither those of other keys nor later ones", async () => {
    const { memoizer } = start();
    const calls = [memoizer.renew("a", fail), memoizer.renew("a", fail), memoizer.renew("b", loaded(3))];
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect(await memoizer.renew("a", loaded(4))).toBe(4);
  });

  test("with a time to live of 0, keeps no result", async () => {
    const { memoizer } = start({ ttlMs: 0 });
    expect(await memoizer.renew("a", loaded(1))).toBe(1);
    expect(memoizer.counts.kept).toBe(0);
  });
});
