/** Maps items by at most `concurrency` concurrent tasks; results in the order of the items. Rejects with the first failure. */
export const mapConcurrently = async <T, R>(
  concurrency: number,
  items: readonly T[],
  task: (item: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = new Array(items.length);
  const rest = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  return results;
};
