import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rules } from "../../../service/plan-doctor/diagnose.ts";
import { quickstartTables } from "../../../service/quickstart/dataset.ts";
import { writeTables } from "../../../tools/lance-tables.ts";
import { cases } from "./support/cases.ts";
import { codesOf, examine, parseQuery } from "./support/examine.ts";
import { treat } from "./support/treat.ts";

let directory: string;
let connection: Connection;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "lakehead-doctor-"));
  connection = await connect(directory);
});
afterAll(async () => {
  connection.close();
  await rm(directory, { recursive: true, force: true });
});

test("every finding has a case, and every case a finding", () => {
  expect(cases.map(({ code }) => code).sort()).toEqual(rules.map(({ code }) => code).sort());
});

describe("a finding fires on its table, and its fix, applied as printed, ends it", () => {
  test.each(cases.map((one) => [one.code, one] as const))(
    "%s",
    async (code, one) => {
      const { before, after, finding } = await treat(connection, one);
      expect(codesOf(before.examined)).toContain(code);
      expect(finding.evidence.length).toBeGreaterThan(0);
      expect(codesOf(after.examined)).not.toContain(code);
      expect(after.measured).toBeLessThan(before.measured);
    },
    120_000,
  );
});

describe("queries of the quick start that are fine", () => {
  beforeAll(async () => writeTables(directory, await quickstartTables()));
  const vector = [0.2, 0.2, 0.3, 0.4, 0.8, 0.8, 0.3, 0.5];

  test.each([
    ["earthquakes", { k: 5, vector, filter: "magnitude > 4", prefilter: true, columns: ["place"] }],
    ["earthquakes", { k: 5, vector }],
    ["earthquakes", { k: 5, full_text_query: { string_query: { query: "california", columns: ["place"] } } }],
    ["earthquakes", { k: 5, filter: "id = 7" }],
    ["weather", { k: 5, vector: vector.slice(0, 4) }],
    ["weather", { k: 100, filter: "conditions = 'rain'", columns: ["day"] }],
  ])("%s %j has no finding", async (name, wire) => {
    const table = await connection.openTable(name);
    expect(codesOf(await examine(table, parseQuery(wire)))).toEqual([]);
  });
});
