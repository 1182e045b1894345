import { describe, expect, test } from "vitest";
import { useService } from "../../support/service.ts";
import { vectorOf } from "../../support/tables.ts";
import { beyondSafe, type Fields, noLimit, refused, search, whole } from "./support.ts";

const service = useService({ environment: { LAKEHEAD_MAX_K: "1000" } });

const fts = (clause: unknown): Fields => ({ k: 5, full_text_query: { query: clause } });
const ordered = { order_by: [{ column_name: "id" }] };

const raise = "ask for less, or have the operator raise the limit";
const namesFault = "must be an array of column names (non-empty strings), or of pairs of alias and SQL expression";
const requiresVector = "requires vector: send one, or remove this key";
const oneClause = "must be an object with exactly one key of match, phrase, boost, multi_match, boolean";
const uniform =
  "every entry of match_queries must name its column and all must share terms and operator, without fuzziness, " +
  "max_expansions or prefix_length: use a boolean clause of match clauses instead";

describe("unsupported values are refused with their key", () => {
  test.each<[key: string, rest: string, query: Fields]>([
    ["k", `${whole}, or 9223372036854775807 for no limit`, {}],
    ["k", `${whole}, or 9223372036854775807 for no limit`, { k: null }],
    [
      "full_text_query",
      "cannot be combined with vector: a hybrid search is two queries, send each by itself",
      { ...search, full_text_query: { query: "hello" } },
    ],
    ...(
      [
        ["vector_column", "vector"],
        ["distance_type", "l2"],
        ["ef", 10],
        ["lower_bound", 0],
        ["upper_bound", 0],
        ["nprobes", 0],
        ["minimum_nprobes", 1],
        ["maximum_nprobes", 1],
        ["refine_factor", 1],
      ] as const
    ).flatMap(([key, value]): [string, string, Fields][] => [
      [key, requiresVector, { k: 5, [key]: value }],
      [key, requiresVector, { k: 5, vector: { single_vector: [] }, [key]: value }],
    ]),
    ["vector_column", requiresVector, { ...fts({ match: { terms: "a" } }), vector_column: "vector" }],
    ["minimum_nprobes", "must be 1 or greater", { ...search, minimum_nprobes: 0 }],
    ["vector_column", "must not be empty", { ...search, vector_column: "" }],
    [
      "distance_type",
      "must be one of l2, cosine, dot, hamming, euclidean, inner_product",
      { ...search, distance_type: "manhattan" },
    ],
    [
      "distance_type",
      "must be one of l2, cosine, dot, hamming, euclidean, inner_product",
      { ...search, distance_type: "constructor" },
    ],
    ["lower_bound", "must fit a 32-bit float", { ...search, lower_bound: 1e39 }],
    ["upper_bound", "must be a finite number", { ...search, upper_bound: "1" }],
    ["filter", "must be of type string, not number", { k: 5, filter: 1 }],
    ["with_row_id", "must be of type boolean, not string", { k: 5, with_row_id: "true" }],
    ["fast_search", "must be of type boolean, not number", { k: 5, fast_search: 1 }],
    ["branch", "must not be empty", { k: 5, branch: "" }],
    ["order_by", "must be of type array, not string", { k: 5, order_by: "id" }],
    ["order_by[0].column_name", "is missing: send a value of type string", { k: 5, order_by: [{ ascending: true }] }],
    ["order_by[0].column_name", "must not be empty", { k: 5, order_by: [{ column_name: "" }] }],
  ])("%s %s", async (key, rest, query) => {
    expect(await refused(service, query)).toEqual([`query.${key} ${rest}`, `${key} ${rest}`]);
  });
});

describe("vector", () => {
  test.each<[key: string, rest: string, vector: unknown]>([
    ["vector", "must be an array of numbers or an object with single_vector or multi_vector", "0.5, 0.25"],
    ["vector", "must hold one of single_vector and multi_vector", { singel_vector: [1] }],
    ["vector", "must hold only one of single_vector and multi_vector", { single_vector: [1], multi_vector: [[1]] }],
    ["vector[1]", "must be a number, not of type string", [1, "2"]],
    ["vector[1]", "must be a number, not of type null", [1, null]],
    ["vector[0]", "does not fit a 32-bit float", [1e39]],
    ["vector[0]", "must not be empty", [[]]],
    ["vector[1]", "must be an array of numbers", [[1], 2]],
    ["vector[1]", "must be a number, not of type object", [1, [2]]],
    ["vector.single_vector", "must be an array of numbers", { single_vector: 1 }],
    ["vector.single_vector[0]", "must be a number, not of type object", { single_vector: [[1]] }],
    ["vector.multi_vector[0]", "must be an array of numbers", { multi_vector: [1] }],
    ["vector.multi_vector[1][0]", "must be a number, not of type boolean", { multi_vector: [[1], [true]] }],
  ])("%s %s", async (key, rest, vector) => {
    expect(await refused(service, { ...search, vector })).toEqual([`query.${key} ${rest}`, `${key} ${rest}`]);
  });
});

