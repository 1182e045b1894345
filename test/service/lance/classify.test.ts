import { cp } from "node:fs/promises";
import { join } from "node:path";
import { BooleanQuery, type Connection, connect, MatchQuery, Occur, type Table } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { classify, isGone } from "../../../service/lance/errors/classify.ts";
import { makeDirectory } from "../../support/directory.ts";
import { dimensions } from "../../support/tables.ts";

/** Each row provokes an error of the real database, so it fails if the SDK changes a text. */
let home: string;
let connection: Connection;
let docs: Table;

beforeAll(async () => {
  home = await makeDirectory();
  await cp(inject("tables"), join(home, "data"), { recursive: true });
  connection = await connect(join(home, "data"));
  docs = await connection.openTable("docs");
});
afterAll(async () => {
  connection.close();
});

const vector = new Float32Array(dimensions);
const search = () => docs.query().nearestTo(vector).column("vector");

const provocations: readonly [what: string, code: number, provoke: () => unknown, says?: RegExp][] = [
  ["a missing table", 4, () => connection.openTable("nope")],
  ["a missing table in a namespace", 4, () => connection.openTable("nope", ["prod", "vectors"])],
  ["a missing namespace", 1, () => connection.describeNamespace(["nope"])],
  ["a missing tag", 8, async () => (await docs.tags()).getVersion("nope")],
  ["deleting a missing tag", 8, async () => (await docs.tags()).delete("nope")],
  [
    "a tag that exists",
    9,
    async () => {
      await (await docs.tags()).create("twice", 1);
      await (await docs.tags()).create("twice", 1);
    },
  ],
  ["a tag for a missing version", 11, async () => (await docs.tags()).create("x", 4711)],
  ["an invalid tag name", 13, async () => (await docs.tags()).create("a/b", 1), /name of a tag/],
  ["a missing column", 12, () => docs.query().select(["nope"]).explainPlan(), /"nope"/],
  [
    "a regular expression that compiles to more than the database allows",
    13,
    () => docs.countRows("regexp_like(text, '(.{1000}){999}')"),
    /too large/,
  ],
  [
    "a word that is too long for its fuzziness",
    13,
    () =>
      docs
        .query()
        .fullTextSearch(new MatchQuery("abcdefghij".repeat(6), "text", { fuzziness: 2 }))
        .toArray(),
    /fuzziness/,
  ],
  ["a missing column in a filter", 12, () => docs.query().where("nope > 1").explainPlan(), /"nope"/],
  ["a missing vector column", 12, () => docs.query().nearestTo(vector).column("nope").explainPlan(), /"nope"/],
  ["a missing column to sort by", 12, () => docs.query().orderBy({ columnName: "nope" }).explainPlan(), /"nope"/],
  [
    "a missing full-text column",
    12,
    () =>
      docs
        .query()
        .fullTextSearch("x", { columns: ["nope"] })
        .explainPlan(),
    /"nope"/,
  ],
  [
    "a vector column that does not exist, with a space in its name",
    12,
    () => docs.query().nearestTo(vector).column("no such").explainPlan(),
    /"no such"/,
  ],
  ["several vector columns", 13, () => docs.query().nearestTo(vector).explainPlan(), /vector_column/],
  [
    "a column without vectors",
    13,
    () => docs.query().nearestTo(vector).column("text").explainPlan(),
    /not a column of vectors/,
  ],
  [
    "a wrong number of dimensions",
    13,
    () => docs.query().nearestTo([1, 2]).column("vector").explainPlan(),
    /dimensions/,
  ],
  [
    "an order by a column that is not returned",
    13,
    () =>
      docs
        .query()
        .select(["score"])
        .orderBy([{ columnName: "category" }])
        .limit(1)
        .explainPlan(),
    /with_row_id/,
  ],
  [
    "a list with a tag whose name is not ASCII",
    0,
    async () => {
      const tags = await docs.tags();
      await tags.create("größe", 1);
      await tags.list().finally(() => tags.delete("größe"));
    },
    /non-ASCII/,
  ],
  ["a filter that is not SQL", 13, () => docs.query().where("id >").explainPlan(), /not valid SQL/],
  ["a filter that is not a condition", 13, () => docs.query().where("id + 1").explainPlan(), /condition/],
  ["incompatible types", 13, () => docs.query().where("array_has(id, 'x')").explainPlan(), /types|support/],
  ["a function that does not exist", 13, () => docs.query().where("no_such_function(id) = 1").explainPlan()],
  [
    "a full-text query on numbers",
    13,
    () => docs.query().fullTextSearch(new MatchQuery("x", "id")).explainPlan(),
    /full-text/,
  ],
  [
    "a full-text query with no index",
    13,
    async () => (await connection.openTable("plain")).query().fullTextSearch("x").explainPlan(),
    /full-text/,
  ],
  [
    "a boolean query of must_not alone",
    13,
    () =>
      docs
        .query()
        .fullTextSearch(new BooleanQuery([[Occur.MustNot, new MatchQuery("x", "text")]]))
        .explainPlan(),
    /full-text/,
  ],
  ["a hybrid search", 13, () => search().fullTextSearch("x").explainPlan(), /combined/],
  ["contradictory numbers of probes", 13, () => search().maximumNprobes(1).explainPlan(), /nprobes/],
  ["ef below k", 13, () => docs.query().nearestTo(vector).column("other").ef(3).limit(10).toArray(), /ef is smaller/],
  [
    "a distance of another type",
    13,
    () =>
      search()
        .distanceType("hamming" as "l2")
        .explainPlan(),
    /distance_type/,
  ],
  ["a division by zero", 13, () => docs.query().where("id % 0 = 1").toArray(), /divides by zero/],
  ["a cast that fails on the data", 13, () => docs.query().where("cast(text as int) > 1").toArray(), /casts a value/],
  ["a column named twice", 13, () => docs.query().select(["id", "id"]).explainPlan(), /twice/],
  [
    "a negative boost",
    13,
    () =>
      docs
        .query()
        .fullTextSearch(new MatchQuery("x", "text", { boost: -1 }))
        .explainPlan(),
    /boost/,
  ],
  ["a write-ahead log that the table lacks", 13, () => docs.query().useLsm(true).explainPlan(), /use_lsm/],
];

