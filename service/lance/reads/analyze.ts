import type { Query, VectorQuery } from "@lancedb/lancedb";

/** The rows of the topmost node that reports them; undefined if none does. */
const outputRows = (plan: string): number | undefined => {
  const match = /output_rows=([\d.]+)/.exec(plan);
  return match?.[1] === undefined ? undefined : Number(match[1]);
};

/** Runs the query until its first row. @returns whether there is one. @throws the native error of the execution. */
const hasRows = async (query: Query | VectorQuery): Promise<boolean> => {
  for await (const batch of query) if (batch.numRows > 0) return true;
  return false;
};

/**
 * Runs a query and returns its plan with the measured figures.
 *
 * The SDK's `analyzePlan` ignores errors of the execution: if the store is unavailable, it returns a plan with zeros. If
 * the top node of a plan has no rows, the query is therefore run once more: it throws the error, and if it has rows, only
 * the first analysis has failed.
 */
export const analyze = async (query: Query | VectorQuery): Promise<string> => {
  const plan = await query.analyzePlan();
  if ((outputRows(plan) ?? 0) > 0) return plan;
  return (await hasRows(query)) ? query.analyzePlan() : plan;
};
