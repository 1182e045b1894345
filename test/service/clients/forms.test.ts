import { describe, expect, test } from "vitest";
import { queryShape } from "../../../service/query/wire.ts";
import type { Answer, CallOptions } from "../../support/request.ts";
import { useSharedService } from "../../support/service.ts";
import { vectorOf } from "../../support/tables.ts";
import { type Fields, noLimit, withoutTimes } from "./support.ts";

const service = useSharedService();

const vector = vectorOf(1);

/** How a family of clients sends a request: LanceDB's remote client, the Rust REST namespace, the generated clients. */
interface Family {
  readonly options: () => CallOptions;
  readonly explain: (query: Fields) => Fields;
  readonly analyze: (query: Fields) => Fields;
  readonly bare: Fields;
}

const families: Readonly<Record<"lancedb" | "namespace" | "generated", Family>> = {
  lancedb: {
    options: () => ({
      trailingSlash: true,
      token: null,
      headers: { "x-api-key": service.token, "x-lancedb-database": "dev", accept: "*/*" },
    }),
    explain: (query) => ({ query, verbose: false }),
    analyze: (query) => query,
    bare: {},
  },
  namespace: {
    options: () => ({ query: "?delimiter=%24" }),
    explain: (query) => ({ id: ["docs"], query, verbose: false }),
    analyze: (query) => ({ ...query, id: ["docs"] }),
    bare: { id: ["docs"] },
  },
  generated: {
    options: () => ({ headers: { "content-type": "application/json; charset=utf-8" } }),
    explain: (query) => ({ id: null, identity: null, context: null, branch: null, verbose: null, query }),
    analyze: (query) => ({ id: null, identity: null, context: null, ...query }),
    bare: { id: null, identity: { api_key: null, auth_token: "ignored" }, context: { "x-trace": "1" }, branch: null },
  },
};

const ask = (family: keyof typeof families, operation: string, body: Fields): Promise<Answer> =>
  service.call(operation, "docs", body, families[family].options());

const match = {
  terms: "hello",
  column: "text",
  boost: 1,
  fuzziness: 0,
  max_expansions: 50,
  operator: "Or",
  prefix_length: 0,
};
const nullSearch = { version: null, ef: null, lower_bound: null, upper_bound: null, refine_factor: null };

/** The generated clients send null for every absent field. */
const generatedNulls = Object.fromEntries(
  Object.keys(queryShape)
    .filter((key) => !["k", "vector"].includes(key))
    .map((key) => [key, null]),
);