describe("columns", () => {
  test.each<[rest: string, columns: unknown]>([
    ["must be an array of names or an object", "id"],
    [namesFault, ["id", 1]],
    [namesFault, [["t", "upper(title)"], "id"]],
    [namesFault, [["t", "upper(title)", "id"]]],
    [namesFault, { column_names: [""] }],
    ["must name at least one column", { x: null }],
    ["must hold exactly one of column_names and column_aliases", { column_names: ["id"], column_aliases: { x: "id" } }],
    ["must map each alias to an SQL expression (a string)", { x: "id", y: 1 }],
    ["must map each alias to an SQL expression (a string)", { column_aliases: { x: ["id"] } }],
  ])("%s: %j", async (rest, columns) => {
    expect(await refused(service, { k: 5, columns })).toEqual([`query.columns ${rest}`, `columns ${rest}`]);
  });
});

describe("full_text_query", () => {
  test.each<[key: string, rest: string, query: Fields]>([
    ["", "must hold string_query, structured_query or query", { k: 5, full_text_query: { query: 5 } }],
    [
      "",
      "must hold exactly one of string_query and structured_query",
      {
        k: 5,
        full_text_query: { string_query: { query: "a" }, structured_query: { query: { match: { terms: "a" } } } },
      },
    ],
    ["", "must hold string_query, structured_query or query", { k: 5, full_text_query: { string_query: {} } }],
    [
      ".string_query.query",
      "is missing: send a value of type string",
      { k: 5, full_text_query: { string_query: { columns: [] } } },
    ],
    [".columns[0]", "must not be empty", { k: 5, full_text_query: { query: "a", columns: [""] } }],
    [".structured_query.query", oneClause, { k: 5, full_text_query: { structured_query: { query: {} } } }],
    [".query", oneClause, fts({})],
    [".query", oneClause, fts({ match: { terms: "a" }, phrase: { terms: "b" } })],
    [".query", oneClause, fts({ constructor: {} })],
    [".query.match.terms", "is missing: send a value of type string", fts({ match: {} })],
    [".query.match.operator", "must be And or Or", fts({ match: { terms: "a", operator: "xor" } })],
    [".query.boost.negative", oneClause, fts({ boost: { positive: { match: { terms: "a" } } } })],
    [
      ".query.boolean.must[1].phrase.terms",
      "is missing: send a value of type string",
      fts({ boolean: { must: [{ match: { terms: "a" } }, { phrase: {} }] } }),
    ],
    [
      ".query.multi_match.match_queries",
      "must hold at least one match clause",
      fts({ multi_match: { match_queries: [] } }),
    ],
    [".query.multi_match.columns", "must name at least one column", fts({ multi_match: { query: "a", columns: [] } })],
    [
      ".query.multi_match",
      "boost must have one number for each of columns",
      fts({ multi_match: { query: "a", columns: ["text"], boost: [1, 2] } }),
    ],
    ...[
      [{ terms: "a" }],
      [
        { terms: "a", column: "text" },
        { terms: "b", column: "title" },
      ],
      [
        { terms: "a", column: "text" },
        { terms: "a", column: "title", operator: "And" },
      ],
      [{ terms: "a", column: "text", fuzziness: 1 }],
      [{ terms: "a", column: "text", max_expansions: 9 }],
      [{ terms: "a", column: "text", prefix_length: 1 }],
    ].map((entries): [string, string, Fields] => [
      ".query.multi_match",
      uniform,
      fts({ multi_match: { match_queries: entries } }),
    ]),
  ])("%s %s", async (key, rest, query) => {
    const path = `full_text_query${key}`;
    expect(await refused(service, query)).toEqual([`query.${path} ${rest}`, `${path} ${rest}`]);
  });
});

