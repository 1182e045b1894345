import { describe, expect, test } from "vitest";
import type { TableState } from "../../../service/lance/maintenance/maintained-tables.ts";
import { judge } from "../../../service/maintenance/due.ts";
import { compilePolicy, type Limits } from "../../../service/maintenance/policy.ts";
import { thresholds } from "../../../service/plan-doctor/thresholds.ts";
import type { IndexFacts, StatisticsFacts } from "../../../service/plan-doctor/types.ts";
import { rulesOf } from "./support.ts";

const now = 1e12;
const hour = 3_600_000;

const calm: StatisticsFacts = {
  ...{ rows: 100_000, deleted_rows: 0, bytes: 1, fragments: 1 },
  ...{ small_fragments: 0, largest_fragment_rows: 100_000 },
};
const covered: IndexFacts = {
  ...{ name: "vector_idx", columns: ["vector"], type: "IVF_PQ", metric: "l2", code_bits: 8, bytes: 1 },
  ...{ indexed_rows: 100_000, unindexed_rows: 0, deltas: 1 },
};

const state = (
  statistics: Partial<StatisticsFacts> = {},
  index: Partial<IndexFacts> = {},
  history: TableState["history"] = null,
): TableState => ({
  facts: {
    version: 9,
    statistics: { ...calm, ...statistics },
    columns: [],
    indices: [{ ...covered, ...index }],
    missing: [],
  },
  history,
});

const limitsOf = (rule: object): Limits => {
  const limits = compilePolicy(rulesOf([rule]))(["events"]);
  if (limits === undefined) throw new Error("the rule has no pattern for the table");
  return limits;
};

const defaults = limitsOf({});
const kindsOf = (table: TableState, limits: Limits = defaults) =>
  judge(table, limits, now).due.map(({ action }) => action.kind);

