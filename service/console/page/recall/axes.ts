import type { Point } from "./recall.ts";

/** Round limits and steps of an axis from 0 to at least `max`. */
export const ticksOf = (max: number, count = 5): readonly number[] => {
  const raw = Math.max(max, Number.MIN_VALUE) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power;
  const last = Math.ceil(max / step - 1e-9);
  return Array.from({ length: last + 1 }, (_, index) => Number((index * step).toPrecision(12)));
};

/** The axis of recall begins below the lowest point, at a multiple of 0.1. */
export const lowestRecall = (points: readonly Point[]): number =>
  Math.max(0, Math.min(0.9, Math.floor(Math.min(...points.map(({ recall }) => recall)) * 10) / 10));

export const isSame = (point: Point, other: Point | undefined): boolean =>
  point.nprobes === other?.nprobes && point.refineFactor === other.refineFactor;
