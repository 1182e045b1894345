import fc from "fast-check";
import { expect, test } from "vitest";
import { type Holding, SharedBytes } from "../../../service/server/shared-bytes.ts";

const limit = 1000;

test("whatever callers hold, the next one finds room, and no byte is lost", () => {
  const step = fc.record({ caller: fc.nat(4), bytes: fc.integer({ min: 1, max: 400 }), release: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 200 }), (steps) => {
      const shared = new SharedBytes(limit);
      const holdings: { readonly caller: number; readonly holding: Holding }[] = [];
      const heldBy = (caller: number): number =>
        holdings.reduce((sum, each) => sum + (each.caller === caller ? each.holding.bytes : 0), 0);
      for (const { caller, bytes, release } of steps) {
        if (release) holdings.shift()?.holding.release();
        const free = limit - shared.held;
        const holding = shared.open(String(caller));
        const fits = heldBy(caller) + bytes <= free - bytes;
        expect(holding.take(bytes)).toBe(fits);
        holdings.push({ caller, holding });
        expect(shared.held).toBe(holdings.reduce((sum, each) => sum + each.holding.bytes, 0));
        const another = shared.open("another");
        expect(another.take(Math.floor((limit - shared.held) / 2))).toBe(true);
        another.release();
      }
      for (const { holding } of [...holdings, ...holdings]) holding.release();
      expect(shared.held).toBe(0);
      expect(shared.open("last").take(limit / 2)).toBe(true);
    }),
  );
});