/** Expressions that are valid SQL and fail on their arguments, during planning or on the rows. */
const notEvaluated = [
  "text.foo = 1",
  "get_field(text, 'a') = 1",
  "round(1.5, 99999999999) = 1",
  "split_part(text, 'x', 0) = ''",
  "make_date(2024, 99999, 1) = now()",
  "chr(-1) = 'a'",
  "factorial(101) = 1",
  "array_distance(vector, [1.0, 2.0]) < 1",
  "cosine_distance(vector, [1.0, 2.0]) < 1",
  "to_timestamp(text) > now()",
  "to_date(text) > today()",
  "date_trunc('day', text) > now()",
  "date_part('Generic S3 error: ', now()) = 1",
  "regexp_count(text, 'a', 0) = 1",
  "regexp_like(text, '(')",
  "regexp_like(text, 'a', 'q')",
  "to_timestamp(9223372036854775807) > now()",
  "encode(text, 'order_by') = 'a'",
  "from_unixtime(id, 'dimension') > now()",
] as const;

/** Text of a caller that imitates the SDK's error texts. */
const quoted = [
  "No such file or directory (os error 2)",
  "Not found: docs.lance/_versions/1.manifest",
  "Dataset at path docs was not found",
  "lance error: LanceError(IO): Generic S3 error: Error performing GET",
  "(LanceError(IO): Generic S3 error: ",
  "IO { source: Generic { store: ",
  "RetryErrorImpl { AccessDenied",
  "Version not found error: ",
] as const;

const errorOf = async (provoke: () => unknown): Promise<unknown> => {
  try {
    await provoke();
  } catch (error) {
    return error;
  }
  throw new Error("the database reported no error");
};

