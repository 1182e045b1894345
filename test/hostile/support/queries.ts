import { harmfulExpressions } from "../../service/guard/expression/support/harmful-expressions.ts";
import { dimensions, vectorOf } from "../../support/tables.ts";

type Query = Readonly<Record<string, unknown>>;

const repeat = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index / count);
const nestedIn = (levels: number, wrap: (inner: unknown) => unknown, seed: unknown): unknown =>
  repeat(levels, wrap).reduce((inner, next) => next(inner), seed);

const vector = { single_vector: vectorOf(1) };
const scan = { k: 5, vector: null };
const search = { k: 5, vector };
export const filtered = (filter: unknown): Query => ({ ...scan, filter });
const match = (more: Query = {}) => ({ match: { terms: "puppy", column: "text", ...more } });
const text = (query: unknown): Query => ({ ...scan, full_text_query: { structured_query: { query } } });
const deepBoolean = (levels: number) => nestedIn(levels, (inner) => ({ boolean: { must: [inner] } }), match());
const deepBoost = (levels: number) =>
  nestedIn(levels, (inner) => ({ boost: { positive: inner, negative: match() } }), match());

/** Filters and aliases that the planner computes for seconds in the main process. */
const slowToPlan: Readonly<Record<string, string>> = {
  "a pattern on constant text": repeat(3, "regexp_like('aaa', '(.{1000}){999}')").join(" or "),
  "a pattern on text that the planner finds constant": "regexp_like(coalesce('aaa', s), '(.{1000}){999}')",
  "a pattern in the flags": "regexp_like('aaa', 'a', 'i)(.{1000}){999}(?i')",
  "a pattern of wide ranges without case": `regexp_like(s, '(?i)${"[a-\\x{10FFFF}]".repeat(60)}')`,
  "a comparison of comparisons": nestedIn(8, (inner) => `((${inner})<(x))::int`, "id") as string,
  "a sum of 100 columns": `id = id${"+id".repeat(100)}`,
};

/** Filters and aliases that end the engine or occupy it, and longer ones than any. */
export const expressions: Readonly<Record<string, string>> = {
  ...harmfulExpressions,
  ...slowToPlan,
  ...Object.fromEntries(
    [1_000, 10_000, 50_000, 300_000].map((terms) => [`${terms} additions`, `id = 1${"+1".repeat(terms)}`]),
  ),
  "60,000 ORs": repeat(60_000, "id=1").join(" or "),
  "300,000 parentheses": `${"(".repeat(300_000)}id = 1${")".repeat(300_000)}`,
  "a list of 100,000": `id in (${numbers(100_000).map((_, index) => index)})`,
  "a string of 900 kB": `text = '${"a".repeat(900_000)}'`,
  "a name of 900 kB": "a".repeat(900_000),
  "900 kB of quotes": "'".repeat(900_001),
  "900 kB of spaces": " ".repeat(900_000),
  "a tail after a semicolon": "1=1; drop table t",
};

/** Queries without an expression that kill the engine, on the table `docs`. */
export const killing: Readonly<Record<string, Query>> = {
  "refine_factor of 2^32-1": { ...search, vector_column: "vector", refine_factor: 2 ** 32 - 1 },
};

