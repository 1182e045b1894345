import { connect } from "@lancedb/lancedb";
import { Field, FixedSizeList, Int64, Schema, Uint8 } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { queryShape } from "../../../service/query/wire.ts";
import { useSharedService } from "../../support/service.ts";
import { vectorOf } from "../../support/tables.ts";
import { explain, type Fields, graphSearch, noLimit, refused, search } from "./support.ts";

const service = useSharedService();

const scan: Fields = { k: 5 };
const textSearch: Fields = { k: 5, full_text_query: { query: "hello", columns: ["text"] } };

interface Effect {
  readonly field: string;
  /** The query that the field is added to. */
  readonly base: Fields;
  readonly added: Fields;
  /** Text of the plan with the field only. */
  readonly appears?: string | RegExp;
  /** Text of the plan without the field only. */
  readonly vanishes?: string | RegExp;
}

const effects: readonly Effect[] = [
  { field: "k of a scan", base: { k: 7 }, added: { k: 5 }, appears: "range_before=Some(0..5)", vanishes: "0..7" },
  { field: "k 0 of a scan", base: scan, added: { k: 0 }, appears: "range_before=Some(0..0)" },
  { field: "k 2^63-1 of a scan", base: scan, added: { k: noLimit }, appears: "range_before=None" },
  { field: "k of a vector search", base: search, added: { k: 9 }, appears: "k=9,", vanishes: "k=5," },
  { field: "k of a text search", base: textSearch, added: { k: 9 }, appears: "TopK(fetch=9)" },
  { field: "vector", base: scan, added: search, appears: "KNNVectorDistance", vanishes: "range_before=Some(0..5)" },
  {
    field: "several vectors",
    base: search,
    added: { vector: [vectorOf(1), vectorOf(2)] },
    appears: "1 as query_index",
  },
  {
    field: "vector_column",
    base: search,
    added: { vector_column: "other" },
    appears: "other_idx",
    vanishes: "vector_idx",
  },
  { field: "bypass_vector_index", base: search, added: { bypass_vector_index: true }, vanishes: "ANNSubIndex" },
  { field: "column names", base: scan, added: { columns: ["id", "score"] }, appears: "projection=[id, score]" },
  { field: "column aliases", base: scan, added: { columns: { next: "id + 1" } }, appears: "id@0 + 1 as next" },
  { field: "columns of a vector search", base: search, added: { columns: ["id"] }, vanishes: "as title" },
  {
    field: "distance_type cosine",
    base: search,
    added: { distance_type: "cosine" },
    appears: "metric=cosine",
    vanishes: "metric=l2",
  },
  {
    field: "distance_type dot",
    base: search,
    added: { distance_type: "dot" },
    appears: "metric=dot",
    vanishes: "metric=l2",
  },
  {
    field: "distance_type inner_product",
    base: search,
    added: { distance_type: "Inner_Product" },
    appears: "metric=dot",
  },
  { field: "fast_search of a vector", base: search, added: { fast_search: true }, vanishes: "UnionExec" },
  { field: "fast_search of a text", base: textSearch, added: { fast_search: true }, vanishes: "FlatMatchQuery" },
  {
    field: "filter on an indexed column",
    base: scan,
    added: { filter: "id < 100" },
    appears: "ScalarIndexQuery: query=[id < 100]",
  },
  { field: "filter on another", base: scan, added: { filter: "score < 3" }, appears: "full_filter=score < Float64(3)" },
  { field: "filter of a text search", base: textSearch, added: { filter: "id < 9" }, appears: "query=[id < 9]@id_idx" },
  {
    field: "filter after a vector search",
    base: search,
    added: { filter: "score < 3" },
    appears: /FilterExec: score@3 < 3\n\s+LanceRead: .*source=stream/,
  },
  {
    field: "prefilter",
    base: { ...search, filter: "score < 3" },
    added: { prefilter: true },
    appears: "full_filter=score < Float64(3)",
    vanishes: "FilterExec: score@3 < 3",
  },
  { field: "full_text_query", base: scan, added: textSearch, appears: "MatchQuery: column=text, query=[hello]" },
  { field: "lower_bound", base: search, added: { lower_bound: 0.25 }, appears: "FilterExec: _distance@2 >= 0.25\n" },
  { field: "upper_bound", base: search, added: { upper_bound: 0.75 }, appears: "FilterExec: _distance@2 < 0.75\n" },
  {
    field: "both bounds",
    base: search,
    added: { lower_bound: 0.25, upper_bound: 0.75 },
    appears: "_distance@2 >= 0.25 AND _distance@2 < 0.75",
  },
  {
    field: "nprobes",
    base: search,
    added: { nprobes: 3 },
    appears: "minimum_nprobes=3, maximum_nprobes=Some(3)",
    vanishes: "minimum_nprobes=20, maximum_nprobes=Some(20)",
  },
  { field: "minimum_nprobes", base: search, added: { minimum_nprobes: 4 }, appears: "minimum_nprobes=4," },
  {
    field: "minimum_nprobes above the default",
    base: search,
    added: { minimum_nprobes: 25 },
    appears: "minimum_nprobes=25, maximum_nprobes=Some(25)",
  },
  {
    field: "minimum_nprobes beside nprobes",
    base: { ...search, nprobes: 9 },
    added: { minimum_nprobes: 2 },
    appears: "minimum_nprobes=2,",
    vanishes: "minimum_nprobes=9",
  },
  {
    field: "maximum_nprobes",
    base: search,
    added: { maximum_nprobes: 30 },
    appears: "minimum_nprobes=20, maximum_nprobes=Some(30)",
  },
  {
    field: "maximum_nprobes beside nprobes",
    base: { ...search, nprobes: 9 },
    added: { maximum_nprobes: 30 },
    appears: "minimum_nprobes=20, maximum_nprobes=Some(30)",
    vanishes: "minimum_nprobes=9",
  },
  {
    field: "maximum_nprobes below the default minimum",
    base: search,
    added: { maximum_nprobes: 3 },
    appears: "minimum_nprobes=3, maximum_nprobes=Some(3)",
  },
  {
    field: "maximum_nprobes 0",
    base: search,
    added: { maximum_nprobes: 0 },
    appears: "minimum_nprobes=20, maximum_nprobes=None",
  },
  {
    field: "LanceDB's three probes",
    base: search,
    added: { nprobes: 7, minimum_nprobes: 5, maximum_nprobes: 6 },
    appears: "minimum_nprobes=5, maximum_nprobes=Some(6)",
  },
  { field: "offset of a scan", base: scan, added: { offset: 3 }, appears: "range_before=Some(3..8)" },
  {
    field: "offset without a limit",
    base: { k: noLimit },
    added: { offset: 3 },
    appears: "range_before=Some(3..1020)",
  },
  {
    field: "offset of a vector search",
    base: search,
    added: { offset: 3 },
    appears: "GlobalLimitExec: skip=3, fetch=5",
  },
  {
    field: "refine_factor",
    base: search,
    added: { refine_factor: 4 },
    appears: "ANNSubIndex: name=vector_idx, k=20",
    vanishes: "ANNSubIndex: name=vector_idx, k=5",
  },
  { field: "version", base: scan, added: { version: 1 }, appears: "num_fragments=1", vanishes: "num_fragments=2" },
  { field: "version of a vector search", base: search, added: { version: 3 }, vanishes: "UnionExec" },
  { field: "branch", base: scan, added: { branch: "experiment" }, appears: "tree/experiment/data" },
  {
    field: "order_by",
    base: scan,
    added: { order_by: [{ column_name: "score" }] },
    appears: "TopK(fetch=5), expr=[score@4 ASC NULLS LAST]",
  },
  {
    field: "order_by of two, descending, nulls first",
    base: scan,
    added: {
      order_by: [
        { column_name: "score", ascending: false },
        { column_name: "id", nulls_first: true },
      ],
    },
    appears: "expr=[score@4 DESC NULLS LAST, id@0 ASC]",
  },
  {
    field: "order_by of a vector search",
    base: search,
    added: { order_by: [{ column_name: "score" }] },
    appears: "expr=[score@3 ASC NULLS LAST]",
  },
  {
    field: "with_row_id of a scan",
    base: scan,
    added: { with_row_id: true },
    appears: "row_id=true",
    vanishes: "row_id=false",
  },
  {
    field: "with_row_id of a vector search",
    base: search,
    added: { with_row_id: true },
    appears: "_rowid@0 as _rowid]",
  },
];

