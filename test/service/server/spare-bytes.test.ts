import { describe, expect, test } from "vitest";
import { ByteBudget, Reservation } from "../../../service/server/byte-budget.ts";

const mebibyte = 2 ** 20;
const client = { signal: new AbortController().signal };

const make = (callerMebibytes: number, totalMebibytes = 2 * callerMebibytes) =>
  new ByteBudget(
    { callerBytes: callerMebibytes * mebibyte, totalBytes: totalMebibytes * mebibyte },
    10_000,
    "responses",
  );

describe("spare bytes", () => {
  test("are taken from what is free, counted, and given back", () => {
    const budget = make(8);
    const { spare } = new Reservation(budget, "a");
    expect(spare.take(6 * mebibyte)).toBe(true);
    expect(spare.take(6 * mebibyte)).toBe(false);
    expect(budget.used).toBe(6 * mebibyte);
    spare.give(6 * mebibyte);
    expect(budget.used).toBe(0);
  });

  test("of all callers are bounded", () => {
    const budget = make(64);
    const [a, b] = ["a", "b"].map((caller) => new Reservation(budget, caller));
    expect(a?.spare.take(12 * mebibyte)).toBe(true);
    expect(b?.spare.take(8 * mebibyte)).toBe(false);
    expect(b?.spare.take(4 * mebibyte)).toBe(true);
  });

  test("are nobody's while a request waits, which gets what is given back", async () => {
    const budget = make(8);
    const first = new Reservation(budget, "a");
    await first.wait(2 * mebibyte, client);
    expect(first.spare.take(4 * mebibyte)).toBe(true);
    const second = new Reservation(budget, "a");
    const waiting = second.wait(4 * mebibyte, client);
    expect(first.spare.take(mebibyte)).toBe(false);
    first.spare.give(4 * mebibyte);
    await waiting;
    expect(budget.used).toBe(6 * mebibyte);
  });

  test("end with their request, and are not given back twice", async () => {
    const budget = make(8);
    const reservation = new Reservation(budget, "a");
    await reservation.wait(2 * mebibyte, client);
    reservation.spare.take(4 * mebibyte);
    reservation.release();
    expect(budget.used).toBe(0);
    reservation.spare.give(4 * mebibyte);
    expect(reservation.spare.take(mebibyte)).toBe(false);
    expect(budget.used).toBe(0);
  });
});
