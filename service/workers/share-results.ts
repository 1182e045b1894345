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
  const evictions: ((tableKey: string) => void)[] = [];
  const share = <T>(run: (table: TableId, branch?: string) => Promise<T>) => {
    const results = new Memoizer<string, T>({ max: maxResults, ttlMs });
    evictions.push((tableKey) => results.evict((key) => JSON.parse(key)[0] === tableKey));
    const keyOf = (table: TableId, branch: string | undefined): string => JSON.stringify([table.key, branch ?? null]);
    const shared: typeof run = (table, branch) => {
      const key = keyOf(table, branch);
      const load = (): Promise<T> => run(table, branch);
      return ttlMs > 0 ? results.get(key, load) : results.renew(key, load);
    };
    /** Whether a call needs no worker. */
    const remembers = (table: TableId, branch?: string): boolean => results.known(keyOf(table, branch)) !== undefined;
    return Object.assign(shared, { remembers });
  };
  /** Removes the results of a table, because its content has changed. */
  const forget = (tableKey: string): void => evictions.forEach((evict) => void evict(tableKey));
  return { share, forget };
};