test.each(effects)("$field changes the plan", async ({ base, added, appears, vanishes }) => {
  const without = await explain(service, base);
  const plan = await explain(service, { ...base, ...added });
  expect(plan).not.toBe(without);
  if (appears !== undefined) {
    expect(plan).toMatch(appears);
    expect(without).not.toMatch(appears);
  }
  if (vanishes !== undefined) {
    expect(without).toMatch(vanishes);
    expect(plan).not.toMatch(vanishes);
  }
});

test("every field of the query object has a test in this folder", () => {
  const shown = new Set([...effects.flatMap(({ added }) => Object.keys(added)), "ef", "use_lsm"]);
  expect(Object.keys(queryShape).filter((field) => !shown.has(field))).toEqual([]);
});

describe("a field's default, sent", () => {
  test.each<[string, Fields, Fields]>([
    ["distance_type l2", search, { distance_type: "l2" }],
    ["distance_type euclidean", search, { distance_type: "EUCLIDEAN" }],
    ["prefilter false with a vector", { ...search, filter: "score < 3" }, { prefilter: false }],
    ["prefilter true of a scan", { ...scan, filter: "score < 3" }, { prefilter: true }],
    ["prefilter true of a text search", { ...textSearch, filter: "id < 9" }, { prefilter: true }],
    ["bypass_vector_index false", search, { bypass_vector_index: false }],
    ["bypass_vector_index of a scan", scan, { bypass_vector_index: true }],
    ["bypass_vector_index of a text search", textSearch, { bypass_vector_index: true }],
    ["fast_search false", search, { fast_search: false }],
    ["with_row_id false", scan, { with_row_id: false }],
    ["use_lsm false", scan, { use_lsm: false }],
    ["offset 0", search, { offset: 0 }],
    ["nprobes 20", search, { nprobes: 20 }],
    ["order_by []", scan, { order_by: [] }],
    ["columns []", scan, { columns: [] }],
    ["columns {}", scan, { columns: {} }],
    ["full_text_query {}", scan, { full_text_query: {} }],
    ["distance_type and nprobes beside an empty list", scan, { distance_type: "l2", nprobes: 20, vector: [] }],
    ["distance_type and nprobes of a text search", textSearch, { distance_type: "l2", nprobes: 20, vector: [] }],
    ["branch main", scan, { branch: "main" }],
    ["the latest version", scan, { version: 7 }],
    ["an unset key of a newer client", search, { approx_mode: null, future: {}, more: [] }],
  ])("%s gives the same plan", async (_, base, added) => {
    expect(await explain(service, { ...base, ...added })).toBe(await explain(service, base));
  });
});

