import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { example } from "../../../service/plan-doctor/example.ts";
import { parseMetric } from "../../../service/plan-doctor/metric.ts";
import { nodesOf, parsePlan, renderPlan } from "../../../service/plan-doctor/parse.ts";
import { type PlanNode, planDocument } from "../../../service/plan-doctor/types.ts";
import { checkPlan } from "../../support/plan.ts";

const withoutEnd = (plan: string): string => plan.replace(/\n$/, "");

describe("metrics", () => {
  test.each([
    ["output_rows", "10", 10, "count", false],
    ["output_rows", "2.68 M", 2_680_000, "count", true],
    ["rows_scanned", "19.74 K", 19_740, "count", true],
    ["bytes_read", "540.2 K", 540_200, "bytes", true],
    ["bytes_read", "1.25 B", 1_250_000_000, "bytes", true],
    ["output_bytes", "124.0 B", 124, "bytes", false],
    ["output_bytes", "33.2 KB", 33_996.8, "bytes", true],
    ["output_bytes", "2.3 MB", 2_411_724.8, "bytes", true],
    ["elapsed_compute", "27.22µs", 27_220, "ns", true],
    ["elapsed_compute", "31ns", 31, "ns", false],
    ["search_time", "1.5s", 1_500_000_000, "ns", true],
    ["pruned", "10 total", null, "text", false],
  ] as const)("%s=%s", (name, text, value, unit, rounded) => {
    expect(parseMetric(name, text)).toEqual({ name, text, value, unit, rounded });
  });

  test("a ratio keeps the numbers that it came from", () => {
    expect(parseMetric("selectivity", "90% (9/10)")).toMatchObject({ value: 0.9, unit: "ratio", of: [9, 10] });
    expect(parseMetric("selectivity", "100% (1.00 K/1.00 K)")).toMatchObject({ rounded: true, of: [1000, 1000] });
    expect(parseMetric("selectivity", "N/A (0/0)")).toMatchObject({ value: null, unit: "ratio", of: [0, 0] });
  });
});

describe("a plan of the engine", () => {
  const tree = parsePlan(example.plan);
  const nodes = nodesOf(tree);

  test("has one root, and the nodes of its lines", () => {
    expect(tree.roots.length).toBe(1);
    expect(nodes.map(({ name }) => name)).toEqual([
      "AnalyzeExec",
      "TracedExec",
      "ProjectionExec",
      "LanceRead",
      "LanceRead",
    ]);
    expect(nodes.map(({ id }) => id)).toEqual(nodes.keys().toArray());
  });

  test("has attributes, metrics and times", () => {
    const read = nodes.at(-1);
    expect(read?.attributes).toContainEqual({ key: "projection", value: "[id, category]" });
    expect(read?.attributes.map(({ key }) => key)).not.toContain("elapsed");
    expect(read).toMatchObject({ elapsed_ns: 1_581_354, own_ns: 1_581_354, rows_in: 20_000, rows_out: 20 });
    expect(nodes[3]).toMatchObject({ own_ns: 12_612_206 - 1_581_354, rows_in: 20 });
  });
});

test("own time is the inclusive time less the largest child's, because children overlap", () => {
  const line = (depth: number, name: string, ms: number): string =>
    `${"  ".repeat(depth)}${name}, elapsed=${ms}ms, metrics=[output_rows=5]`;
  const text = ["AnalyzeExec verbose=true, elapsed=8ms, metrics=[]", line(1, "UnionExec", 7.69), line(2, "A", 7.63)];
  const [, union, , slower] = nodesOf(parsePlan([...text, line(2, "B", 7.17)].join("\n")));
  expect(union?.own_ns).toBeCloseTo(60_000);
  expect(union).toMatchObject({ rows_in: 10, rows_out: 5 });
  expect(slower?.own_ns).toBe(7_170_000);
});

