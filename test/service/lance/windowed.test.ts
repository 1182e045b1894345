import { expect, test } from "vitest";
import { Windowed } from "../../../service/lance/windowed.ts";

/** A task that ends when it is told to, and the number of its run as its result. */
const stoppable = () => {
  const ends: ((run: number) => void)[] = [];
  const task = (): Promise<number> => new Promise((resolve) => ends.push(resolve));
  return {
    task,
    started: () => ends.length,
    end: (run: number) => ends[run]?.(run),
  };
};

const never = 2 ** 30;

test("who asks alone has the task started at once", () => {
  const { task, started } = stoppable();
  void new Windowed<number>(never).get("a", task);
  expect(started()).toBe(1);
});

test("who asks while it runs shares the next run, which begins when that one is done", async () => {
  const { task, started, end } = stoppable();
  const windowed = new Windowed<number>(never);
  const first = windowed.get("a", task);
  const others = [windowed.get("a", task), windowed.get("a", task), windowed.get("a", task)];
  expect(started()).toBe(1);
  end(0);
  expect(await first).toBe(0);
  await expect.poll(started).toBe(2);
  end(1);
  expect(await Promise.all(others)).toEqual([1, 1, 1]);
});

test("the next run waits for the window at the most, however long the one before takes", async () => {
  const { task, started, end } = stoppable();
  const windowed = new Windowed<number>(1);
  void windowed.get("a", task);
  const second = windowed.get("a", task);
  await expect.poll(started).toBe(2);
  end(1);
  expect(await second).toBe(1);
});

test("a run that fails fails those who shared it, and nobody after", async () => {
  const windowed = new Windowed<number>(never);
  const failing = () => Promise.reject(new Error("away"));
  const asked = [windowed.get("a", failing), windowed.get("a", failing), windowed.get("b", async () => 3)];
  const [first, second, other] = await Promise.allSettled(asked);
  expect([first?.status, second?.status]).toEqual(["rejected", "rejected"]);
  expect(other).toMatchObject({ value: 3 });
  await expect(windowed.get("a", async () => 4)).resolves.toBe(4);
});
