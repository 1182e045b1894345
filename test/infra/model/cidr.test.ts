import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatCidr, overlappingPairs, overlaps, parseCidr } from "../../../infra/model/cidr.ts";
import { contains, network } from "../support/networks.ts";

describe("networks as text", () => {
  test.each([
    "10.0.0.0",
    "10.0.0.1/16",
    "10.0.0.256/32",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "fd00::/8",
    "010.0.0/8",
    "",
    " 10.0.0.0/8",
  ])("%j is no network", (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  test("formatting and parsing a network returns the same network", () => {
    fc.assert(
      fc.property(network({ min: 0, max: 32 }), (some) => {
        expect(parseCidr(formatCidr(some))).toEqual(some);
      }),
    );
  });

  test("two networks overlap only if one contains the other", () => {
    fc.assert(
      fc.property(network({ min: 4, max: 12 }), network({ min: 4, max: 12 }), (a, b) => {
        expect(overlaps(a, b)).toBe(contains(a, b) || contains(b, a));
        expect(overlaps(a, b)).toBe(overlaps(b, a));
      }),
    );
  });

  test("each overlapping pair is listed once", () => {
    expect(overlappingPairs({ x: "10.0.0.0/8", y: "10.1.0.0/16", z: "192.168.0.0/16", bad: "?" })).toEqual([
      ["x", "y"],
    ]);
  });
});
