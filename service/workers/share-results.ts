import type { TableId } from "../guard/table-id.ts";
import { Memoizer } from "../lance/memoizer.ts";

/** The share of the staleness bound for which a result is not asked of a worker again. */
const resultShare = 0.01;

/** Tables whose results are kept. */
const maxResults = 1000;

/**
 * Concurrent callers share a call to a worker, which costs much more than its memoized result. With strong consistency,
 * each gets a result that was read after its call.
 */
export const shareResults = (consistencySeconds: number) => {
  const ttlMs = consistencySeconds * 1000 * resultShare;
  return <T>(run: (table: TableId, branch?: string) => Promise<T>): typeof run => {
    const results = new Memoizer<string, T>({ max: maxResults, ttlMs });
    return (table, branch) => {
      const key = JSON.stringify([table.key, branch ?? null]);
      const load = (): Promise<T> => run(table, branch);
      return ttlMs === 0 ? results.renew(key, load) : results.get(key, load);
    };
  };
};
