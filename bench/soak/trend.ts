/** Memory at one moment. */
export interface Sample {
  /** Seconds since the beginning. */
  readonly at: number;
  /** Requests answered by then. */
  readonly requests: number;
  readonly mainBytes: number;
  readonly allBytes: number;
}

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
export const growth = (
  samples: readonly Sample[],
  of: "mainBytes" | "allBytes",
  over: (sample: Sample) => number,
): number => slope(samples.map((sample) => [over(sample), sample[of] / mebibyte]));
