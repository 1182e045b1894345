import { describe, expect, test } from "vitest";
import type { Cell } from "../../../service/console/page/cell.ts";
import { groupsOf } from "../../../service/console/page/map/groups.ts";
import { principalAxes, project } from "../../../service/console/page/map/pca.ts";
import { partsOf } from "../../../service/console/page/map/sample.ts";

/** Rows whose spread is known: 9 in one direction, 1 in another, both oblique. */
const rows = (count: number, dimensions: number): { values: Float32Array; first: number[]; second: number[] } => {
  const first = Array.from({ length: dimensions }, (_, at) => (at % 2 === 0 ? 1 : 0) / Math.sqrt(dimensions / 2));
  const second = Array.from({ length: dimensions }, (_, at) => (at % 2 === 1 ? 1 : 0) / Math.sqrt(dimensions / 2));
  const values = Float32Array.from({ length: count * dimensions }, (_, place) => {
    const [row, at] = [Math.floor(place / dimensions), place % dimensions];
    return 5 + 9 * Math.sin(row * 12.9898) * (first[at] ?? 0) + Math.cos(row * 78.233) * (second[at] ?? 0);
  });
  return { values, first, second };
};

describe("the two principal components", () => {
  test("are the directions of the largest spread, with their parts of the variance", async () => {
    const { values, first, second } = rows(2000, 32);
    const { axes, shares, mean } = await principalAxes({ values, dimensions: 32 });
    const cosine = (axis: Float64Array, wanted: number[]): number =>
      Math.abs(axis.reduce((sum, value, at) => sum + value * (wanted[at] ?? 0), 0));
    expect(cosine(axes[0], first)).toBeGreaterThan(0.999);
    expect(cosine(axes[1], second)).toBeGreaterThan(0.999);
    expect(shares[0]).toBeCloseTo(81 / 82, 2);
    expect(shares[0] + shares[1]).toBeCloseTo(1, 3);
    const [x, y] = project({ mean, axes, shares }, mean);
    expect([x, y].map(Math.abs)).toEqual([0, 0]);
  });

  test("of equal rows are points in one place, and of one row no error", async () => {
    const { axes, shares } = await principalAxes({ values: new Float32Array(40).fill(3), dimensions: 4 });
    expect(shares).toEqual([0, 0]);
    expect([...axes[0], ...axes[1]].every(Number.isFinite)).toBe(true);
    expect((await principalAxes({ values: new Float32Array([1, 2]), dimensions: 2 })).shares).toEqual([0, 0]);
  });
});

const cell = (value: string | number | null): Cell =>
  value === null
    ? { kind: "null", text: "null" }
    : { kind: typeof value === "number" ? "number" : "text", text: String(value) };

describe("colours of points", () => {
  test("are of the most frequent values, and one for all others", () => {
    const { groups, of } = groupsOf(["a", "a", "b", "c", "d", "e", "f", "g", null].map(cell));
    expect(groups.map(({ name, count }) => [name, count])).toEqual([
      ["a", 2],
      ["b", 1],
      ["c", 1],
      ["d", 1],
      ["e", 1],
      ["3 other values", 3],
    ]);
    expect(of).toEqual([0, 0, 1, 2, 3, 4, 5, 5, 5]);
  });

  test("are ranges of many numbers, and one for rows without", () => {
    const { groups, of } = groupsOf([...Array.from({ length: 100 }, (_, at) => at), null].map(cell));
    expect(groups.map(({ name, count }) => [name, count])).toEqual([
      ["0 to below 20", 20],
      ["20 to below 40", 20],
      ["40 to below 60", 20],
      ["60 to below 80", 20],
      ["80 to 99", 20],
      ["none", 1],
    ]);
    expect([of[0], of[20], of[99], of[100]]).toEqual([0, 1, 4, 5]);
  });
});

describe("the rows that a map reads", () => {
  test("are all of a small table, and parts of a large one from begin to end", () => {
    expect(partsOf(700, 32)).toEqual([
      { offset: 0, k: 500 },
      { offset: 500, k: 200 },
    ]);
    const parts = partsOf(1_000_000, 32);
    expect([parts.length, parts.reduce((sum, { k }) => sum + k, 0), parts.at(-1)?.offset]).toEqual([10, 5000, 900_000]);
  });

  test("are fewer of long vectors: 16 MiB in all, 2 MiB in a response", () => {
    const parts = partsOf(1_000_000, 4096);
    expect([parts[0]?.k, parts.reduce((sum, { k }) => sum + k, 0)]).toEqual([128, 1024]);
  });
});
