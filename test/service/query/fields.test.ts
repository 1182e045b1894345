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

type Effect = readonly [
  field: string,
  /** The query that the field is added to. */
  base: Fields,
  added: Fields,
  /** Text of the plan with the field only. */
  appears: string | RegExp | undefined,
  /** Text of the plan without the field only. */
  vanishes?: string | RegExp,
];

const effects: readonly Effect[] = [
  ["k of a scan", { k: 7 }, { k: 5 }, "range_before=Some(0..5)", "0..7"],
  ["k 0 of a scan", scan, { k: 0 }, "range_before=Some(0..0)"],
  ["k 2^63-1 of a scan", scan, { k: noLimit }, "range_before=None"],
  ["k of a vector search", search, { k: 9 }, "k=9,", "k=5,"],
  ["k of a text search", textSearch, { k: 9 }, "TopK(fetch=9)"],
  ["vector", scan, search, "KNNVectorDistance", "range_before=Some(0..5)"],
  ["several vectors", search, { vector: [vectorOf(1), vectorOf(2)] }, "1 as query_index"],
  ["vector_column", search, { vector_column: "other" }, "other_idx", "vector_idx"],
  ["bypass_vector_index", search, { bypass_vector_index: true }, undefined, "ANNSubIndex"],
  ["column names", scan, { columns: ["id", "score"] }, "projection=[id, score]"],
  ["column aliases", scan, { columns: { next: "id + 1" } }, "id@0 + 1 as next"],
  ["columns of a vector search", search, { columns: ["id"] }, undefined, "as title"],
  ["distance_type cosine", search, { distance_type: "cosine" }, "metric=cosine", "metric=l2"],
  ["distance_type dot", search, { distance_type: "dot" }, "metric=dot", "metric=l2"],
  ["distance_type inner_product", search, { distance_type: "Inner_Product" }, "metric=dot"],
  ["fast_search of a vector", search, { fast_search: true }, undefined, "UnionExec"],
  ["fast_search of a text", textSearch, { fast_search: true }, undefined, "FlatMatchQuery"],
  ["filter on an indexed column", scan, { filter: "id < 100" }, "ScalarIndexQuery: query=[id < 100]"],
  ["filter on another", scan, { filter: "score < 3" }, "full_filter=score < Float64(3)"],
  ["filter of a text search", textSearch, { filter: "id < 9" }, "query=[id < 9]@id_idx"],
  [
    "filter after a vector search",
    search,
    { filter: "score < 3" },
    /FilterExec: score@3 < 3\n\s+LanceRead: .*source=stream/,
  ],
  [
    "prefilter",
    { ...search, filter: "score < 3" },
    { prefilter: true },
    "full_filter=score < Float64(3)",
    "FilterExec: score@3 < 3",
  ],
  ["full_text_query", scan, textSearch, "MatchQuery: column=text, query=[hello]"],
  ["lower_bound", search, { lower_bound: 0.25 }, "FilterExec: _distance@2 >= 0.25\n"],
  ["upper_bound", search, { upper_bound: 0.75 }, "FilterExec: _distance@2 < 0.75\n"],
  ["both bounds", search, { lower_bound: 0.25, upper_bound: 0.75 }, "_distance@2 >= 0.25 AND _distance@2 < 0.75"],
  [
    "nprobes",
    search,
    { nprobes: 3 },
    "minimum_nprobes=3, maximum_nprobes=Some(3)",
    "minimum_nprobes=20, maximum_nprobes=Some(20)",
  ],
  ["minimum_nprobes", search, { minimum_nprobes: 4 }, "minimum_nprobes=4,"],
  [
    "minimum_nprobes above the default",
    search,
    { minimum_nprobes: 25 },
    "minimum_nprobes=25, maximum_nprobes=Some(25)",
  ],
  [
    "minimum_nprobes beside nprobes",
    { ...search, nprobes: 9 },
    { minimum_nprobes: 2 },
    "minimum_nprobes=2,",
    "minimum_nprobes=9",
  ],
  ["maximum_nprobes", search, { maximum_nprobes: 30 }, "minimum_nprobes=20, maximum_nprobes=Some(30)"],
  [
    "maximum_nprobes beside nprobes",
    { ...search, nprobes: 9 },
    { maximum_nprobes: 30 },
    "minimum_nprobes=20, maximum_nprobes=Some(30)",
    "minimum_nprobes=9",
  ],
  [
    "maximum_nprobes below the default minimum",
    search,
    { maximum_nprobes: 3 },
    "minimum_nprobes=3, maximum_nprobes=Some(3)",
  ],
  ["maximum_nprobes 0", search, { maximum_nprobes: 0 }, "minimum_nprobes=20, maximum_nprobes=None"],
  [
    "LanceDB's three probes",
    search,
    { nprobes: 7, minimum_nprobes: 5, maximum_nprobes: 6 },
    "minimum_nprobes=5, maximum_nprobes=Some(6)",
  ],
  ["offset of a scan", scan, { offset: 3 }, "range_before=Some(3..8)"],
  ["offset without a limit", { k: noLimit }, { offset: 3 }, "range_before=Some(3..1020)"],
  ["offset of a vector search", search, { offset: 3 }, "GlobalLimitExec: skip=3, fetch=5"],
  [
    "refine_factor",
    search,
    { refine_factor: 4 },
    "ANNSubIndex: name=vector_idx, k=20",
    "ANNSubIndex: name=vector_idx, k=5",
  ],
  ["version", scan, { version: 1 }, "num_fragments=1", "num_fragments=2"],
  ["version of a vector search", search, { version: 3 }, undefined, "UnionExec"],
  ["branch", scan, { branch: "experiment" }, "tree/experiment/data"],
  ["order_by", scan, { order_by: [{ column_name: "score" }] }, "TopK(fetch=5), expr=[score@4 ASC NULLS LAST]"],
  [
    "order_by of two, descending, nulls first",
    scan,
    {
      order_by: [
        { column_name: "score", ascending: false },
        { column_name: "id", nulls_first: true },
      ],
    },
    "expr=[score@4 DESC NULLS LAST, id@0 ASC]",
  ],
  ["order_by of a vector search", search, { order_by: [{ column_name: "score" }] }, "expr=[score@3 ASC NULLS LAST]"],
  ["with_row_id of a scan", scan, { with_row_id: true }, "row_id=true", "row_id=false"],
  ["with_row_id of a vector search", search, { with_row_id: true }, "_rowid@0 as _rowid]"],
];

const named = effects.map((effect) => [effect[0], effect] as const);

test.each(named)("%s changes the plan", async (_, effect) => {
  const [, base, added, appears, vanishes] = effect;
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
  const shown = new Set([...effects.flatMap(([, , added]) => Object.keys(added)), "ef", "use_lsm"]);
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
