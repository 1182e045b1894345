import { tableFromIPC } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { useSharedService } from "../../support/service.ts";
import { vectorOf } from "../../support/tables.ts";
import type { Fields } from "./support.ts";

const service = useSharedService();

/** The generated Java client 0.7.7 sends every container that is not set as an empty one. */
const unset = { id: [], context: {} } as const;
const vector = { single_vector: vectorOf(1), multi_vector: [] } as const;

describe("an unset container is empty", () => {
  test.each<[operation: string, body: Fields]>([
    ["describe", unset],
    ["stats", unset],
    ["count_rows", unset],
    ["index/list", unset],
    ["exists", unset],
    ["query", { ...unset, k: 5, vector: { single_vector: [], multi_vector: [] } }],
    ["query", { ...unset, k: 5, vector, vector_column: "vector" }],
    ["query", { ...unset, k: 5, vector: { single_vector: [], multi_vector: [vectorOf(1)] }, vector_column: "vector" }],
    ["analyze_plan", { ...unset, k: 5, columns: { column_names: [], column_aliases: {} } }],
    [
      "analyze_plan",
      { ...unset, k: 5, full_text_query: { string_query: { query: "puppy", columns: [] }, structured_query: {} } },
    ],
    ["explain_plan", { ...unset, query: { ...unset, k: 5, identity: {}, order_by: [] } }],
  ])("%s %j", async (operation, body) => {
    const { status } = await service.call(operation, "docs", body);
    expect(status).toBe(200);
  });

  const columnsOf = async (columns: unknown): Promise<readonly string[]> => {
    const { body } = await service.call("query", "docs", { k: 1, columns });
    return tableFromIPC(body).schema.fields.map(({ name }) => name);
  };

  test.each<[columns: unknown, expected: readonly string[]]>([
    [{ column_names: ["id", "score"], column_aliases: {} }, ["id", "score"]],
    [{ column_names: [], column_aliases: { next: "id + 1" } }, ["next"]],
    [{ column_aliases: "id" }, ["column_aliases"]],
    [
      [
        ["t", "upper(title)"],
        ["id", "id"],
      ],
      ["t", "id"],
    ],
  ])("columns %j", async (columns, expected) => {
    expect(await columnsOf(columns)).toEqual(expected);
  });

  test.each([[{ column_names: [], column_aliases: {} }], [{ column_names: [] }], [{}], [[]]])(
    "columns %j are all columns",
    async (columns) => {
      expect(await columnsOf(columns)).toEqual(await columnsOf(undefined));
    },
  );

  test.each<[body: Fields, error: string]>([
    [{ k: 5, filter: {} }, "filter must be of type string, not object"],
    [{ k: 5, version: [] }, "version must be a whole number"],
    [{ k: 5, id: {} }, "id must be of type array, not object"],
    [{ k: 5, context: [] }, "context must be of type object"],
  ])("an empty container of another type is refused: %j", async (body, error) => {
    const { status, body: answer } = await service.call("analyze_plan", "docs", body);
    expect([status, answer.error]).toEqual([400, expect.stringContaining(error)]);
  });
});

test.each(["9223372036854775807", "18446744073709551615"])("k %s is no limit", async (k) => {
  const { status, body } = await service.call("query", "docs", undefined, { rawBody: `{"k":${k},"columns":["id"]}` });
  expect([status, tableFromIPC(body).numRows]).toEqual([200, 1020]);
});

describe("the order of aliases is the order of the columns", () => {
  test.each<[string, readonly string[]]>([
    ['{"b":"id","1":"id","a":"id","0":"id"}', ["b", "1", "a", "0"]],
    ['{"column_aliases":{"10":"id","9":"id"}}', ["10", "9"]],
    ['{"2":"\\"1\\" : ", "1":"id"}', ["2", "1"]],
  ])("%s", async (columns, expected) => {
    const rawBody = `{"k":1,"columns":${columns.replace('"\\"1\\" : "', '"cast(\'\\"1\\": \' as string)"')}}`;
    const { status, body } = await service.call("query", "docs", undefined, { rawBody });
    expect(status).toBe(200);
    expect(tableFromIPC(body).schema.fields.map(({ name }) => name)).toEqual(expected);
  });
});

