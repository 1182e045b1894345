import { describe, expect, test } from "vitest";
import { alignPlans, changedAttributes, factorOf } from "../../../service/console/page/compare/align.ts";
import { formatBytes, formatCount, formatDuration, formatShare } from "../../../service/console/page/format.ts";
import { drawPlan } from "../../../service/console/page/plan/layout.ts";
import { heatOf, listNodes, totalsOf } from "../../../service/console/page/plan/nodes.ts";
import { nextSort, sortNodes } from "../../../service/console/page/plan/sort.ts";
import { lowestRecall, ticksOf } from "../../../service/console/page/recall/axes.ts";
import {
  measure,
  median,
  parseNumbers,
  recallOf,
  smallest,
  sweep,
} from "../../../service/console/page/recall/recall.ts";
import { addressOf, parseRoute, type Route } from "../../../service/console/page/route.ts";
import { dimensionsOf, typeName, vectorColumns } from "../../../service/console/page/schema.ts";
import { sparklinePath } from "../../../service/console/page/sparkline.ts";
import { lengthBars } from "../../../service/console/page/table/lengths.ts";
import { timelineMarks } from "../../../service/console/page/table/timeline.ts";
import { groupByNamespace, matching } from "../../../service/console/page/table-names.ts";
import { parsePlan } from "../../../service/plan-doctor/parse.ts";

describe("numbers", () => {
  test.each([
    [0, "0 ns"],
    [631, "631 ns"],
    [27_220, "27.2 µs"],
    [7_693_076, "7.69 ms"],
    [1_234_000_000, "1.23 s"],
    [90e9, "1.5 min"],
    [null, "–"],
  ])("%s nanoseconds are %s", (nanoseconds, text) => {
    expect(formatDuration(nanoseconds)).toBe(text);
  });

  test.each([
    [0, "0 B"],
    [999, "999 B"],
    [55_020, "55 kB"],
    [2_680_000, "2.68 MB"],
    [undefined, "–"],
  ])("%s bytes are %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  test("a share below one percent is not zero", () => {
    expect([formatShare(0), formatShare(0.004), formatShare(0.5), formatShare(null)]).toEqual([
      "0%",
      "<1%",
      "50%",
      "–",
    ]);
    expect(formatCount(1_234_567)).toBe("1,234,567");
  });
});

describe("a sparkline", () => {
  test("goes from edge to edge, its largest number on top", () => {
    expect(sparklinePath([0, 1, 0.5], 100, 10)).toBe("M0 10 L50 0 L100 5");
  });

  test("shows the number farthest from the middle where several share a pixel", () => {
    const values = Array.from({ length: 400 }, (_, index) => (index === 201 ? 1 : index === 50 ? -1 : 0));
    const path = sparklinePath(values, 40, 10);
    expect(path.split("L")).toHaveLength(40);
    expect([path.includes(" 0 "), path.includes(" 10 ")]).toEqual([true, true]);
  });

  test("of equal numbers is a line in the middle, and of none empty", () => {
    expect(sparklinePath([3, 3], 10, 4)).toBe("M0 2 L10 2");
    expect(sparklinePath([], 10, 4)).toBe("");
    expect(sparklinePath([Number.NaN, 1], 10, 4)).toBe("M0 4 L10 0");
  });
});

describe("addresses", () => {
  test.each<Route>([
    { view: "tables" },
    { view: "history" },
    { view: "maintenance" },
    { view: "table", table: "prod$vectors$a/b?#%" },
    { view: "query", table: "docs" },
    { view: "query", table: "docs", run: "7" },
    { view: "recall", table: "<script>" },
    { view: "compare", before: "a", after: "b" },
  ])("of %j lead back to it", (route) => {
    expect(parseRoute(addressOf(route))).toEqual(route);
  });

  test.each(["", "#", "#/", "#/nothing/here", "#/table/", "#/compare/one"])("%j is the list of tables", (fragment) => {
    expect(parseRoute(fragment)).toEqual({ view: "tables" });
  });

  test("a fragment that is not valid UTF-8 is taken as it is", () => {
    expect(parseRoute("#/table/%ff")).toEqual({ view: "table", table: "%ff" });
  });
});

describe("names of tables", () => {
  const ids = ["docs", "prod$docs", "prod$vectors$Cars", "prod$vectors$cats"];

  test("match every word of the filter, in any case and order", () => {
    expect(matching(ids, "CA prod")).toEqual(["prod$vectors$Cars", "prod$vectors$cats"]);
    expect(matching(ids, " ")).toBe(ids);
    expect(matching(ids, "cars cats")).toEqual([]);
  });

  test("are grouped by namespace, the root first", () => {
    expect(groupByNamespace(ids).map(({ namespace, tables }) => [namespace, tables.map(({ name }) => name)])).toEqual([
      [[], ["docs"]],
      [["prod"], ["docs"]],
      [
        ["prod", "vectors"],
        ["Cars", "cats"],
      ],
    ]);
  });
});