/** Must be refused: 4xx with a contract body. */
export const refused: Readonly<Record<string, Query>> = {
  ...killing,
  "a fuzzy word of 300 letters": text(match({ terms: "a".repeat(300), fuzziness: 2 })),
  "500 slow aliases": {
    ...scan,
    columns: Object.fromEntries(repeat(500, "coalesce(id, 1) + coalesce(id, 2)").map((alias, at) => [`a${at}`, alias])),
  },
  "501 columns": { ...scan, columns: repeat(501, "id") },
  "a filter that is a number": filtered(1),
  "a filter that is an array": filtered(["id = 1"]),
  "an alias that is an object": { ...scan, columns: { a: { b: "id" } } },

  "a vector of 8,193 dimensions": { k: 5, vector: { single_vector: numbers(8193) } },
  "a vector of 100,000 dimensions": { k: 5, vector: { single_vector: numbers(100_000) } },
  "a vector of the wrong dimensions": { k: 5, vector: { single_vector: numbers(3) } },
  "a vector beyond 32-bit floats": { k: 5, vector: { single_vector: [1e39, ...numbers(dimensions - 1)] } },
  "a vector with a string": { k: 5, vector: { single_vector: ["NaN", ...numbers(dimensions - 1)] } },
  "a vector with null": { k: 5, vector: { single_vector: [null, ...numbers(dimensions - 1)] } },
  "a vector of vectors of vectors": { k: 5, vector: { multi_vector: [[[1]]] } },
  "101 vectors": { k: 5, vector: { multi_vector: repeat(101, vectorOf(1)) } },
  "vectors of different lengths": { k: 5, vector: { multi_vector: [vectorOf(1), [1]] } },
  "both kinds of vector": { k: 5, vector: { single_vector: vectorOf(1), multi_vector: [vectorOf(1)] } },
  "a million wrong elements": { k: 5, vector: { single_vector: repeat(200_000, "x") } },

  "a million rows to rank": { ...search, k: 1_000_000 },
  "k times refine_factor": { ...search, k: 10_000, refine_factor: 1000 },
  "no limit beside a vector": { ...search, k: 2 ** 63 },
  "k 0 beside a vector": { ...search, k: 0 },
  "refine_factor 0": { ...search, refine_factor: 0 },

  "a boolean tree of depth 9": text(deepBoolean(9)),
  "a boost tree of depth 9": text(deepBoost(9)),
  "a boolean tree of depth 1,000": text(deepBoolean(1000)),
  "65 clauses": text({ boolean: { should: repeat(65, match()) } }),
  "10,000 clauses": text({ boolean: { should: repeat(10_000, match()) } }),
  "10,000 wrong clauses": text({ boolean: { should: repeat(10_000, { match: { terms: 1 } }) } }),
  "terms of 9 kB": text(match({ terms: "puppy ".repeat(1500) })),
  "terms of 900 kB": text(match({ terms: "puppy ".repeat(150_000) })),
  "a text of 900 kB": { ...scan, full_text_query: { string_query: { query: "puppy ".repeat(150_000) } } },
  "nine levels above 10,000 wrong clauses": text(
    nestedIn(9, (inner) => ({ boolean: { must: [inner] } }), { boolean: { must: repeat(10_000, {}) } }),
  ),
  "nine levels above 30,000 empty booleans": text(
    nestedIn(9, (inner) => ({ boolean: { must: [inner] } }), { boolean: { must: repeat(30_000, { boolean: {} }) } }),
  ),
  "70 empty booleans": text({ boolean: { should: repeat(70, { boolean: {} }) } }),
  "100,000 match_queries": text({ multi_match: { match_queries: repeat(100_000, {}) } }),
  "300,000 columns of a text": {
    ...scan,
    full_text_query: { string_query: { query: "a", columns: repeat(300_000, 1) } },
  },
  "fuzziness of 2^32+1": text(match({ fuzziness: 2 ** 32 + 1 })),
  "max_expansions of a million": text(match({ max_expansions: 1_000_000 })),
  "prefix_length of 2^32+1": text(match({ prefix_length: 2 ** 32 + 1 })),
  "slop of 2^32+1": text({ phrase: { terms: "hello world", column: "text", slop: 2 ** 32 + 1 } }),
  "an unknown clause": text({ sleep: 1 }),
  "two clauses in one": text({ ...match(), phrase: { terms: "a" } }),
  "no clause": text({}),
  "multi_match of 501 columns": text({ multi_match: { query: "puppy", columns: repeat(501, "text") } }),
  "a clause __proto__": text(JSON.parse('{"__proto__": {"match": {"terms": "x"}}}')),

  "an unknown distance": { ...search, distance_type: "constructor" },
  "300,000 wrong orderings": { ...scan, order_by: repeat(300_000, {}) },
  "400,000 wrong columns": { ...scan, columns: repeat(400_000, 1) },
  "200,000 vectors": { k: 5, vector: { multi_vector: repeat(200_000, [1]) } },
  "501 orderings": { ...scan, order_by: repeat(501, { column_name: "id" }) },
  "a branch that is a path": { ...scan, branch: "../../etc" },
};

