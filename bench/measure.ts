/** Figures of one round of a workload. */
export interface Round {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** A round: for `seconds`, or for `requests` if given. */
export interface Task {
  readonly concurrency: number;
  readonly seconds?: number;
  readonly requests?: number;
  /** Number of the first request; 0 by default. */
  readonly from?: number;
}

/** The mean of the two middle values of an even number. */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
};

export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

/**
 * A closed loop: `concurrency` callers, each of which sends its next request after the response to the last one. An error
 * of any request fails the round, because figures of failed requests mean nothing.
 */
export const closedLoop = async (
  { concurrency, seconds = 0, requests, from = 0 }: Task,
  call: (caller: number, index: number) => Promise<unknown>,
): Promise<Round> => {
  const latencies: number[] = [];
  const begin = performance.now();
  const until = requests === undefined ? begin + seconds * 1000 : Number.POSITIVE_INFINITY;
  const last = from + (requests ?? Number.POSITIVE_INFINITY);
  let next = from;
  const run = async (caller: number): Promise<void> => {
    while (next < last && performance.now() < until) {
      const index = next++;
      const start = performance.now();
      await call(caller, index);
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, caller) => run(caller)));
  return {
    requests: latencies.length,
    seconds: (performance.now() - begin) / 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
};
