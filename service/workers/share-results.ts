import type { TableId } from "../guard/table-id.ts";
import { Memoizer } from "../lance/memoizer.ts";

/** The share of the staleness bound for which a result is not asked of a worker again. */
const resultShare = 0.01;

/** Tables whose results are kept. */
const maxResults = 1000;

type StateOf = (table: TableId) => Promise<object | undefined>;

/**
 * Concurrent callers share a call to a worker, which costs much more than its memoized result. With strong consistency,
 * each gets a result that was read after its call, or that of the same state of the table.
 */
export const shareResults = (consistencySeconds: number) => {
  const ttlMs = consistencySeconds * 1000 * resultShare;
  const evictions: ((tableKey: string) => void)[] = [];
  /** @param stateOf an object that stays the same while the result of the table does not change. */
  const share = <T>(run: (table: TableId, branch?: string) => Promise<T>, stateOf?: StateOf) => {
    const results = new Memoizer<string, T>({ max: maxResults, ttlMs });
    evictions.push((tableKey) => results.evict((key) => JSON.parse(key)[0] === tableKey));
    const keyOf = (table: TableId, branch: string | undefined): string => JSON.stringify([table.key, branch ?? null]);
    const shared: typeof run = async (table, branch) => {
      const key = keyOf(table, branch);
      const load = (): Promise<T> => run(table, branch);
      if (ttlMs > 0) return results.get(key, load);
      // A branch has versions of its own.
      const stamp = branch === undefined ? await stateOf?.(table) : undefined;
      if (stamp === undefined) return results.renew(key, load);
      return results.get(key, load, { stamp, ttlMs: Number.POSITIVE_INFINITY });
    };
    /** Whether a call needs no worker, unless the table has changed since the last one. */
    const remembers = (table: TableId, branch?: string): boolean => {
      const key = keyOf(table, branch);
      return ttlMs > 0 ? results.known(key) !== undefined : results.has(key);
    };
    return Object.assign(shared, { remembers });
  };
  /** Removes the results of a table, because its content has changed. */
  const forget = (tableKey: string): void => evictions.forEach((evict) => void evict(tableKey));
  return { share, forget };
};
