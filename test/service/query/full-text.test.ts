import { connect, Index } from "@lancedb/lancedb";
import { describe, expect, test } from "vitest";
import { useSharedService } from "../../support/service.ts";
import { explain, type Fields } from "./support.ts";

const service = useSharedService();

const match = (fields: Fields = {}): Fields => ({ match: { terms: "hello world", column: "text", ...fields } });
const phrase = (fields: Fields = {}): Fields => ({ phrase: { terms: "hello world", column: "text", ...fields } });
const structured = (clause: Fields): Fields => ({ k: 5, full_text_query: { structured_query: { query: clause } } });
const string = (query: Fields): Fields => ({ k: 5, full_text_query: { string_query: query } });

/** A plan prints a clause's options only if the clause is nested. */
const inside = (clause: Fields): Fields => structured({ boolean: { must: [clause], should: [], must_not: [] } });

const ask = (query: Fields): Promise<string> => explain(service, query);

describe("a string query", () => {
  test("searches the named column", async () => {
    const plan = await ask(string({ query: "hello world", columns: ["text"] }));
    expect(plan).toContain("MatchQuery: column=text, query=[hello world]");
    expect(plan).not.toContain("column=title");
  });

  test.each<[string, Fields]>([
    ["columns named", { query: "hello", columns: ["text", "title"] }],
    ["no columns", { query: "hello" }],
    ["columns []", { query: "hello", columns: [] }],
    ["columns null", { query: "hello", columns: null }],
  ])("searches all indexed columns: %s", async (_, query) => {
    const plan = await ask(string(query));
    for (const column of ["text", "title"]) expect(plan).toContain(`column=${column}, query=Match`);
  });
});

describe("a match clause", () => {
  test.each<[string, Fields, string, string]>([
    ["terms", { terms: "puppy" }, 'terms: "puppy"', 'terms: "hello world"'],
    ["column", { column: "title" }, 'column: Some("title")', 'column: Some("text")'],
    ["boost", { boost: 2.5 }, "boost: 2.5", "boost: 1.0"],
    ["fuzziness", { fuzziness: 2 }, "fuzziness: Some(2)", "fuzziness: Some(0)"],
    ["max_expansions", { max_expansions: 7 }, "max_expansions: 7", "max_expansions: 50"],
    ["operator", { operator: "And" }, "operator: And", "operator: Or"],
    ["operator in another case", { operator: "aND" }, "operator: And", "operator: Or"],
    ["operator in a client's quotes", { operator: '"And"' }, "operator: And", "operator: Or"],
    ["prefix_length", { prefix_length: 3 }, "prefix_length: 3", "prefix_length: 0"],
  ])("%s changes the plan", async (_, fields, appears, vanishes) => {
    const without = await ask(inside(match()));
    const plan = await ask(inside(match(fields)));
    expect(plan).toContain(appears);
    expect(plan).not.toContain(vanishes);
    expect(without).toContain(vanishes);
    expect(without).not.toContain(appears);
  });

  test("its defaults are the catalog's, whether absent, null or sent", async () => {
    const absent = await ask(inside(match()));
    const nulls = { boost: null, max_expansions: null, operator: null, prefix_length: null };
    const sent = { boost: 1, fuzziness: 0, max_expansions: 50, operator: "Or", prefix_length: 0 };
    expect(await ask(inside(match(nulls)))).toBe(absent);
    expect(await ask(inside(match(sent)))).toBe(absent);
  });

  test.each([{}, { column: null }])("without a column it searches all indexed ones: %j", async (column) => {
    const plan = await ask(structured({ match: { terms: "hello", boost: 2, operator: "And", ...column } }));
    for (const name of ["text", "title"])
      expect(plan).toMatch(new RegExp(`column: Some\\("${name}"\\), terms: "hello", boost: 2.0,.*operator: And`));
  });
});

test("a clause without a column means the only indexed one, with all its options", async () => {
  const connection = await connect(service.directory);
  const table = await connection.createTable("single", [{ text: "hello world", title: "hello" }]);
  await table.createIndex("text", { config: Index.fts({ withPosition: true }) });
  connection.close();
  const plan = await explain(service, inside({ match: { terms: "hello", fuzziness: 1 } }), "single");
  expect(plan).toContain('MatchQuery { column: Some("text"), terms: "hello", boost: 1.0, fuzziness: Some(1)');
  expect(await explain(service, inside({ phrase: { terms: "hello", slop: 1 } }), "single")).toContain(
    'PhraseQuery { column: Some("text"), terms: "hello", slop: 1',
  );
});

