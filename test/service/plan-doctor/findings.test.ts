import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rules } from "../../../service/plan-doctor/diagnose.ts";
import { quickstartTables } from "../../../service/quickstart/dataset.ts";
import { writeTables } from "../../../tools/lance-tables.ts";
import { cases } from "./support/cases.ts";
import { createTables, type Tables } from "./support/data.ts";
import { codesOf, examine, executeQuery, parseQuery } from "./support/examine.ts";
import { treat } from "./support/treat.ts";

let tables: Tables;
beforeAll(async () => {
  tables = await createTables();
});
afterAll(() => tables.remove());

test("every finding has a case, and every case a finding", () => {
  expect(cases.map(({ code }) => code).sort()).toEqual(rules.map(({ code }) => code).sort());
});

describe("a finding fires on its table, and its fix, applied as printed, ends it", () => {
  test.each(cases.map((one) => [one.code, one] as const))("%s", async (code, one) => {
    const { before, after, finding } = await treat(tables, one);
    expect(codesOf(before.examined)).toContain(code);
    expect(finding.evidence.length).toBeGreaterThan(0);
    expect(codesOf(after.examined)).not.toContain(code);
    expect(after.measured).toBeLessThan(before.measured);
  });
});

describe("queries of the quick start that are fine", () => {
  beforeAll(async () => writeTables(tables.directory, await quickstartTables()));
  const vector = [0.2, 0.2, 0.3, 0.4, 0.8, 0.8, 0.3, 0.5];

  test.each([
    ["earthquakes", { k: 5, vector, filter: "magnitude > 4", prefilter: true, columns: ["place"] }],
    ["earthquakes", { k: 5, vector }],
    ["earthquakes", { k: 5, full_text_query: { string_query: { query: "california", columns: ["place"] } } }],
    ["earthquakes", { k: 5, filter: "id = 7" }],
    ["weather", { k: 5, vector: vector.slice(0, 4) }],
    ["weather", { k: 100, filter: "conditions = 'rain'", columns: ["day"] }],
  ])("%s %j has no finding", async (name, wire) => {
    const table = await tables.connection.openTable(name);
    const query = parseQuery(wire);
    expect(codesOf(await examine(table, query, await executeQuery(table, query)))).toEqual([]);
  });

  test("an index of another metric is said of a small table too, as information", async () => {
    const table = await tables.connection.openTable("earthquakes");
    const query = parseQuery({ k: 5, vector, distance_type: "cosine" });
    const { document } = await examine(table, query, await executeQuery(table, query));
    expect(document.findings).toMatchObject([{ code: "vector-index-metric", severity: "info" }]);
  });
});