describe("a field that is nearly a known one is refused", () => {
  test.each<[operation: string, body: Fields, error: string]>([
    ["analyze_plan", { k: 5, fillter: "id < 3" }, "fillter is not a field of this request: write filter, or remove it"],
    ["query", { k: 5, offest: 3 }, "offest is not a field of this request: write offset, or remove it"],
    ["query", { k: 5, distanceType: "l2" }, "distanceType is not a field of this request: write distance_type"],
    [
      "explain_plan",
      { query: { k: 5, fillter: "id < 3" } },
      "query.fillter is not a field of this request: write filter",
    ],
    ["explain_plan", { query: { k: 5 }, verbos: true }, "verbos is not a field of this request: write verbose"],
    ["explain_plan", { query: { k: 5 }, qurey: {} }, "qurey is not a field of this request: write query"],
    ["count_rows", { predicat: "id < 3" }, "predicat is not a field of this request: write predicate"],
    ["stats", { brnach: "experiment" }, "brnach is not a field of this request: write branch"],
  ])("%s %j", async (operation, body, error) => {
    const { status, body: answer } = await service.call(operation, "docs", body);
    expect([status, answer.code, answer.error]).toEqual([400, 13, expect.stringContaining(error)]);
  });

  test.each<[operation: string, body: Fields]>([
    ["analyze_plan", { k: 5, approx_mode: null, future: {} }],
    ["stats", { filter: [], version: null }],
  ])("other unknown fields are tolerated if they are unset: %s %j", async (operation, body) => {
    expect((await service.call(operation, "docs", body)).status).toBe(200);
  });
});

describe("id, identity and context of the query inside a body", () => {
  const explain = (query: Fields, body: Fields = {}) =>
    service.call("explain_plan", "docs", { ...body, query: { k: 5, ...query } });

  test("are read as those of the body", async () => {
    expect((await explain({ id: ["docs"], identity: { api_key: "x" }, context: { trace: "inner" } })).status).toBe(200);
    const headers = { "x-request-id": "nested-context" };
    await service.call(
      "explain_plan",
      "docs",
      { context: { a: "outer" }, query: { k: 5, context: { b: "inner" } } },
      { headers },
    );
    expect(service.log.find(({ requestId }) => requestId === "nested-context")).toMatchObject({
      context: { a: "outer", b: "inner" },
    });
  });

  test.each<[query: Fields, body: Fields, error: string]>([
    [{ id: ["plain"] }, {}, "id in the body differs from the id in the path"],
    [{ id: ["plain"] }, { id: ["docs"] }, "query.id differs from id: send one of them"],
    [{ id: "docs" }, {}, "query.id must be of type array, not string"],
    [{ identity: 5 }, {}, "query.identity must be of type object, not number"],
    [{ context: "x" }, {}, "query.context must be of type object"],
  ])("are validated: %j %j", async (query, body, error) => {
    const { status, body: answer } = await explain(query, body);
    expect([status, answer.code, answer.error]).toEqual([400, 13, expect.stringContaining(error)]);
  });
});

describe("analyze_plan?distributed_metrics", () => {
  const analyze = (value: string) =>
    service.call("analyze_plan", "docs", { k: 5 }, { query: `?distributed_metrics=${value}` });

  test.each(["aggregate", "per_worker", "full"])("%s is accepted", async (value) => {
    expect((await analyze(value)).status).toBe(200);
  });

  test("another value is refused", async () => {
    const { status, body } = await analyze("most");
    expect([status, body.error]).toEqual([400, "distributed_metrics must be aggregate, per_worker or full"]);
  });
});

test("fuzziness null is absent", async () => {
  const explain = async (match: Fields) => {
    const query = { k: 5, full_text_query: { query: { match: { terms: "hello", column: "text", ...match } } } };
    return (await service.call("explain_plan", "docs", { query })).body;
  };
  expect(await explain({ fuzziness: null })).toBe(await explain({}));
});

test("a version has its time in both forms", async () => {
  const { body } = await service.call("version/list", "plain");
  expect(body.versions).toHaveLength(10);
  for (const { timestamp, timestamp_millis } of body.versions) {
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(Date.parse(timestamp)).toBe(timestamp_millis);
  }
  const one = await service.call("version/describe", "plain", { version: 3 });
  expect(one.body.version).toEqual(body.versions[2]);
});