describe("classify", () => {
  test.each(provocations)("%s", async (_, code, provoke, says) => {
    const native = await errorOf(provoke);
    const meaning = classify(native);
    expect({ code: meaning.code, native: String(native).slice(0, 200) }).toMatchObject({ code });
    expect(meaning.message).not.toMatch(/cargo|\.rs|lance error|\/data/);
    if (says !== undefined) expect(meaning.message).toMatch(says);
  });

  test.each(notEvaluated)("%s cannot be evaluated, as a filter or as a column", async (expression) => {
    const meanings = await Promise.all(
      [docs.query().where(expression), docs.query().select({ id: "id", it: expression })].map(async (query) =>
        classify(await errorOf(() => query.toArrow())),
      ),
    );
    for (const { code, message } of meanings) expect({ code, message }).toMatchObject({ code: 13 });
    expect(meanings[0]?.message).toMatch(/cannot be evaluated/);
  });

  test.each(quoted)("%s has no effect in text of a caller", async (words) => {
    const literal = `'${words}'`;
    const rejected = [
      () => docs.query().where(`cast(${literal} as int) = 1`).explainPlan(),
      () => docs.query().where(`id = ${literal}`).explainPlan(),
      () => docs.query().where(`date_trunc(${literal}, now()) > now()`).toArray(),
      () => docs.query().where(`regexp_like(text, '(${words}')`).explainPlan(),
      () => docs.query().where(`regexp_count(text, '(${words}') = 1`).toArray(),
      () => docs.query().where(`${words}(id) = 1`).explainPlan(),
      () =>
        docs
          .query()
          .select({ it: `arrow_cast(${literal}, 'Int32')` })
          .explainPlan(),
      () => docs.query().select([words]).explainPlan(),
      () => docs.query().orderBy({ columnName: words }).explainPlan(),
      () => docs.query().nearestTo(vector).column(words).explainPlan(),
      () => docs.query().fullTextSearch(new MatchQuery("x", words)).explainPlan(),
      async () => (await docs.tags()).getVersion(words),
      () => connection.openTable("nope", [words]),
      () => connection.describeNamespace([words]),
    ];
    for (const provoke of rejected) {
      const native = await errorOf(provoke);
      const { code } = classify(native);
      expect({ code, gone: isGone(native) }, String(native)).toEqual({ code: expect.any(Number), gone: false });
      expect([1, 4, 8, 12, 13], String(native)).toContain(code);
    }
  });

  test.each([
    ["version", async () => (await docs.branches()).checkout("main", 4711)],
    ["branch", async () => (await docs.branches()).checkout("nope")],
  ])("a missing %s gets the given code", async (_, provoke) => {
    const native = await errorOf(provoke);
    expect(isGone(native)).toBe(true);
    expect(classify(native, 11).code).toBe(11);
  });

  test("a dropped table with an open handle is gone", async () => {
    const fresh = await connect(join(home, "data"), { readConsistencyInterval: 0 });
    await fresh.createTable("short", [{ id: 1 }]);
    const handle = await fresh.openTable("short");
    await connection.dropTable("short");
    expect(isGone(await errorOf(() => handle.query().explainPlan()))).toBe(true);
  });

  test("an unavailable store is code 17 with Retry-After", async () => {
    const native = await errorOf(() =>
      connect("s3://bucket/prefix", {
        storageOptions: {
          aws_endpoint: "http://127.0.0.1:9",
          allow_http: "true",
          aws_access_key_id: "x",
          aws_secret_access_key: "x",
          aws_region: "us-east-1",
          client_max_retries: "0",
        },
      }),
    );
    expect(classify(native)).toMatchObject({ code: 17, headers: { "retry-after": "1" } });
  });

  test("an unknown error is code 18 and keeps its cause for the log", () => {
    const native = new Error("something new");
    expect(classify(native)).toMatchObject({ code: 18, cause: native });
  });
});