describe("the schema", () => {
  const vector = {
    name: "vector",
    nullable: true,
    type: { type: "fixed_size_list", length: 4, fields: [{ name: "item", nullable: true, type: { type: "float32" } }] },
  };

  test("names nested types", () => {
    expect(typeName(vector.type)).toBe("fixed_size_list<float32, 4>");
    const inner = { name: "x", nullable: true, type: { type: "int64" } };
    expect(typeName({ type: "struct", fields: [inner] })).toBe("struct<x: int64>");
  });

  test("tells vectors from other lists", () => {
    expect(dimensionsOf(vector)).toBe(4);
    const texts = {
      ...vector,
      type: { ...vector.type, fields: [{ name: "item", nullable: true, type: { type: "utf8" } }] },
    };
    expect(vectorColumns([vector, texts])).toEqual([{ name: "vector", dimensions: 4 }]);
  });
});

describe("a table's pictures", () => {
  test("bars of equal lengths are one, and the shares of all add up to one", () => {
    const equal = { min: 5, p25: 5, p50: 5, p75: 5, p99: 5, max: 5, mean: 5 };
    expect(lengthBars(equal)).toEqual([{ from: 5, to: 5, share: 1 }]);
    const bars = lengthBars({ ...equal, min: 1, max: 9 });
    expect(bars.map(({ from, to }) => [from, to])).toEqual([
      [1, 5],
      [5, 5],
      [5, 9],
    ]);
    expect(bars.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  });

  test("versions stand on the time line by their time, with their tags", () => {
    const versions = [0, 25, 100].map((time, index) => ({ version: index + 1, timestamp_millis: 1000 + time }));
    const tags = [{ name: "live", version: 2 }];
    expect(timelineMarks(versions, tags)).toEqual([
      { version: 1, at: 0, tags: [] },
      { version: 2, at: 0.25, tags: ["live"] },
      { version: 3, at: 1, tags: [] },
    ]);
    expect(timelineMarks(versions.slice(0, 1), [])).toEqual([{ version: 1, at: 0.5, tags: [] }]);
  });
});

const union = parsePlan(
  [
    "AnalyzeExec verbose=true, elapsed=10ms, metrics=[]",
    "  UnionExec: elapsed=10ms, metrics=[output_rows=30]",
    "    ANNSubIndex: elapsed=2ms, name=idx, k=10, metrics=[output_rows=10, bytes_read=1.50 K, requests=3]",
    "    LanceScan: elapsed=9ms, uri=t.lance/data, metrics=[output_rows=20, bytes_read=2.50 K, requests=4]",
    "",
  ].join("\n"),
);

describe("the drawing of a plan", () => {
  test("has every node once, children beneath their parent and beside each other without overlap", () => {
    const { cards, links, width, height } = drawPlan(union);
    expect(cards.map(({ node }) => node.name)).toEqual(["AnalyzeExec", "UnionExec", "ANNSubIndex", "LanceScan"]);
    const [, parent, left, right] = cards;
    expect(left?.y).toBe(right?.y);
    expect(left?.y).toBeGreaterThan((parent?.y ?? 0) + 62);
    expect(right?.x).toBeGreaterThanOrEqual((left?.x ?? 0) + 208);
    expect(links).toHaveLength(3);
    expect(cards.every(({ x, y }) => x >= 0 && y >= 0 && x + 208 <= width && y + 62 <= height)).toBe(true);
  });

  test("of a text without a plan is empty", () => {
    expect(drawPlan(parsePlan("")).cards).toEqual([]);
  });

  test("takes a plan of a thousand levels", () => {
    const deep = Array.from({ length: 1000 }, (_, depth) => `${"  ".repeat(depth)}FilterExec: elapsed=1ms, metrics=[]`);
    const tree = parsePlan(deep.join("\n"));
    expect(listNodes(tree)).toHaveLength(1000);
    expect(drawPlan(tree).cards).toHaveLength(1000);
  });
});

describe("the numbers of a plan", () => {
  test("are added up over its nodes; rows are those of the first node that counts them", () => {
    expect(totalsOf(union)).toEqual({ nodes: 4, elapsed: 10_000_000, rows: 30, bytes: 4000, requests: 7 });
  });

  test("the grid sorts nodes without a value last, in both directions", () => {
    const nodes = listNodes(union);
    const ids = (descending: boolean) => sortNodes(nodes, { key: "bytes", descending }).map(({ node }) => node.id);
    expect(ids(true)).toEqual([3, 2, 0, 1]);
    expect(ids(false)).toEqual([2, 3, 0, 1]);
    expect(nextSort({ key: "bytes", descending: true }, "bytes")).toEqual({ key: "bytes", descending: false });
    expect(nextSort({ key: "bytes", descending: true }, "name")).toEqual({ key: "name", descending: false });
  });

  test("shares have the colours of 10, 50 and 90 percent", () => {
    expect([0.05, 0.1, 0.5, 0.9].map(heatOf)).toEqual(["none", "low", "medium", "high"]);
  });
});

describe("the comparison of two plans", () => {
  const analyzed = (lines: readonly string[]) =>
    parsePlan(["AnalyzeExec verbose=true, elapsed=4ms, metrics=[]", ...lines.map((line) => `  ${line}`)].join("\n"));
  const before = analyzed([
    "ProjectionExec: elapsed=4ms, expr=[a@2 as a], metrics=[output_rows=5]",
    "  LanceRead: elapsed=4ms, uri=t, metrics=[output_rows=5]",
  ]);
  const after = analyzed([
    "ProjectionExec: elapsed=1ms, expr=[a@7 as a], metrics=[output_rows=5]",
    "  FilterExec: elapsed=1ms, x@1 > 2, metrics=[output_rows=5]",
    "    LanceRead: elapsed=900µs, uri=u, metrics=[output_rows=9]",
  ]);

  test("aligns nodes by name around those of one plan only", () => {
    const pairs = alignPlans(before, after);
    expect(pairs.map((pair) => [pair.before?.node.name, pair.after?.node.name]).slice(1)).toEqual([
      ["ProjectionExec", "ProjectionExec"],
      [undefined, "FilterExec"],
      ["LanceRead", "LanceRead"],
    ]);
    expect(pairs.map(({ differs }) => differs).slice(1)).toEqual([[], [], ["attributes", "rows", "time"]]);
  });

  test("of a plan with itself finds no difference", () => {
    expect(alignPlans(union, union).flatMap(({ differs }) => differs)).toEqual([]);
  });

  test("names the attributes that changed, and the factor", () => {
    const [read, other] = [before, after].map((tree) => listNodes(tree).at(-1)?.node);
    if (read === undefined || other === undefined) throw new Error("the plans have no nodes");
    expect(changedAttributes(read, other)).toEqual([["uri", "t", "u"]]);
    expect([factorOf(4, 1), factorOf(0, 1), factorOf(null, 1)]).toEqual([0.25, undefined, undefined]);
  });
});

describe("recall", () => {
  test("is the share of the exact results that were found", () => {
    expect(recallOf(["1", "2", "3", "4"], ["4", "1", "9"])).toBe(0.5);
    expect(recallOf([], [])).toBe(1);
  });

  test("the sweep begins with the least effort", () => {
    expect(sweep([1, 4], [0, 2]).map(({ nprobes, refineFactor }) => [nprobes, refineFactor])).toEqual([
      [1, 0],
      [1, 2],
      [4, 0],
      [4, 2],
    ]);
  });

  test("the smallest setting reaches the target with the least effort", () => {
    const point = (nprobes: number, refineFactor: number, recall: number, ms: number) => ({
      nprobes,
      refineFactor,
      recall,
      ms,
    });
    const points = [point(16, 0, 0.97, 1), point(2, 5, 0.96, 3), point(1, 10, 0.95, 2), point(1, 0, 0.5, 1)];
    expect(smallest(points, 0.95)).toMatchObject({ nprobes: 1, refineFactor: 10 });
    expect(smallest(points, 0.99)).toBeUndefined();
  });

  test("lists of numbers are sorted, without repetition, and refused if they are not whole", () => {
    expect(parseNumbers("8, 1 none,8")).toEqual([0, 1, 8]);
    expect(() => parseNumbers("1, 2.5")).toThrow(/whole numbers/);
    expect(() => parseNumbers("")).toThrow(/whole numbers/);
    expect([median([3, 1, 2]), median([4, 1])]).toEqual([2, 2.5]);
  });

  test("measures the exact search first, each search twice, and counts the faster time", async () => {
    const asked: object[] = [];
    const times = [9, 5, 4, 8];
    const reports: unknown[] = [];
    await measure(
      async (query) => {
        asked.push(query);
        return { ids: query.bypass_vector_index === true ? ["1", "2"] : ["2", "3"], ms: times.shift() ?? 0 };
      },
      { column: "v", k: 2, distanceType: "cosine", filter: "x > 1" },
      [[0.5]],
      [{ nprobes: 3, refineFactor: 7 }],
      (points, exactMs) => reports.push([points, exactMs]),
    );
    const common = {
      vector: [0.5],
      vector_column: "v",
      k: 2,
      columns: ["_rowid"],
      with_row_id: true,
      distance_type: "cosine",
      filter: "x > 1",
      prefilter: true,
    };
    const exact = { ...common, bypass_vector_index: true };
    const approximate = { ...common, nprobes: 3, refine_factor: 7 };
    expect(asked).toEqual([exact, exact, approximate, approximate]);
    expect(reports).toEqual([
      [[], 5],
      [[{ nprobes: 3, refineFactor: 7, recall: 0.5, ms: 4 }], 5],
    ]);
  });

  test("axes have round steps up to the largest value", () => {
    expect(ticksOf(62)).toEqual([0, 20, 40, 60, 80]);
    expect(ticksOf(0.9)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(lowestRecall([{ nprobes: 1, refineFactor: 0, recall: 0.74, ms: 1 }])).toBe(0.7);
  });
});