describe("bounds, after defaults", () => {
  test.each<[error: string, query: Fields]>([
    ["k is 0: send 1 or more with a vector, full_text_query or order_by", { ...search, k: 0 }],
    ["k is 0: send 1 or more with a vector, full_text_query or order_by", { ...fts("hello"), k: 0 }],
    ["k is 0: send 1 or more with a vector, full_text_query or order_by", { k: 0, ...ordered }],
    [
      "k is unlimited: send at most 1000 with a vector, full_text_query or order_by of a table with more rows",
      { ...search, k: noLimit },
    ],
    [
      "k is unlimited: send at most 1000 with a vector, full_text_query or order_by of a table with more rows",
      { ...fts("hello"), k: noLimit },
    ],
    [`k is 1001, at most 1000 is allowed: ${raise}`, { ...search, k: 1001 }],
    [`k is 1001, at most 1000 is allowed: ${raise}`, { k: 1001, ...ordered }],
    ["refine_factor is 0: send 1 or more, or leave it out", { ...search, refine_factor: 0 }],
    [
      `(k + offset) times refine_factor times the number of vectors is 2000000, at most 1000000 is allowed: ${raise}`,
      { ...search, k: 1000, refine_factor: 1000, vector: [vectorOf(1), vectorOf(2)] },
    ],
    [
      "maximum_nprobes is 3, below minimum_nprobes (4): raise it, lower the other, or send 0 for all",
      { ...search, minimum_nprobes: 4, maximum_nprobes: 3 },
    ],
    [
      "prefilter is false: a full-text search that filters what it found is two queries, which have no plan; send true or leave it out, or send the query to query",
      { ...fts("hello"), filter: "id < 5", prefilter: false },
    ],
    [
      "the table has several columns with a full-text index: set column in the phrase clause",
      fts({ phrase: { terms: "hello world" } }),
    ],
    [
      "the table has several columns with a full-text index: set column in the match clause",
      fts({ match: { terms: "hello", fuzziness: 1 } }),
    ],
  ])("%s", async (error, query) => {
    expect(await refused(service, query)).toEqual([error, error]);
  });

  test("a sort without a limit of a table with more rows can be explained but not run", async () => {
    const query = { k: noLimit, ...ordered };
    expect((await service.call("explain_plan", "docs", { query })).status).toBe(200);
    expect((await service.call("analyze_plan", "docs", query)).body).toMatchObject({
      code: 13,
      error: "k is unlimited: send at most 1000 with a vector, full_text_query or order_by of a table with more rows",
    });
  });

  test("a clause without a column is refused on a table without a full-text index", async () => {
    const { body } = await service.call("analyze_plan", "plain", fts({ match: { terms: "row" } }));
    expect(body).toMatchObject({
      code: 13,
      error: "no column of the table has a full-text index: create one, or set column in the clause",
    });
  });

  test("several faults are reported together", async () => {
    const { body } = await service.call("analyze_plan", "docs", { k: -1, offset: 1.5, filter: 3 });
    expect(body.error).toBe("k must be 0 or greater");
    expect(body.detail).toBe(`k must be 0 or greater; filter must be of type string, not number; offset ${beyondSafe}`);
  });
});

describe("missing objects have their own codes", () => {
  test.each<[query: Fields, code: number, error: string]>([
    [{ k: 5, columns: ["nope"] }, 12, 'column not found: the table has no column "nope"'],
    [{ k: 5, columns: { x: "nope + 1" } }, 12, 'column not found: the table has no column "nope"'],
    [{ k: 5, filter: "nope = 1" }, 12, 'column not found: the table has no column "nope"'],
    [{ k: 5, order_by: [{ column_name: "nope" }] }, 12, 'column not found: the table has no column "nope"'],
    [{ ...search, vector_column: "nope" }, 12, 'column not found: the table has no column "nope"'],
    [fts({ match: { terms: "a", column: "nope" } }), 12, 'column not found: the table has no column "nope"'],
    [{ k: 5, branch: "nope" }, 22, "branch not found: the table has no such branch"],
    [{ k: 5, branch: "experiment", version: 99 }, 11, "version not found: the table has no such version"],
  ])("%j", async (query, code, error) => {
    const { status, body } = await service.call("explain_plan", "docs", { query });
    expect([status, body.code, body.error]).toEqual([404, code, error]);
  });
});