describe("text of a request inside a plan", () => {
  test("a line break and the text of a node stay in the literal", () => {
    const literal = 'x"\n  LanceRead: uri=a, metrics=[output_rows=1]\n    B';
    const plan = `FilterExec: a@0 = ${literal}\n  LanceScan: full_filter=a = Utf8("${literal}"), range=None`;
    const nodes = nodesOf(parsePlan(plan, [literal]));
    expect(nodes.map(({ name }) => name)).toEqual(["FilterExec", "LanceScan"]);
    expect(nodes[1]?.attributes).toEqual([
      { key: "full_filter", value: `a = Utf8("${literal}")` },
      { key: "range", value: "None" },
    ]);
  });

  test("brackets and quotes that do not match leave the known attributes whole", () => {
    const plan = 'LanceRead: uri=u, projection=[a[, b"], num_fragments=2, full_filter=a( = 1, refine_filter=--';
    expect(nodesOf(parsePlan(plan))[0]?.attributes.map(({ key }) => key)).toEqual([
      "uri",
      "projection",
      "num_fragments",
      "full_filter",
      "refine_filter",
    ]);
  });

  test.each(["(\n  A, ", "(, ", "a\n", '"=['])("the longest plan is parsed in linear time, of %j", (part) => {
    const text = `LanceRead: full_filter=${part.repeat(2 ** 19 / part.length)}`;
    expect(renderPlan(parsePlan(text, [part.repeat(2)]))).toBe(withoutEnd(text));
  });
});

describe("the check of every plan that a suite receives", () => {
  test.each([
    ["a text that is no plan", "lost: b", /not a node/],
    ["a metric of an unknown form", "AnalyzeExec verbose=true, elapsed=1ms, metrics=[rows=a few]", /unknown form/],
  ])("refuses %s", (_, plan, message) => {
    expect(() => checkPlan(plan, {})).toThrow(message);
  });

  test("the documented example fits its schema, and has a finding", () => {
    expect(planDocument.safeParse(example).error).toBeUndefined();
    expect(example.findings).toMatchObject([{ code: "missing-scalar-index", node: 4 }]);
  });

  test("accepts the plan of the documented example", () => {
    checkPlan(example, {});
  });
});

describe("generated plans", () => {
  interface Drawn {
    readonly name: string;
    readonly value: string;
    readonly children: readonly Drawn[];
  }

  const hostile = fc.string({
    unit: fc.constantFrom("\n", " ", ",", "[", "]", "(", '"', "'", "=", "a", "A", ":", "é"),
  });
  const drawnName = fc.constantFrom("LanceRead", "FilterExec", "UnionExec", "A1");
  const nodeOf: (levels?: number) => fc.Arbitrary<Drawn> = fc.memo((levels) =>
    fc.record({
      name: drawnName,
      value: hostile,
      children: levels > 1 ? fc.array(nodeOf(levels - 1), { maxLength: 3 }) : fc.constant([]),
    }),
  );

  const textOf = ({ name, value, children }: Drawn, depth: number, measured: boolean): string =>
    [
      `${"  ".repeat(depth)}${name}: ${measured ? "elapsed=1.5ms, " : ""}x="${value}"${measured ? ", metrics=[output_rows=2]" : ", y=--"}`,
      ...children.map((child) => textOf(child, depth + 1, measured)),
    ].join("\n");

  const shapeOf = ({
    name,
    children,
  }: Pick<PlanNode, "name"> & { readonly children: readonly (Drawn | PlanNode)[] }): unknown => [
    name,
    children.map(shapeOf),
  ];

  const values = ({ value, children }: Drawn): readonly string[] => [value, ...children.flatMap(values)];

  test("any text is in the tree, character by character", () => {
    const lines = fc.array(fc.oneof(hostile, fc.string(), fc.constant("  LanceRead: uri=a, metrics=[output_rows=1]")));
    fc.assert(
      fc.property(lines, fc.boolean(), (parts, measured) => {
        const text = `${measured ? "AnalyzeExec verbose=true, elapsed=1ms, metrics=[]\n" : ""}${parts.join("\n")}`;
        expect(renderPlan(parsePlan(text, parts))).toBe(withoutEnd(text));
      }),
    );
  });

  test.each([false, true])("a tree has its shape again (measured: %s)", (measured) => {
    fc.assert(
      fc.property(nodeOf(4), (root) => {
        const text = measured
          ? `AnalyzeExec verbose=true, elapsed=2ms, metrics=[]\n${textOf(root, 1, true)}`
          : textOf(root, 0, false);
        const [top] = parsePlan(text, values(root)).roots;
        const parsed = measured ? top?.children[0] : top;
        expect(parsed && shapeOf(parsed)).toEqual(shapeOf(root));
      }),
    );
  });
});