describe("a table is due", () => {
  test.each([
    [
      "from the doctor's number of small fragments",
      { small_fragments: thresholds.smallFragments.value },
      {},
      "optimize",
    ],
    ["from the doctor's share of deleted rows", { rows: 90_000, deleted_rows: 10_000 }, {}, "optimize"],
    ["from the doctor's number of unindexed rows", {}, { unindexed_rows: thresholds.unindexedRows.value }, "optimize"],
    ["from the doctor's number of parts of an index", {}, { deltas: thresholds.deltas.value }, "rebuild"],
  ] as const)("%s on", (_, statistics, index, kind) => {
    expect(kindsOf(state(statistics, index))).toEqual([kind]);
  });

  test.each([
    ["one small fragment fewer", { small_fragments: thresholds.smallFragments.value - 1 }, {}],
    ["a smaller share of deleted rows", { rows: 91_000, deleted_rows: 9_000 }, {}],
    ["a large share of few rows", { rows: 10, deleted_rows: 90 }, {}],
    ["one unindexed row fewer", {}, { unindexed_rows: thresholds.unindexedRows.value - 1 }],
    ["one part fewer", {}, { deltas: thresholds.deltas.value - 1 }],
    ["an index that reports no counts", {}, { unindexed_rows: null, deltas: null }],
  ] as const)("but not with %s", (_, statistics, index) => {
    expect(kindsOf(state(statistics, index))).toEqual([]);
  });

  test("for the limits of its rule, and not for a reason that is switched off", () => {
    const slow = state(
      { small_fragments: 30, rows: 50_000, deleted_rows: 50_000 },
      { unindexed_rows: 5_000, deltas: 9 },
    );
    expect(kindsOf(slow)).toEqual(["rebuild", "optimize", "optimize", "optimize"]);
    expect(kindsOf(slow, limitsOf({ compaction: { enabled: false } }))).toEqual(["rebuild", "optimize"]);
    expect(kindsOf(slow, limitsOf({ indices: { enabled: false } }))).toEqual(["optimize", "optimize"]);
    expect(
      kindsOf(
        slow,
        limitsOf({
          compaction: { smallFragments: 31, deletedPercent: 51 },
          indices: { unindexedRows: 5_001, deltas: 10 },
        }),
      ),
    ).toEqual([]);
  });

  describe("of large values", () => {
    /** 6,000 rows of 1.5 MB. */
    const wide = { rows: 6_000, bytes: 9e9 };
    const kinds = (statistics: Partial<StatisticsFacts>, rule = {}) =>
      kindsOf(state({ ...wide, ...statistics }), limitsOf(rule));

    test("for many small fragments, and not once each has the target's bytes or all are one", () => {
      expect(kinds({ small_fragments: 100, largest_fragment_rows: 60 })).toEqual(["optimize"]);
      expect(kinds({ small_fragments: 9, largest_fragment_rows: 667 })).toEqual([]);
      expect(
        kinds({ small_fragments: 90, largest_fragment_rows: 67 }, { compaction: { targetMegabytes: 100 } }),
      ).toEqual([]);
      expect(kinds({ small_fragments: 1, largest_fragment_rows: 6_000 })).toEqual([]);
    });

    /** A fragment of 6,900 MB, and 101 of a row. */
    const beside = { fragments: 102, small_fragments: 102, rows: 4_701, bytes: 7.05e9, largest_fragment_rows: 4_600 };

    test("for new fragments beside a large one the later the larger it is, with a note before, or from a quarter of the table on", () => {
      expect(judge(state({ ...wide, ...beside }), defaults, now)).toEqual({
        due: [],
        notes: [
          "95 fragments of fewer than 100,000 rows (due from 138), because a merge writes 6,899 megabytes again that are in large fragments",
        ],
      });
      expect(kinds({ ...beside, small_fragments: 150, fragments: 150 })).toEqual(["optimize"]);
      expect(kinds({ ...beside, rows: 6_500, bytes: 9.75e9 })).toEqual(["optimize"]);
    });

    test("for rows outside of an index, which is built anew without a merge", () => {
      const due = (statistics: Partial<StatisticsFacts>, index: Partial<IndexFacts>) =>
        judge(state({ ...wide, ...statistics }, index), defaults, now).due.map(({ action }) => action);
      const unindexed = { unindexed_rows: 5_000 };
      const rebuild = { kind: "rebuild", index: "vector_idx", alone: true };
      expect(due(beside, unindexed)).toEqual([rebuild]);
      expect(due({ fragments: 9, small_fragments: 9, largest_fragment_rows: 667 }, unindexed)).toEqual([rebuild]);
      expect(due(beside, { deltas: 4 })).toEqual([rebuild]);
      expect(due(beside, { ...unindexed, type: "FTS" })).toEqual([{ kind: "optimize" }]);
      expect(due({ fragments: 1, small_fragments: 1, largest_fragment_rows: 6_000 }, unindexed)).toEqual([
        { kind: "optimize" },
      ]);
    });

    test("for old versions once in the time for which they are kept, because their deletion merges as well", () => {
      const limits = limitsOf({ cleanup: { olderThanHours: 24 } });
      const replaced = (hours: number) => ({
        versions: [hours + 1, hours, 1, 0].map((age, at) => ({ version: at + 1, createdAt: now - age * hour })),
        ...{ tags: {}, bases: [] },
      });
      expect(kindsOf(state({ ...wide, ...beside }, {}, replaced(47)), limits)).toEqual([]);
      expect(kindsOf(state({ ...wide, ...beside }, {}, replaced(48)), limits)).toEqual(["clean-up"]);
      expect(kindsOf(state({}, {}, replaced(47)), limits)).toEqual(["clean-up"]);
    });
  });

  test("with a reason that gives the value and the limit", () => {
    expect(judge(state({ small_fragments: 2_000 }), defaults, now).due.map(({ reason }) => reason)).toEqual([
      "2,000 fragments of fewer than 100,000 rows (due from 20)",
    ]);
  });

  test("but an index of a type that the SDK cannot build anew is a note", () => {
    const { due, notes } = judge(state({}, { type: "IVF_OTHER", deltas: 9 }), defaults, now);
    expect(due).toEqual([]);
    expect(notes).toEqual([expect.stringContaining("9 parts of the index vector_idx")]);
  });
});

describe("versions are deleted", () => {
  const versions = [1, 2, 3].map((version) => ({ version, createdAt: now - (10 - version) * hour }));
  const old = state({}, {}, { versions, tags: {}, bases: [] });

  test("never without a time to keep them", () => {
    expect(kindsOf(old)).toEqual([]);
  });

  test("after the time to keep them", () => {
    const [due] = judge(old, limitsOf({ cleanup: { olderThanHours: 5 } }), now).due;
    expect(due).toEqual({
      action: { kind: "clean-up", deleteBefore: now - 7 * hour },
      reason: "2 versions replaced more than 5 hours ago",
    });
  });

  test("up to the oldest tag, and the note says how to free the others", () => {
    const tagged = state({}, {}, { versions, tags: { live: 1 }, bases: [] });
    const { due, notes } = judge(tagged, limitsOf({ cleanup: { olderThanHours: 5 } }), now);
    expect(due).toEqual([]);
    expect(notes).toEqual([expect.stringMatching(/^1 version .*tag "live".*move or delete the tag/)]);
  });
});

describe("the rule of a table", () => {
  const policy = compilePolicy(
    rulesOf([
      { tables: ["prod$*"], compaction: { smallFragments: 3 } },
      { tables: ["prod$**", "events"], compaction: { smallFragments: 5 } },
    ]),
  );

  test("is the first with a pattern for it", () => {
    expect(policy(["prod", "a"])?.smallFragments).toBe(3);
    expect(policy(["prod", "vectors", "a"])?.smallFragments).toBe(5);
    expect(policy(["events"])?.smallFragments).toBe(5);
  });

  test("is none without such a pattern", () => {
    expect(policy(["other"])).toBeUndefined();
  });
});
