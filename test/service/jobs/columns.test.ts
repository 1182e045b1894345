import { Field, Schema, tableFromIPC, Utf8 } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { testToken } from "../../support/request.ts";
import { useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { asRows, plainStream, streamOf, writesOn } from "../writes/support.ts";

const tokens = {
  owner: "token-of-the-owner",
  other: "token-of-another-writer",
  manager: "token-of-a-manager",
  elsewhere: "token-of-a-manager-of-other-tables",
} as const;
const writer = ["read", "write", "stats"] as const;

const options = {
  tokens: [
    staticToken("owner", tokens.owner, writer),
    staticToken("other", tokens.other, writer),
    staticToken("manager", tokens.manager, ["manage"]),
    staticToken("elsewhere", tokens.elsewhere, ["manage"], ["prod$**"]),
  ],
  environment: { ...writesOn, LAKEHEAD_CONSISTENCY_SECONDS: "0" },
};
const service = useService(options);
/** On the same database. */
const replica = useService(() => ({ ...options, database: service.directory }));

let tables = 0;
const makeTable = async (): Promise<string> => {
  const table = `computed_${++tables}`;
  expect((await service.call("create", table, undefined, asRows(plainStream([1, 2, 3])))).status).toBe(200);
  return table;
};
const add = (table: string, body: object) => service.call("add_columns", table, body);
const declare = async (table: string, computed = "id * 2"): Promise<void> => {
  const { status, body } = await add(table, { new_columns: [{ name: "double", computed }] });
  expect([status, body]).toEqual([200, { version: expect.any(Number) }]);
};
const begin = async (table: string, token: string = testToken, more: object = {}): Promise<string> => {
  const { status, body } = await service.call("backfill_column", table, { column: "double", ...more }, { token });
  expect([status, body]).toEqual([202, { job_id: expect.any(String) }]);
  return body.job_id;
};
const describeJob = (id: string, on = service, token: string = testToken) =>
  on.ask("/v1/jobs/describe", { job_id: id }, { token });
const ended = async (id: string) => {
  for (;;) {
    const { status, body } = await describeJob(id);
    expect(status).toBe(200);
    if (body.job_state !== "IN_PROGRESS") return body;
  }
};
const countOf = async (table: string, predicate: string): Promise<number> =>
  (await service.call("count_rows", table, { predicate })).body;

describe("a computed column", () => {
  test("has no values until it is refreshed, and then those of new rows and of changed inputs alone", async () => {
    const table = await makeTable();
    await declare(table);
    expect(await countOf(table, "double is null")).toBe(3);
    const first = await ended(await begin(table));
    expect(first).toMatchObject({
      job_type: "refresh_column",
      job_state: "DONE",
      spec: { column: "double", expression: "id * 2" },
      result: {
        rows_assigned: 3,
        rows_failed: 0,
        rows_remaining: 0,
        source_version: 2,
        published_version: expect.any(Number),
      },
    });
    expect(await countOf(table, "double = id * 2")).toBe(3);
    expect((await service.call("describe", table)).body.version).toBe(first.result.published_version);
    await service.call("insert", table, undefined, asRows(plainStream([4])));
    expect((await ended(await begin(table))).result.rows_assigned).toBe(1);
    await service.call("update", table, { updates: [["id", "id + 10"]], predicate: "id = 1" });
    expect((await ended(await begin(table))).result.rows_assigned).toBe(1);
    expect(await countOf(table, "double = id * 2")).toBe(4);
    expect((await ended(await begin(table))).result).toMatchObject({ rows_assigned: 0 });
  });

  test("refuses writes of its values and the removal of its inputs, and names the column", async () => {
    const table = await makeTable();
    await declare(table);
    for (const [operation, body, status, text] of [
      ["update", { updates: [["double", "1"]] }, 400, /"double" is computed: leave it out/],
      ["drop_columns", { columns: ["id"] }, 400, /"id" is an input of a computed column/],
      ["alter_columns", { alterations: [{ path: "id", rename: "key" }] }, 400, /"id" is an input/],
      [
        "update_field_metadata",
        { updates: [{ path: "double", metadata: { "computed_column.expression": "1" } }] },
        400,
        /"double" is computed/,
      ],
    ] as const)
      expect(await service.call(operation, table, body), operation).toMatchObject({
        status,
        body: { error: expect.stringMatching(text) },
      });
    expect(await countOf(table, "double is null")).toBe(3);
  });

  test("is refused with an expression that the guard, the table or the engine refuses", async () => {
    const table = await makeTable();
    for (const [columns, status] of [
      [[{ name: "a", computed: "id * 2", expression: "id" }], 400],
      [[{ name: "a" }], 400],
      [
        [
          { name: "a", computed: "id" },
          { name: "b", expression: "id" },
        ],
        400,
      ],
      [[{ name: "a", computed: "(select 1)" }], 400],
      [[{ name: "a", computed: "sum(id)" }], 400],
      [[{ name: "a", computed: "missing + 1" }], 404],
      [[{ name: "id", computed: "id + 1" }], 400],
      [[{ name: "a", virtual_column: { udf: "cGlja2xl", input_columns: ["id"] } }], 400],
    ] as const)
      expect((await add(table, { new_columns: columns })).status, JSON.stringify(columns)).toBe(status);
    const named = await add(table, { new_columns: [{ name: "a", computed: "id" }], error_policy: "skip" });
    expect(named).toMatchObject({ status: 400, body: { error: expect.stringContaining("error_policy") } });
    const automatic = await add(table, { new_columns: [{ name: "a", computed: "id" }], auto_refresh_enabled: true });
    expect(automatic).toMatchObject({ status: 400, body: { error: expect.stringContaining("auto_refresh_enabled") } });
    expect(
      (await add(table, { new_columns: [{ name: "a", computed: "id" }], auto_refresh_enabled: false })).status,
    ).toBe(200);
  });

  test("fails its job where a row has no value, and says why without native text", async () => {
    const table = await makeTable();
    await declare(table, "cast(text as bigint)");
    expect(await ended(await begin(table))).toMatchObject({
      job_state: "FAILED",
      failure: { phase: "run", message: expect.not.stringMatching(/rustc|lance error/), retryable: false },
    });
  });

  test("of a branch is refreshed there alone", async () => {
    const table = await makeTable();
    await declare(table);
    await service.call("branches/create", table, { name: "side" });
    const job = await ended(await begin(table, testToken, { branch: "side" }));
    expect(job).toMatchObject({ job_state: "DONE", result: { rows_assigned: 3 } });
    expect(await countOf(table, "double is null")).toBe(3);
  });
});

describe("backfill_column", () => {
  test("refuses what is no computed column, and fields that it would not heed", async () => {
    const table = await makeTable();
    await declare(table);
    for (const [body, status, text] of [
      [{ column: "id" }, 400, /not computed/],
      [{ column: "missing" }, 404, /missing/],
      [{ column: "double", where: "id = 1" }, 400, /where/],
      [{ column: "double", concurrency: 4 }, 400, /concurrency/],
      [{ column: "double", branch: "nope" }, 404, /branch/],
      [{}, 400, /column/],
    ] as const)
      expect(await service.call("backfill_column", table, body), JSON.stringify(body)).toMatchObject({
        status,
        body: { error: expect.stringMatching(text) },
      });
    expect((await service.call("backfill_column", "no_such_table", { column: "a" })).status).toBe(404);
  });

  test("takes the nulls of the specification's clients", async () => {
    const table = await makeTable();
    await declare(table);
    await begin(table, testToken, { where: null, read_version: null, num_frags: null, concurrency: null });
  });

  test("needs write and read", async () => {
    const table = await makeTable();
    await declare(table);
    const { status } = await service.call("backfill_column", table, { column: "double" }, { token: tokens.manager });
    expect(status).toBe(403);
  });

  test("computes no expression that came with the schema of rows and that the guard refuses", async () => {
    const expensive = "repeat(text, 100000000)";
    const metadata = new Map([
      ["computed_column", "true"],
      ["computed_column.kind", "sql"],
      ["computed_column.expression", expensive],
      ["computed_column.inputs", '["text"]'],
    ]);
    const forged = new Field("double", new Utf8(), true, metadata);
    const schema = new Schema([new Field("text", new Utf8(), true), forged]);
    const table = "forged";
    expect((await service.call("create", table, undefined, asRows(streamOf([], schema)))).status).toBe(200);
    const answer = await service.call("backfill_column", table, { column: "double" });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining("the column's expression") } });
  });
});

