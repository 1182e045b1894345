import { blob, type Table } from "@lancedb/lancedb";
import { Field, Int64, Schema } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rules } from "../../../service/plan-doctor/diagnose.ts";
import { quickstartTables } from "../../../service/quickstart/dataset.ts";
import { writeTables } from "../../../tools/lance-tables.ts";
import { cases } from "./support/cases.ts";
import { createTables, type Tables, wideRows } from "./support/data.ts";
import { bytesRead, codesOf, examine, executeQuery, parseQuery } from "./support/examine.ts";
import { applyTypescript, treat } from "./support/treat.ts";

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

describe("binary values that are read to know whether they are null", () => {
  const examineFilter = async (table: Table, filter: string) => {
    const query = parseQuery({ k: 10_000, vector: null, columns: ["id"], filter });
    return examine(table, query, await executeQuery(table, query));
  };

  test("are a finding, and its fix, applied as printed, makes a column that answers without them", async () => {
    const table = await tables.connection.createTable("nulls", wideRows(1000));
    const before = await examineFilter(table, "payload is not null");
    const finding = before.document.findings.find(({ code }) => code === "unreturned-values");
    expect(finding).toMatchObject({ severity: "warning", node: expect.any(Number) });
    if (finding === undefined) return;
    await applyTypescript(table, finding, { vector: [] }, before.query);
    const after = await examineFilter(table, "has_payload");
    expect(codesOf(after)).toEqual([]);
    expect((await after.rows()).length).toBe(1000);
    expect(await bytesRead(after)).toBeLessThan((await bytesRead(before)) / 100);
  });

  test("are none where the filter needs them, or the query returns them", async () => {
    const table = await tables.connection.createTable("needed", wideRows(1000));
    expect(codesOf(await examineFilter(table, "payload is null or payload > X'80'"))).not.toContain(
      "unreturned-values",
    );
    const query = parseQuery({ k: 10_000, vector: null, columns: ["payload"], filter: "payload is not null" });
    expect(codesOf(await examine(table, query, await executeQuery(table, query)))).not.toContain("unreturned-values");
  });

  test("are none in a blob column, of which descriptions are read", async () => {
    const schema = new Schema([new Field("id", new Int64()), blob("payload")]);
    const rows = Array.from({ length: 1000 }, (_, id) => ({ id: BigInt(id), payload: Buffer.alloc(8192, 1) }));
    const table = await tables.connection.createTable("blobs", rows, { schema });
    const sorted = parseQuery({ k: 10, vector: null, order_by: [{ column_name: "id", ascending: false }] });
    const examined = [
      await examineFilter(table, "payload is not null"),
      await examine(table, sorted, await executeQuery(table, sorted)),
    ];
    expect(examined.flatMap(codesOf)).toEqual([]);
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
