import type { Query, VectorQuery } from "@lancedb/lancedb";

/** Rows of the topmost node that counts them; undefined where none does. */
const outputRows = (plan: string): number | undefined => {
  const match = /output_rows=([\d.]+)/.exec(plan);
  return match?.[1] === undefined ? undefined : Number(match[1]);
};

/** Runs the query until it gives a row. @returns whether it gave one. @throws what the execution fails with. */
const givesRows = async (query: Query | VectorQuery): Promise<boolean> => {
  for await (const batch of query) if (batch.numRows > 0) return true;
  return false;
};

/**
 * Runs a query and returns its plan with the measured figures.
 *
 * The SDK's own call swallows what the execution fails with: a store that is away gives a plan with zeros in it. A plan
 * whose top node has no rows is therefore checked against the query itself, which costs what the analysis did: an error
 * is thrown, and rows mean that the analysis failed where the query did not.
 */
export const analyze = async (query: Query | VectorQuery): Promise<string> => {
  const plan = await query.analyzePlan();
  if ((outputRows(plan) ?? 0) > 0) return plan;
  return (await givesRows(query)) ? query.analyzePlan() : plan;
};
