import { describe, expect, test } from "vitest";
import { type TableDefinition, writeTables } from "../../../tools/lance-tables.ts";
import { isolated } from "../../support/service.ts";
import { vectorOf } from "../../support/tables.ts";
import { useStoredService } from "./support.ts";

const late = (namespace: readonly string[]): TableDefinition => ({
  namespace,
  name: "late",
  columns: { id: "integer" },
  batches: [[{ id: 1n }, { id: 2n }]],
  indices: [],
});

describe.each(["s3", "gs"] as const)("a database at %s://", (cloud) => {
  const stored = useStoredService({ cloud, consistencySeconds: 1, prefix: "team/a", environment: isolated });

  const ask = async (operation: string, table: string, body: unknown = {}) => {
    const answer = await stored.service.call(operation, table, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };

  test("serves tables at its root and in nested namespaces", async () => {
    expect(await ask("stats", "plain")).toMatchObject({ num_rows: 100 });
    expect(await ask("stats", "docs")).toMatchObject({ num_rows: 1020 });
    expect(await ask("stats", "prod$vectors$docs")).toMatchObject({ num_rows: 20 });
    expect(await ask("explain_plan", "prod$vectors$docs", { query: { k: 3, version: 1 } })).toContain(
      "num_fragments=1,",
    );
  });

  test("serves tables that another connection creates while it runs", async () => {
    await writeTables(stored.store.uri, [late([]), late(["later", "still"])], stored.store.storageOptions);
    expect(await ask("stats", "late")).toMatchObject({ num_rows: 2 });
    expect(await ask("stats", "later$still$late")).toMatchObject({ num_rows: 2 });
  });

  test("distinguishes a missing namespace from a missing table", async () => {
    expect(await stored.service.call("stats", "prod$vectors$nope")).toMatchObject({ status: 404, body: { code: 4 } });
    expect(await stored.service.call("stats", "nope$docs")).toMatchObject({ status: 404, body: { code: 1 } });
  });

  test.each(["docs", "prod$vectors$docs"])("creates and deletes tags of %s", async (table) => {
    expect(await ask("tags/create", table, { tag: "first", version: 1 })).toEqual({});
    expect(await ask("tags/version", table, { tag: "first" })).toEqual({ version: 1 });
    const again = await stored.service.call("tags/create", table, { tag: "first", version: 2 });
    expect(again).toMatchObject({ status: 409, body: { code: 9 } });
    expect(await ask("tags/delete", table, { tag: "first" })).toEqual({});
    expect((await stored.service.call("tags/version", table, { tag: "first" })).body.code).toBe(8);
  });

  test("shows no part of the address in a plan", async () => {
    const query = { k: 3, filter: "id > 1" };
    const vector = { ...query, vector: vectorOf(1), vector_column: "vector" };
    const plans: string[] = await Promise.all([
      ask("explain_plan", "docs", { query, verbose: true }),
      ask("explain_plan", "docs", { query: { ...vector, refine_factor: 2 }, verbose: true }),
      ask("explain_plan", "docs", { query: { ...query, branch: "experiment" } }),
      ask("explain_plan", "prod$vectors$docs", { query, verbose: true }),
      ask("analyze_plan", "docs", query),
      ask("analyze_plan", "prod$vectors$docs", query),
    ]);
    for (const plan of plans) expect(plan).not.toMatch(/team|\blake\b|127\.0\.0\.1|(s3|gs):/);
    expect(plans[0]).toContain("uri=docs.lance/data");
  });
});
