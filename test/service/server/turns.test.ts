import { describe, expect, test } from "vitest";
import { Turns } from "../../../service/server/turns.ts";

/** Longer than a turn of the event loop may be. */
const busyMs = 8;

const work = (): void => {
  const until = performance.now() + busyMs;
  while (performance.now() < until);
};

/** Steps in the order in which they ran, all of them begun in one turn of the event loop. */
const orderOf = async (callers: readonly string[], step: () => void): Promise<readonly string[]> => {
  const turns = new Turns();
  const order: string[] = [];
  await Promise.all(
    callers.map(async (caller) => {
      await turns.run(caller, () => {
        step();
        order.push(caller);
      });
    }),
  );
  return order;
};

describe("turns", () => {
  test("work that fails rejects its caller, and others go on", async () => {
    const turns = new Turns();
    const failing = (): never => {
      work();
      throw new Error("failed");
    };
    const results = await Promise.allSettled([
      turns.run("a", failing),
      turns.run("a", failing),
      turns.run("b", () => 1),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  });

  test("short steps go on at once, in the order of arrival", async () => {
    const turns = new Turns();
    let next = false;
    setImmediate(() => {
      next = true;
    });
    for (let step = 0; step < 100; step++) await turns.run("a", () => step);
    expect(next).toBe(false);
  });

  test("a caller waits for one long step of a caller with many", async () => {
    const order = await orderOf([...Array<string>(20).fill("a"), "b"], work);
    expect(order).toHaveLength(21);
    expect(order.indexOf("b")).toBeLessThan(4);
  });

  test("callers take turns, and a caller's steps keep their order", async () => {
    const turns = new Turns();
    const order: string[] = [];
    const run = (caller: string, index: number): Promise<number> =>
      turns.run(caller, () => {
        work();
        return order.push(`${caller}${index}`);
      });
    await Promise.all([..."aaaabb"].map((caller, index) => run(caller, index)));
    expect(order).toEqual(["a0", "a1", "b4", "a2", "b5", "a3"]);
  });

  test("other events are handled between two long steps", async () => {
    const turns = new Turns();
    let timers = 0;
    const timer = setInterval(() => timers++, 1);
    for (let step = 0; step < 10; step++) {
      await turns.run("a", work);
    }
    clearInterval(timer);
    expect(timers).toBeGreaterThan(4);
  });
});