test("ef is accepted by explain_plan, though the plan does not show it", async () => {
  expect(await explain(service, { ...graphSearch, ef: 50 })).toBe(await explain(service, graphSearch));
});

test("distance_type hamming plans a search over binary vectors, and is refused over floats", async () => {
  const connection = await connect(service.directory);
  const vectors = new Field("vector", new FixedSizeList(2, new Field("item", new Uint8(), true)), true);
  const schema = new Schema([new Field("id", new Int64(), true), vectors]);
  await connection.createTable("binary", [{ id: 1n, vector: [1, 2] }], { schema });
  connection.close();
  const query = { k: 1, vector: [1, 2], distance_type: "hamming" };
  expect(await explain(service, query, "binary")).toContain("metric=hamming");
  const l2 = await service.call("explain_plan", "binary", { query: { ...query, distance_type: "l2" } });
  expect([l2.status, l2.body.code]).toEqual([400, 13]);
  await refused(service, { ...search, distance_type: "hamming" });
});

test("use_lsm true reaches the database, which refuses it for a table without a write-ahead log", async () => {
  const error = "use_lsm is true, but the table has no write-ahead log";
  expect(await refused(service, { ...scan, use_lsm: true })).toEqual([error, error]);
});

test("verbose is accepted; the SDK has the same text for both", async () => {
  for (const query of [search, textSearch, { ...scan, filter: "score < 3" }]) {
    const [brief, verbose] = await Promise.all(
      [false, true].map(async (verbose) => (await service.call("explain_plan", "docs", { query, verbose })).body),
    );
    expect(brief).toEqual(expect.any(String));
    expect(verbose).toBe(brief);
  }
  const { body } = await service.call("explain_plan", "docs", { query: scan, verbose: "yes" });
  expect(body).toMatchObject({ code: 13, error: "verbose must be of type boolean, not string" });
});

test("a plan has paths relative to the database, not its location", async () => {
  const plans = await Promise.all([explain(service, search), explain(service, scan, "prod$vectors$docs")]);
  for (const plan of plans) expect(plan).not.toContain(service.directory.slice(1));
  expect(plans[0]).toContain("uri=docs.lance/data");
});
