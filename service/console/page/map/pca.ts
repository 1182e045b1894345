/** Vectors of one length, one after the other. */
export interface Matrix {
  readonly values: Float32Array;
  readonly dimensions: number;
}

/** Two directions of the largest variance, around the mean. */
export interface Projection {
  readonly mean: Float64Array;
  readonly axes: readonly [Float64Array, Float64Array];
  /** The part of the variance that each axis has, 0 to 1. */
  readonly shares: readonly [number, number];
}

export type Point = readonly [x: number, y: number];

/** Milliseconds of work after which the page draws and takes input: its policy allows no worker. */
const turn = 12;

/** Calls back with each row, and gives way to the page now and then. */
const eachRow = async ({ values, dimensions }: Matrix, visit: (row: Float32Array) => void): Promise<void> => {
  let since = performance.now();
  for (let at = 0; at < values.length; at += dimensions) {
    visit(values.subarray(at, at + dimensions));
    if (at % (64 * dimensions) !== 0 || performance.now() - since < turn) continue;
    await new Promise((resolve) => setTimeout(resolve));
    since = performance.now();
  }
};

/** The dot product of a row, less the mean, and a direction. */
const along = (row: ArrayLike<number>, mean: Float64Array, axis: Float64Array): number => {
  let sum = 0;
  for (let at = 0; at < axis.length; at++) sum += ((row[at] ?? 0) - (mean[at] ?? 0)) * (axis[at] ?? 0);
  return sum;
};

const lengthOf = (vector: Float64Array): number => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));

const normalized = (vector: Float64Array): Float64Array => {
  const length = lengthOf(vector);
  return length === 0 ? vector : vector.map((value) => value / length);
};

/** Without the part that another direction has. */
const without = (vector: Float64Array, axis: Float64Array): Float64Array => {
  const part = vector.reduce((sum, value, at) => sum + value * (axis[at] ?? 0), 0);
  return vector.map((value, at) => value - part * (axis[at] ?? 0));
};

/** Fixed, so that a map is the same each time; no direction of it is likely to be special. */
const start = (dimensions: number, step: number): Float64Array =>
  normalized(Float64Array.from({ length: dimensions }, (_, at) => Math.sin((at + 1) * step)));

/** The largest number of an axis is positive: otherwise a map could be its mirror image the next time. */
const upright = (axis: Float64Array): Float64Array => {
  const largest = axis.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  return largest < 0 ? axis.map((value) => -value) : axis;
};

const maxRounds = 60;
const tolerance = 1e-5;

/** Principal components by orthogonal iteration: each round multiplies two directions by the covariance. */
export const principalAxes = async (matrix: Matrix, signal?: AbortSignal): Promise<Projection> => {
  const { dimensions, values } = matrix;
  const count = values.length / dimensions;
  const sums = new Float64Array(dimensions);
  let squares = 0;
  await eachRow(matrix, (row) => {
    for (let at = 0; at < dimensions; at++) {
      sums[at] = (sums[at] ?? 0) + (row[at] ?? 0);
      squares += (row[at] ?? 0) ** 2;
    }
  });
  const mean = sums.map((sum) => sum / count);
  const variance = squares - count * mean.reduce((sum, value) => sum + value * value, 0);
  // What is left of equal rows is the rounding.
  const total = variance > squares * 1e-12 ? variance : 0;
  let axes: readonly [Float64Array, Float64Array] = [start(dimensions, 1.3), start(dimensions, 2.7)];
  let sizes: readonly [number, number] = [0, 0];
  for (let round = 0; round < maxRounds; round++) {
    signal?.throwIfAborted();
    const [first, second] = [new Float64Array(dimensions), new Float64Array(dimensions)];
    await eachRow(matrix, (row) => {
      const [x, y] = [along(row, mean, axes[0]), along(row, mean, axes[1])];
      for (let at = 0; at < dimensions; at++) {
        const value = (row[at] ?? 0) - (mean[at] ?? 0);
        first[at] = (first[at] ?? 0) + x * value;
        second[at] = (second[at] ?? 0) + y * value;
      }
    });
    const one = normalized(first);
    const rest = without(second, one);
    const before = sizes;
    sizes = [lengthOf(first), lengthOf(rest)];
    axes = [one, normalized(rest)];
    if (Math.abs(sizes[0] - before[0]) + Math.abs(sizes[1] - before[1]) <= tolerance * (sizes[0] + sizes[1])) break;
  }
  const share = (size: number): number => (total === 0 ? 0 : Math.min(1, size / total));
  return { mean, axes: [upright(axes[0]), upright(axes[1])], shares: [share(sizes[0]), share(sizes[1])] };
};

export const project = ({ mean, axes: [first, second] }: Projection, row: ArrayLike<number>): Point => [
  along(row, mean, first),
  along(row, mean, second),
];
