import { describe, expect, test } from "vitest";
import { isolated, useSharedService } from "../../support/service.ts";
import { vectorOf } from "../../support/tables.ts";
import { analyze, type Fields, graphSearch, noLimit, rowsOf, search } from "./support.ts";

const service = useSharedService(isolated);

const match = (fields: Fields): Fields => ({
  k: 100,
  full_text_query: { structured_query: { query: { match: { column: "text", ...fields } } } },
});
const phrase = (slop: number): Fields => ({
  k: 100,
  full_text_query: { structured_query: { query: { phrase: { terms: "hello puppy", column: "text", slop } } } },
});
const indexed: Fields = { ...search, k: 1000, fast_search: true };

/** Rows that come out of the query, exactly where the data says so. `docs` has 1,020 rows with the ids 0 to 1,019. */
describe("the number of rows", () => {
  test.each<[string, Fields, number]>([
    ["k", { k: 5 }, 5],
    ["k 0", { k: 0 }, 0],
    ["no limit", { k: noLimit, filter: "id < 900" }, 900],
    ["k of a vector search", search, 5],
    ["k of each of two vectors", { ...search, vector: [vectorOf(1), vectorOf(2)] }, 10],
    ["offset", { k: 50, offset: 1000 }, 20],
    ["offset of a vector search", { ...search, offset: 3 }, 5],
    ["offset beyond the end", { k: 50, offset: 5000 }, 0],
    ["filter", { k: 50, filter: "id < 7" }, 7],
    ["prefilter", { ...search, filter: "id < 7", prefilter: true }, 5],
    ["version 1", { k: noLimit, version: 1, filter: "id >= 990" }, 10],
    ["the latest version", { k: noLimit, filter: "id >= 990" }, 30],
    ["branch", { k: noLimit, branch: "experiment", filter: "id >= 880" }, 20],
    ["order_by", { k: 3, order_by: [{ column_name: "score", ascending: false }] }, 3],
    ["row ids", { k: 5, filter: "_rowid IN (1, 2)" }, 2],
    ["a term", match({ terms: "puppy" }), 100],
    ["a term that no row has", match({ terms: "hallo" }), 0],
    ["fuzziness 1", match({ terms: "hallo", fuzziness: 1 }), 100],
    ["prefix_length before the fuzzy part", match({ terms: "hallo", fuzziness: 1, prefix_length: 1 }), 100],
    ["prefix_length over the fuzzy part", match({ terms: "hallo", fuzziness: 1, prefix_length: 2 }), 0],
    ["operator And", { ...match({ terms: "hello 3", operator: "And" }), k: 1000 }, 60],
    ["slop 0", phrase(0), 0],
    ["slop 1", phrase(1), 100],
  ])("%s", async (_, query, rows) => {
    expect(rowsOf(await analyze(service, query))).toBe(rows);
  });
});

describe("the measured metrics show what the plan does not", () => {
  test("ef below k (times refine_factor) is refused by an HNSW index, ef equal to k returns k rows", async () => {
    const error = "ef is smaller than k (times refine_factor): raise it, or leave it out";
    for (const fields of [{ ef: 9 }, { ef: 19, refine_factor: 2 }]) {
      const { status, body } = await service.call("analyze_plan", "docs", { ...graphSearch, ...fields });
      expect([status, body.code, body.error]).toEqual([400, 13, error]);
    }
    for (const fields of [{}, { ef: 10 }, { ef: 20, refine_factor: 2 }])
      expect(rowsOf(await analyze(service, { ...graphSearch, ...fields }))).toBe(10);
  });

  test("nprobes bounds the searched partitions, maximum_nprobes 0 removes the bound", async () => {
    const partitions = async (query: Fields): Promise<string | undefined> =>
      /partitions_searched=(\d+)/.exec(await analyze(service, query))?.[1];
    expect(await partitions({ ...indexed, nprobes: 1 })).toBe("1");
    expect(await partitions({ ...indexed, nprobes: 3 })).toBe("3");
    expect(await partitions({ ...indexed, minimum_nprobes: 1, maximum_nprobes: 0 })).toBe("8");
    expect(rowsOf(await analyze(service, { ...indexed, nprobes: 1 }))).toBeLessThan(1000);
    expect(rowsOf(await analyze(service, { ...indexed, minimum_nprobes: 1, maximum_nprobes: 0 }))).toBe(1000);
  });

  test("the distance bounds partition the rows", async () => {
    const all: Fields = { ...search, k: 1020, bypass_vector_index: true };
    const parts = await Promise.all(
      [{ upper_bound: 5 }, { lower_bound: 15 }, { lower_bound: 5, upper_bound: 15 }].map(async (bounds) =>
        rowsOf(await analyze(service, { ...all, ...bounds })),
      ),
    );
    expect(Math.min(...parts)).toBeGreaterThan(0);
    expect(parts.reduce((sum, rows) => sum + rows)).toBe(1020);
  });

  test("max_expansions bounds the terms that a fuzzy one stands for", async () => {
    const expanded = (terms: number) => match({ terms: "1x", fuzziness: 1, max_expansions: terms });
    const one = rowsOf(await analyze(service, { ...expanded(1), k: 900 }));
    expect(one).toBeGreaterThan(0);
    expect(rowsOf(await analyze(service, { ...expanded(5), k: 900 }))).toBeGreaterThan(one);
  });

  test("a filter after the search returns fewer rows than one before it", async () => {
    const filtered: Fields = { ...search, filter: "id < 7" };
    const after = rowsOf(await analyze(service, filtered));
    expect(after).toBeLessThan(rowsOf(await analyze(service, { ...filtered, prefilter: true })));
    expect(rowsOf(await analyze(service, { ...filtered, prefilter: false }))).toBe(after);
  });

  test("fast_search omits the rows that no index covers", async () => {
    const late = { ...search, k: 1, vector: vectorOf(1010), filter: "id >= 1000", prefilter: true };
    expect(rowsOf(await analyze(service, late))).toBe(1);
    expect(rowsOf(await analyze(service, { ...late, fast_search: true }))).toBe(0);
  });

  test("a measured plan has figures on every node but the outermost", async () => {
    const [outermost, , ...nodes] = (await analyze(service, search)).trim().split("\n");
    expect(outermost).toMatch(/^AnalyzeExec/);
    for (const node of nodes) expect(node).toMatch(/metrics=\[output_rows=/);
  });
});