/** May be answered or refused, never with a 5xx. */
export const answered: Readonly<Record<string, Query>> = {
  // The table has fewer rows than a search may keep.
  "k of 2^32-1": { ...search, vector_column: "vector", k: 2 ** 32 - 1 },
  "fuzziness 3": text(match({ fuzziness: 3 })),
  "a column name with 5,000 dots": { ...scan, columns: [`id${".a".repeat(5000)}`] },
  "a column name with 5,000 backquotes": { ...scan, columns: ["`".repeat(5000)] },
  "a column name of 100 kB": { ...scan, columns: ["a".repeat(100_000)] },
  "a column name that is an expression": { ...scan, columns: [harmfulExpressions["overflows the stack: additions"]] },
  "the same column 500 times": { ...scan, columns: repeat(500, "id") },
  "an alias __proto__": { ...scan, columns: JSON.parse('{"__proto__": "id"}') },
  "an alias of 100 kB": { ...scan, columns: { ["a".repeat(100_000)]: "id" } },
  "an alias with a quote, a newline and NUL": { ...scan, columns: { "a\"b'c`d\n\u0000": "id" } },
  "an alias of a constant": { ...scan, columns: { one: "1" } },
  "128 operators over all aliases": {
    ...scan,
    columns: Object.fromEntries(repeat(128, 0).map((_, index) => [`a${index}`, `id + ${index}`])),
  },
  "an ordering by 5,000 dots": { ...scan, order_by: [{ column_name: `id${".a".repeat(5000)}` }] },
  "an ordering by an expression": { ...scan, order_by: [{ column_name: "repeat('a',500000000)" }] },
  "a vector column that is an expression": { ...search, vector_column: "repeat('a',500000000)" },
  "a vector column with 5,000 dots": { ...search, vector_column: `vector${".a".repeat(5000)}` },
  "an empty vector, which some clients send for none": { k: 5, vector: { single_vector: [] } },
  "a vector of zeros by cosine": { k: 5, vector: { single_vector: repeat(dimensions, 0) }, distance_type: "cosine" },
  "the largest floats": { k: 5, vector: { single_vector: repeat(dimensions, 3.4e38) } },
  "bounds upside down": { ...search, lower_bound: 5, upper_bound: -5 },
  "the largest ef, nprobes and k": { ...search, k: 10_000, ef: 20_000, nprobes: 4096 },
  "an offset beyond the table": { ...scan, offset: 1_000_000 },
  "a boolean tree of depth 8": text(deepBoolean(7)),
  "64 clauses": text({ boolean: { should: repeat(64, match()) } }),
  "64 fuzzy clauses": text({ boolean: { should: repeat(64, match({ fuzziness: 2, max_expansions: 1000 })) } }),
  "terms of 8 kB, all different": text(
    match({
      terms: numbers(1500)
        .map((_, index) => `w${index}`)
        .join(" "),
    }),
  ),
  "one term of 200 bytes, fuzzy": text(match({ terms: "a".repeat(200), fuzziness: 2 })),
  "a phrase of 1,000 terms": text({ phrase: { terms: "hello ".repeat(1000), column: "text", slop: 1000 } }),
  "a phrase of control characters": text({ phrase: { terms: "\u0000\u0001\ufeff\u202e", column: "text" } }),
  "no terms": text(match({ terms: "" })),
  "an empty boolean": text({ boolean: {} }),
  "only must_not": text({ boolean: { must_not: [match()] } }),
  "a negative boost": text({ boost: { positive: match(), negative: match(), negative_boost: -1e30 } }),
  "a boost of 1e38": text(match({ boost: 1e38 })),
  "a text column that is an expression": text(match({ column: "repeat('a',500000000)" })),
  "a column without a full-text index": text(match({ column: "category" })),
  "version 0": { ...scan, version: 0 },
  "a version that is not there": { ...scan, version: 2 ** 53 - 1 },
  "everything at once": {
    ...search,
    filter: "id > 3",
    full_text_query: { string_query: { query: "puppy" } },
    order_by: [{ column_name: "id" }],
    with_row_id: true,
    fast_search: true,
    prefilter: true,
  },
};

/** As JSON writes them, because a JavaScript number cannot say what some of them are. */
export const wrongIntegers: readonly string[] = [
  "4294967297",
  "-1",
  "1.7",
  "9007199254740993",
  "-9223372036854775808",
  "1e400",
  '"1"',
  "true",
  "[1]",
  "{}",
];

export const integerFields: readonly string[] = [
  "k",
  "offset",
  "nprobes",
  "minimum_nprobes",
  "maximum_nprobes",
  "ef",
  "refine_factor",
  "version",
];

/** The body of an operation with one field's value as written. */
export const withRawField = (operation: string, field: string, value: string): string => {
  const query = JSON.stringify({ ...search, [field]: "RAW" }).replace('"RAW"', value);
  return operation === "explain_plan" ? `{"query":${query}}` : query;
};

export const bodyOf = (operation: string, query: Query): unknown => (operation === "explain_plan" ? { query } : query);
