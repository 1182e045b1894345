import { expect } from "vitest";
import type { TestService } from "../../support/service.ts";
import { vectorOf } from "../../support/tables.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** LanceDB's "no limit", as `JSON.parse` leaves it. */
export const noLimit = 2 ** 63;

/** A vector search over a column with an IVF index that does not cover the latest rows. */
export const search: Fields = { k: 5, vector: vectorOf(1), vector_column: "vector" };

/** A vector search over the column with an HNSW index. */
export const graphSearch: Fields = { k: 10, vector: vectorOf(1), vector_column: "other" };

/** @returns the plan of `query`, which must succeed. */
export const explain = async (service: TestService, query: Fields, table = "docs"): Promise<string> => {
  const { status, body } = await service.call("explain_plan", table, { query });
  expect(body, `explain_plan of ${JSON.stringify(query)}`).toEqual(expect.any(String));
  expect(status).toBe(200);
  return body;
};

/** @returns the measured plan of `query`, which must succeed. */
export const analyze = async (service: TestService, query: Fields, table = "docs"): Promise<string> => {
  const { status, body } = await service.call("analyze_plan", table, query);
  expect(body, `analyze_plan of ${JSON.stringify(query)}`).toEqual(expect.any(String));
  expect(status).toBe(200);
  return body;
};

const multipliers: Readonly<Record<string, number>> = { K: 1e3, M: 1e6 };

/** Result rows of a measured plan, from its first node with a count. Rounded from 1,000. */
export const rowsOf = (plan: string): number => {
  const match = /output_rows=([\d.]+)(?: ([KM]))?/.exec(plan);
  if (match === null) throw new Error(`no output_rows in ${plan}`);
  return Math.round(Number(match[1]) * (multipliers[match[2] ?? ""] ?? 1));
};

export const whole = "must be a whole number between 0 and 9007199254740991";
export const beyondSafe = `${whole} (larger ones lose digits in JSON)`;

/**
 * Sends a query to both operations. Both must refuse it with 400 and code 13.
 * @returns their messages; explain has the query below the key `query`.
 */
export const refused = async (service: TestService, query: Fields): Promise<[explain: string, analyze: string]> => {
  const answers = await Promise.all([
    service.call("explain_plan", "docs", { query }),
    service.call("analyze_plan", "docs", query),
  ]);
  for (const { status, body } of answers) expect([status, body.code]).toEqual([400, 13]);
  return [answers[0].body.error, answers[1].body.error];
};
