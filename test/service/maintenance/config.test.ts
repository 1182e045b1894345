import { describe, expect, test } from "vitest";
import { readConfig, readMaintenanceConfig } from "../../../service/config/config.ts";
import { ConfigError } from "../../../service/config/environment.ts";
import { staticToken } from "../../support/static-token.ts";

const read = (environment: Readonly<Record<string, string>>) =>
  readMaintenanceConfig({ LAKEHEAD_DATABASE: "/data", ...environment });

const faultsOf = (rules: unknown, more: Readonly<Record<string, string>> = {}): readonly string[] => {
  try {
    read({ LAKEHEAD_MAINTENANCE: typeof rules === "string" ? rules : JSON.stringify(rules), ...more });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
};

describe("the configuration of a service", () => {
  const environment = {
    LAKEHEAD_DATABASE: "/data",
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([staticToken("tester", "token")]),
    LAKEHEAD_MAINTENANCE: JSON.stringify([{ cleanup: { olderThanHours: 0.02 } }]),
  };

  test("refuses rules that delete versions in use, where callers may ask for maintenance", () => {
    expect(() => readConfig({ ...environment, LAKEHEAD_WRITES: "on" })).toThrow(/must be at least 600 s/);
    expect(() => readConfig(environment)).not.toThrow();
  });

  test("gives one request no more time than a write, and no more memory than a worker", () => {
    const more = { LAKEHEAD_WRITES: "on", LAKEHEAD_WRITE_DEADLINE_SECONDS: "30", LAKEHEAD_MAINTENANCE: "[]" };
    const { maintenance, isolation } = readConfig({ ...environment, ...more });
    expect(maintenance.tableSeconds).toBe(30);
    expect(maintenance.memoryBytes).toBe(isolation?.writes?.write.memoryBytes);
  });
});

describe("the configuration of a run", () => {
  test("needs the database alone, and by default deletes no version", () => {
    const { rules } = read({});
    expect(rules).toEqual([{ tables: ["**"], compaction: { enabled: true }, indices: { enabled: true }, cleanup: {} }]);
  });

  test("ignores the service's other variables, of which no token is needed", () => {
    expect(read({ LAKEHEAD_PORT: "1", LAKEHEAD_AUTH_ISSUER: "https://issuer.example.com" }).leaseSeconds).toBe(120);
  });

  test("names every fault at once, with the place, the remedy and the value", () => {
    const faults = faultsOf([
      { tables: ["a$$b"], compaction: { smallFragments: 1, deletedPercent: 101 } },
      { tables: [], indices: { unindexedRows: 0, deltas: "many" }, cleanup: { olderThanHours: -1 } },
      { table: ["a"] },
    ]);
    const places = ["[0].tables[0]", "[0].compaction.smallFragments", "[0].compaction.deletedPercent", "[1].tables"];
    const others = ["[1].indices.unindexedRows", "[1].indices.deltas", "[1].cleanup.olderThanHours", "[2]"];
    for (const place of [...places, ...others])
      expect(
        faults.filter((fault) => fault.includes(` at ${place}:`)),
        place,
      ).toHaveLength(1);
    expect(faults).toHaveLength(8);
    expect(faults[1]).toContain("must be a whole number from 2 to 1000000");
    expect(faults[1]).toMatch(/^LAKEHEAD_MAINTENANCE="\[/);
  });

  test.each([
    ["text that is not JSON", "off"],
    ["one rule without a list", { tables: ["**"] }],
  ])("refuses %s", (_, rules) => {
    expect(faultsOf(rules)).toEqual([expect.stringMatching(/^LAKEHEAD_MAINTENANCE=/)]);
  });

  test.each([
    ["a query may still read", { LAKEHEAD_WRITE_DEADLINE_SECONDS: "1" }, 90],
    ["a write may still use", {}, 600],
  ])("refuses to delete versions that %s", (_, more, seconds) => {
    expect(faultsOf([{ cleanup: { olderThanHours: 0.02 } }], more)).toEqual([
      expect.stringContaining(`must be at least ${seconds} s, written in hours`),
    ]);
    expect(faultsOf([{ cleanup: { olderThanHours: seconds / 3600 } }], more)).toEqual([]);
  });

  test("refuses a variable that does not exist", () => {
    expect(faultsOf([], { LAKEHEAD_MAINTENANCES: "[]" })).toEqual([expect.stringContaining("LAKEHEAD_MAINTENANCES")]);
  });
});
