import { expect, test } from "vitest";
import { readAhead, windowsOf } from "../../../service/operations/blobs/windows.ts";

const windowBytes = 10;
const slices = [{ rowId: 1n, start: 0, end: 85 }];

/** Reads whose ends the test decides, with so much spare memory. */
const make = (spareBytes: number) => {
  const state = { begun: 0, spare: spareBytes, waiting: [] as (() => void)[], fails: false };
  const stream = readAhead(
    windowsOf(slices, windowBytes),
    async (window) => {
      state.begun++;
      await new Promise<void>((resolve) => state.waiting.push(resolve));
      if (state.fails) throw new Error("the store");
      return Uint8Array.from({ length: windowBytes }, () => window[0]?.start ?? 0);
    },
    {
      take: (bytes) => {
        if (state.spare < bytes) return false;
        state.spare -= bytes;
        return true;
      },
      give: (bytes) => {
        state.spare += bytes;
      },
    },
  );
  const endAll = (): void => {
    for (const end of state.waiting.splice(0)) end();
  };
  const next = async (): Promise<number | undefined> => {
    const reading = stream.next();
    await Promise.resolve();
    endAll();
    const { value } = await reading;
    return value?.[0];
  };
  return { state, stream, next };
};

test.each([0, 10, 1000])("windows come in their order, with %i bytes of spare memory", async (spare) => {
  const { state, next } = make(spare);
  const seen: (number | undefined)[] = [];
  for (let at = await next(); at !== undefined; at = await next()) seen.push(at);
  expect(seen).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80]);
  expect(state.spare).toBe(spare);
});

test("without spare memory, one window is read while one is sent", async () => {
  const { state, next } = make(0);
  expect(await next()).toBe(0);
  expect(state.begun).toBe(2);
  expect(await next()).toBe(10);
  expect(state.begun).toBe(3);
});

test("with spare memory more are read ahead, and a reader that stops gives it back", async () => {
  const { state, stream, next } = make(1000);
  expect(await next()).toBe(0);
  expect(state.begun).toBe(6);
  expect(state.spare).toBe(1000 - 40);
  await stream.return();
  expect(state.spare).toBe(1000);
});

test("a read that fails ends the stream and gives memory back", async () => {
  const { state, next } = make(1000);
  await next();
  state.fails = true;
  await expect(next()).rejects.toThrow("the store");
  expect(state.spare).toBe(1000);
});