describe("a phrase clause", () => {
  test.each<[string, Fields, string]>([
    ["terms", { terms: "world puppy" }, 'terms: "world puppy"'],
    ["column", { column: "title" }, 'column: Some("title")'],
    ["slop", { slop: 2 }, "slop: 2"],
  ])("%s changes the plan", async (_, fields, appears) => {
    const without = await ask(inside(phrase()));
    expect(without).not.toContain(appears);
    expect(without).toContain("slop: 0");
    expect(await ask(inside(phrase(fields)))).toContain(appears);
  });

  test("is planned as a phrase by itself", async () => {
    expect(await ask(structured(phrase()))).toContain("PhraseQuery: column=text, query=hello world");
  });
});

describe("a boost clause", () => {
  const boost = (fields: Fields = {}): Fields =>
    structured({ boost: { positive: match({ terms: "hello" }), negative: match({ terms: "puppy" }), ...fields } });

  test("tells positive from negative", async () => {
    expect(await ask(boost())).toMatch(/positive=Match\(.*terms: "hello".*negative=Match\(.*terms: "puppy"/);
  });

  test("negative_boost changes the plan, and is 0.5 by default", async () => {
    const without = await ask(boost());
    expect(without).toContain("negative_boost=0.5)");
    expect(await ask(boost({ negative_boost: null }))).toBe(without);
    expect(await ask(boost({ negative_boost: 0.25 }))).toContain("negative_boost=0.25)");
  });

  test("takes clauses of any kind", async () => {
    const plan = await ask(boost({ negative: phrase() }));
    expect(plan).toContain("BoostQuery: negative_boost=0.5");
    expect(plan).toContain("PhraseQuery: column=text, query=hello world");
  });
});

describe("a multi_match clause", () => {
  const ofColumns = (fields: Fields = {}): Fields =>
    inside({ multi_match: { query: "hello", columns: ["text", "title"], ...fields } });
  const ofClauses = (first: Fields = {}, second: Fields = {}): Fields =>
    inside({
      multi_match: {
        match_queries: [
          { terms: "hello", column: "text", ...first },
          { terms: "hello", column: "title", ...second },
        ],
      },
    });

  test("has two forms, which plan the same", async () => {
    const plan = await ask(ofColumns());
    expect(plan).toMatch(/match_queries: \[.*Some\("text"\), terms: "hello".*Some\("title"\), terms: "hello"/);
    expect(await ask(ofClauses())).toBe(plan);
    expect(await ask(ofColumns({ boost: [2, 3] }))).toBe(await ask(ofClauses({ boost: 2 }, { boost: 3 })));
    expect(await ask(ofColumns({ operator: "And" }))).toBe(
      await ask(ofClauses({ operator: "and" }, { operator: "AND" })),
    );
  });

  test("boost and operator change the plan", async () => {
    expect(await ask(ofColumns({ boost: [2, 3] }))).toMatch(
      /Some\("text"\).*boost: 2\.0.*Some\("title"\).*boost: 3\.0/,
    );
    expect(await ask(ofColumns({ operator: "And" }))).not.toContain("operator: Or");
    expect(await ask(ofColumns({ boost: null, operator: null }))).toBe(await ask(ofColumns()));
  });

  test("columns and query change the plan", async () => {
    expect(await ask(ofColumns({ columns: ["title"] }))).not.toContain('Some("text")');
    expect(await ask(ofColumns({ query: "puppy" }))).toContain('terms: "puppy"');
  });
});

describe("a boolean clause", () => {
  test.each(["must", "should", "must_not"])("%s holds what was sent in it and nothing else", async (list) => {
    const clause = match({ terms: `only ${list}` });
    const positive = { should: [match({ terms: "positive" })] };
    const plan = await ask(
      structured({ boolean: { ...(list === "must_not" ? positive : {}), [list]: [clause, phrase()] } }),
    );
    const [, content] = new RegExp(`[ (]${list}=\\[(.*?)\\](?:, \\w+=|$|\\))`, "m").exec(plan) ?? [];
    expect(content).toContain(`only ${list}`);
    expect(content).toContain("Phrase");
  });

  test("null and [] are absent", async () => {
    const must = [match()];
    const plan = await ask(structured({ boolean: { must } }));
    expect(await ask(structured({ boolean: { must, should: null, must_not: [] } }))).toBe(plan);
  });

  test("nests", async () => {
    const inner = { boolean: { must: [phrase({ slop: 3 })], should: [], must_not: [] } };
    const middle = { boost: { positive: match(), negative: inner, negative_boost: 0.125 } };
    const plan = await ask(
      structured({ boolean: { must: [match({ terms: "top" })], should: [middle], must_not: [inner] } }),
    );
    expect(plan).toMatch(/must=\[Match\(MatchQuery \{ .*terms: "top"/);
    expect(plan).toMatch(/must_not=\[Boolean\(BooleanQuery \{ .*slop: 3/);
    expect(plan).toContain("negative_boost: 0.125");
  });
});