describe("the record of a job", () => {
  test("is answered by every replica, with its events", async () => {
    const table = await makeTable();
    await declare(table);
    const id = await begin(table);
    expect((await describeJob(id, replica)).status).toBe(200);
    await ended(id);
    const events = async (body: object, on = replica) => {
      const answer = await on.ask("/v1/jobs/query_events", { job_id: id, ...body });
      return answer.status === 200
        ? tableFromIPC(answer.body)
            .toArray()
            .map((row) => row.toJSON())
        : answer.status;
    };
    await expect.poll(() => events({})).toHaveLength(4);
    expect(await events({ filter: "state = 'claim_complete'" })).toMatchObject([
      { claim_entity: "double", rows_processed: 3n },
    ]);
    expect(await events({ limit: 1 })).toHaveLength(1);
    expect(await events({ filter: "state = 'nothing'" })).toEqual([]);
    expect(await events({ filter: "(select 1) = 1" })).toBe(400);
    expect(await events({ filter: "missing = 1" })).toBe(404);
    expect(await events({ filter: "true) or (true" })).toBe(400);
  });

  test("is the owner's and that of who may manage the table, and to others does not exist", async () => {
    const table = await makeTable();
    await declare(table);
    const id = await begin(table, tokens.owner);
    await ended(id);
    for (const operation of ["describe", "cancel", "query_events", "pause", "resume"]) {
      const statuses = [];
      for (const token of [tokens.owner, tokens.manager, tokens.other, tokens.elsewhere])
        statuses.push((await service.ask(`/v1/jobs/${operation}`, { job_id: id }, { token })).status);
      expect(statuses, operation).toEqual([200, 200, 404, 404]);
    }
    const listed = async (token: string): Promise<boolean> =>
      (await service.ask("/v1/jobs/list", {}, { token })).body.jobs.some(
        (job: { job_id: string }) => job.job_id === id,
      );
    expect(await Promise.all([tokens.owner, tokens.manager, tokens.other, tokens.elsewhere].map(listed))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test("is listed in pages, the newest first", async () => {
    const table = await makeTable();
    await declare(table);
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.unshift(await begin(table, tokens.other));
    const found: string[] = [];
    let token: string | undefined;
    do {
      const { body } = await service.ask("/v1/jobs/list", { limit: 2, page_token: token }, { token: tokens.other });
      found.push(...body.jobs.map((job: { job_id: string }) => job.job_id));
      token = body.page_token;
    } while (token !== undefined);
    expect(found).toEqual(ids);
  });

  test("of an unknown id is 404, and of a malformed request 400", async () => {
    for (const operation of ["describe", "cancel", "query_events", "pause", "resume"]) {
      expect((await service.ask(`/v1/jobs/${operation}`, { job_id: "none" })).status, operation).toBe(404);
      expect((await service.ask(`/v1/jobs/${operation}`, {})).status, operation).toBe(400);
      expect((await service.ask(`/v1/jobs/${operation}`, { job_id: "none", force: true })).status).toBe(400);
    }
  });

  test("stays as it is when a job that has ended is cancelled", async () => {
    const table = await makeTable();
    await declare(table);
    const id = await begin(table);
    await ended(id);
    expect((await service.ask("/v1/jobs/cancel", { job_id: id })).status).toBe(200);
    expect((await ended(id)).job_state).toBe("DONE");
  });
});
