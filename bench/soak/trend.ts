import { family, residentBytesOf } from "../processes.ts";

/** Resident memory of a service at one moment: of its main process, and with its workers. */
export interface Memory {
  readonly mainBytes: number;
  readonly allBytes: number;
}

export const memoryOf = (pid: number): Memory => {
  const usages = family(pid);
  return { mainBytes: residentBytesOf(usages.slice(0, 1)), allBytes: residentBytesOf(usages) };
};

/** Slope of the least-squares line through the points. */
export const slope = (points: readonly (readonly [x: number, y: number])[]): number => {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(([value]) => value));
  const y = mean(points.map(([, value]) => value));
  const above = points.reduce((sum, [px, py]) => sum + (px - x) * (py - y), 0);
  return above / points.reduce((sum, [px]) => sum + (px - x) ** 2, 0);
};

const mebibyte = 2 ** 20;

/** Growth in MiB for each unit of `over`. */
export const growth = <S extends Memory>(
  samples: readonly S[],
  of: keyof Memory,
  over: (sample: S) => number,
): string => signed(slope(samples.map((sample) => [over(sample), sample[of] / mebibyte])));

export const signed = (value: number): string => `${value >= 0 ? "+" : ""}${value.toFixed(1)} MiB`;