/** The same query as each family writes it. */
const queries: readonly (readonly [name: string, lancedb: Fields, namespace: Fields, generated: Fields])[] = [
  [
    "everything, without a limit",
    { k: noLimit, prefilter: true, vector: [], version: null },
    { k: noLimit, vector: { single_vector: [] } },
    { ...generatedNulls, k: noLimit, vector: null },
  ],
  [
    "one vector",
    {
      k: 10,
      prefilter: true,
      vector,
      vector_column: "vector",
      ...nullSearch,
      nprobes: 20,
      minimum_nprobes: 20,
      maximum_nprobes: 20,
    },
    { k: 10, vector: { single_vector: vector }, vector_column: "vector" },
    { ...generatedNulls, k: 10, vector: { single_vector: vector, multi_vector: null }, vector_column: "vector" },
  ],
  [
    "several vectors",
    { k: 4, vector: [vector, vectorOf(2)], vector_column: "vector" },
    { k: 4, vector: { multi_vector: [vector, vectorOf(2)] }, vector_column: "vector" },
    {
      ...generatedNulls,
      k: 4,
      vector: { single_vector: null, multi_vector: [vector, vectorOf(2)] },
      vector_column: "vector",
    },
  ],
  [
    "column names",
    { k: 4, vector: [], columns: ["id", "score"] },
    { k: 4, vector: { single_vector: [] }, columns: { column_names: ["id", "score"] } },
    { k: 4, columns: { column_names: ["id", "score"], column_aliases: null } },
  ],
  [
    "column aliases",
    { k: 4, vector: [], columns: { x: "id + 1", id: "id" } },
    { k: 4, vector: {}, columns: { column_aliases: { x: "id + 1", id: "id" } } },
    { k: 4, columns: { column_names: null, column_aliases: { x: "id + 1", id: "id" } } },
  ],
  [
    "a full-text string",
    { k: 4, vector: [], full_text_query: { columns: ["text"], query: "hello" } },
    { k: 4, vector: { single_vector: [] }, full_text_query: { string_query: { query: "hello", columns: ["text"] } } },
    { k: 4, full_text_query: { string_query: { query: "hello", columns: ["text"] }, structured_query: null } },
  ],
  [
    "a full-text clause",
    { k: 4, vector: [], full_text_query: { query: { match } } },
    { k: 4, full_text_query: { structured_query: { query: { match: { terms: "hello", column: "text" } } } } },
    {
      k: 4,
      full_text_query: {
        string_query: null,
        structured_query: { query: { match, phrase: null, boost: null, multi_match: null, boolean: null } },
      },
    },
  ],
  [
    "one text over two columns",
    {
      k: 4,
      vector: [],
      full_text_query: { query: { multi_match: { query: "hello", columns: ["text", "title"], boost: [1, 2] } } },
    },
    {
      k: 4,
      full_text_query: {
        structured_query: {
          query: { multi_match: { match_queries: [match, { ...match, column: "title", boost: 2 }] } },
        },
      },
    },
    {
      k: 4,
      full_text_query: {
        structured_query: {
          query: {
            multi_match: {
              match_queries: [
                { terms: "hello", column: "text" },
                { terms: "hello", column: "title", boost: 2, operator: null },
              ],
            },
          },
        },
      },
    },
  ],
  [
    "a version, a filter and an order",
    {
      k: 4,
      vector: [],
      version: 1,
      filter: "id > 3",
      prefilter: true,
      order_by: [{ column_name: "id", ascending: true, nulls_first: false }],
    },
    { k: 4, version: 1, filter: "id > 3", order_by: [{ column_name: "id" }] },
    {
      ...generatedNulls,
      k: 4,
      version: 1,
      filter: "id > 3",
      order_by: [{ column_name: "id", ascending: null, nulls_first: null }],
    },
  ],
];

describe.each(queries)("%s", (_, lancedb, namespace, generated) => {
  const forms = Object.entries({ lancedb, namespace, generated }) as [keyof typeof families, Fields][];

  test("has one plan in the forms of all three families", async () => {
    const plans = await Promise.all(
      forms.map(async ([family, query]) => (await ask(family, "explain_plan", families[family].explain(query))).body),
    );
    expect(plans[0]).toEqual(expect.any(String));
    expect(new Set(plans)).toHaveLength(1);
  });

  test("has the same result, flat or nested", async () => {
    const bodies = forms.flatMap(([family, query]) => [
      [family, families[family].analyze(query)] as const,
      [family, families[family].explain(query)] as const,
    ]);
    const plans = await Promise.all(
      bodies.map(async ([family, body]) => (await ask(family, "analyze_plan", body)).body),
    );
    expect(plans[0]).toMatch(/^AnalyzeExec/);
    expect(new Set(plans.map(withoutTimes))).toHaveLength(1);
  });
});

test.each(Object.keys(families) as (keyof typeof families)[])(
  "the other operations in the form of %s",
  async (family) => {
    const { bare } = families[family];
    const stats = await ask(family, "stats", bare);
    expect(stats.body).toMatchObject({ num_rows: 1020, num_indices: 5 });
    const tag = `tag-of-${family}`;
    expect((await ask(family, "tags/create", { ...bare, tag, version: 2 })).body).toEqual({});
    expect((await ask(family, "tags/version", { ...bare, tag })).body).toEqual({ version: 2 });
    expect((await ask(family, "tags/delete", { ...bare, tag })).body).toEqual({});
    expect((await ask(family, "describe", { ...bare, version: null })).body).toMatchObject({ version: 7 });
  },
);

test.each([
  ["count_rows", { predicate: "nope = 1" }],
  ["explain_plan", { query: { vector: [], k: 1, filter: "nope = 1" } }],
  ["query", { vector: [], k: 1, filter: "nope = 1" }],
] as const)("a missing column is 400 to LanceDB's clients in %s, and 404 to others", async (operation, body) => {
  const error = 'column not found: the table has no column "nope"';
  expect(await ask("lancedb", operation, body)).toMatchObject({ status: 400, body: { code: 12, error } });
  for (const family of ["namespace", "generated"] as const)
    expect(await ask(family, operation, body)).toMatchObject({ status: 404, body: { code: 12, error } });
});
