import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { fields } from "../../../service/console/page/query/fields.ts";
import { fromQuery, parseVector, randomVector, toQuery } from "../../../service/console/page/query/form.ts";
import { type RunKind, snippets } from "../../../service/console/page/query/snippets.ts";
import { query, queryShape } from "../../../service/query/wire.ts";
import { useSharedService } from "../../support/service.ts";

describe("the form", () => {
  test("has every field of a query", () => {
    expect(fields.map(({ key }) => key).sort()).toEqual(Object.keys(queryShape).sort());
  });

  const full = {
    k: "5",
    vector: "0.5, -1 2e-3",
    vector_column: "vector",
    distance_type: "cosine",
    ef: "40",
    nprobes: "3",
    refine_factor: "2",
    lower_bound: "-0.5",
    upper_bound: "1.5",
    bypass_vector_index: "true",
    fast_search: "true",
    filter: "x = 'a, b'",
    prefilter: "true",
    columns: "id, name",
    order_by: "a desc nulls first, b",
    offset: "7",
    version: "2",
    branch: "trial",
    with_row_id: "true",
  };

  test("becomes a query that the service accepts, and the query the same form", () => {
    const { query: wire, problems } = toQuery(full);
    expect(problems).toEqual([]);
    expect(wire).toMatchObject({
      k: 5,
      vector: [0.5, -1, 0.002],
      columns: ["id", "name"],
      order_by: [
        { column_name: "a", ascending: false, nulls_first: true },
        { column_name: "b", ascending: true, nulls_first: false },
      ],
    });
    expect(query.safeParse(wire)).toMatchObject({ success: true });
    expect(toQuery(fromQuery(wire))).toEqual({ query: wire, problems: [] });
  });

  test("takes full text as words and as clauses", () => {
    const words = toQuery({ full_text_query: 'hello "world"' }).query;
    const clause = toQuery({ full_text_query: '{"match": {"terms": "hello", "column": "text"}}' }).query;
    expect([words, clause].map((wire) => query.safeParse(wire).success)).toEqual([true, true]);
    expect([words, clause].map((wire) => toQuery(fromQuery(wire)).query)).toEqual([words, clause]);
  });

  test("leaves out what is empty, and returns 10 rows unless told otherwise", () => {
    expect(toQuery({ filter: "  ", vector: "" })).toEqual({ query: { k: 10 }, problems: [] });
  });

  test.each([
    ["k", "ten", /whole number/],
    ["k", "-1", /whole number/],
    ["vector", "1, x", /"x" is not a number/],
    ["vector", "[1, null]", /array of numbers/],
    ["vector", "[", /not valid JSON/],
    ["upper_bound", "far", /not a number/],
    ["columns", "{", /not valid JSON/],
  ])("names the field %s for %j", (key, text, message) => {
    const { problems, query: wire } = toQuery({ [key]: text });
    expect(problems).toEqual([{ key, message: expect.stringMatching(message) }]);
    expect(wire).toEqual({ k: 10 });
  });

  test("vectors are numbers, JSON, several, or random", () => {
    expect(parseVector("[[1, 2], [3, 4]]")).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(parseVector("1;2\n3")).toEqual([1, 2, 3]);
    expect(JSON.parse(randomVector(3, () => 0.75))).toEqual([0.5, 0.5, 0.5]);
  });
});

const execute = promisify(execFile);

describe("a copied program sends the same request", () => {
  const service = useSharedService();

  /** Quotes of every language, an emoji, a line break and a backslash in a literal. */
  const hostile = `text != 'it''s "quoted" $HOME \`id\` \\ 🐋\nü %s {0}'`;
  const cases = (["explain", "analyze", "rows"] as const).flatMap((kind) =>
    (Object.keys(snippets) as (keyof typeof snippets)[]).map((language) => [language, kind] as const),
  );

  const run = async (language: keyof typeof snippets, kind: RunKind): Promise<string> => {
    const request = {
      root: `${service.base}/`,
      table: "prod$vectors$docs",
      kind,
      query: { k: 3, filter: hostile, prefilter: true, offset: 0 },
    };
    const env = { ...process.env, LAKEHEAD_TOKEN: service.token };
    const code = snippets[language](request);
    const options = { cwd: service.directory, env };
    if (language === "curl") return (await execute("sh", ["-c", code], options)).stdout;
    if (language === "python") return (await execute("python3", ["-c", code], options)).stdout;
    const file = join(service.directory, `snippet-${kind}.mts`);
    await writeFile(file, code);
    return (await execute(process.execPath, [file], options)).stdout;
  };

  test.each(cases)("%s, %s", async (language, kind) => {
    const before = service.log.length;
    const output = await run(language, kind);
    const requests = service.log.slice(before).filter(({ operation }) => operation !== undefined);
    const operation = { explain: "explain_plan", analyze: "analyze_plan", rows: "query" }[kind];
    expect(requests).toMatchObject([{ operation, status: 200, table: "prod$vectors$docs", principal: "tester" }]);
    if (kind !== "rows") expect(output).toContain("LanceRead");
  });

  test("none holds the token", () => {
    const request = { root: `${service.base}/`, table: "t", kind: "rows", query: { k: 1 } } as const;
    for (const write of Object.values(snippets)) expect(write(request)).not.toContain(service.token);
  });
});
