import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@lancedb/lancedb";
import { Field, Int64, Schema } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { testToken } from "../../support/request.ts";
import { useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { asRows, plainStream, streamOf, writesOn } from "../writes/support.ts";

const tokens = {
  manager: "token-of-a-manager-alone",
  binder: "token-of-a-binder",
  writer: "token-of-a-writer",
} as const;

const service = useService({
  tokens: [
    staticToken("manager", tokens.manager, ["manage", "read", "write"]),
    staticToken("binder", tokens.binder, ["manage", "read", "write", "functions"], ["bound_*"]),
    staticToken("writer", tokens.writer, ["write", "functions"]),
  ],
  environment: {
    ...writesOn,
    LAKEHEAD_FUNCTIONS: "on",
    LAKEHEAD_CONSISTENCY_SECONDS: "0",
    LAKEHEAD_JOBS_LEASE_SECONDS: "2",
    LAKEHEAD_JOBS_SECONDS: "3",
  },
});

const jobOf = async (id: string, until = (state: string) => state !== "IN_PROGRESS") => {
  for (;;) {
    const { status, body } = await service.ask("/v1/jobs/describe", { job_id: id });
    expect(status).toBe(200);
    if (until(body.job_state)) return body;
  }
};

const outputs = {
  scalar: { kind: "scalar", arrow_type: "utf8", nullable: false },
  struct: {
    kind: "named_struct",
    fields: [
      { name: "length", arrow_type: "int32", nullable: false },
      {
        name: "parts",
        arrow_type: '{"fields":[{"name":"item","nullable":true,"type":{"type":"utf8"}}],"type":"list"}',
        nullable: true,
      },
    ],
  },
} as const;

const register = async (name: string, output: object = outputs.scalar, type = "int64") => {
  const source = `def ${name}(x): ...\n`;
  const { status, body } = await service.ask(`/v1/function/${name}/create`, {
    artifact: {
      kind: "python_callable",
      digest: `sha256:${createHash("sha256").update(source).digest("hex")}`,
      content: { encoding: "base64", data: Buffer.from(source).toString("base64") },
      entrypoint: name,
      adapter: { kind: "scalar_to_arrow_batch", version: 1 },
    },
    signature: { inputs: [{ name: "x", arrow_type: type, nullable: false }], output },
    runtime: { kind: "python", python_version: "3.11", environment: { kind: "pip" } },
  });
  expect(status).toBe(202);
  return (await jobOf(body.job_id)).result;
};

// biome-ignore lint/suspicious/noExplicitAny: an answer
type Version = any;

const applied = (
  { name, version, object_id, image }: Version,
  path = "id",
  results: Readonly<Record<string, string>> = { label: "$value" },
) => ({
  new_columns: Object.keys(results).map((column) => ({ name: column, all_null: true })),
  function: {
    application: {
      function: { name, version, object_id, manifest_digest: image.manifest_digest, location: "" },
      inputs: [{ parameter: "x", kind: "column", value: { path } }],
      output: {},
    },
    binding_metadata_version: 1,
    input_bindings: [{ parameter: "x" }],
    input_schema: { fields: [] },
    output_schema: { fields: [] },
    outputs: Object.entries(results).map(([column, field], at) => ({
      output_name: column,
      output_ordinal: at,
      result_field: field,
    })),
  },
});

let tables = 0;
const makeTable = async (): Promise<string> => {
  const table = `bound_${++tables}`;
  expect((await service.call("create", table, undefined, asRows(plainStream([1, 2, 3])))).status).toBe(200);
  return table;
};
const bound = async () => {
  const [table, version] = [await makeTable(), await register(`label_${tables}`)];
  const { status, body } = await service.call("add_columns", table, applied(version));
  expect([status, body]).toEqual([200, { version: expect.any(Number) }]);
  return { table, version };
};
const refresh = (table: string, token: string = testToken, column = "label") =>
  service.call("backfill_column", table, { column }, { token });

describe("a column of a Function", () => {
  test("is added without values, and says to what it is bound", async () => {
    const { table, version } = await bound();
    const { body } = await service.call("describe", table);
    const field = body.schema.fields.find(({ name }: { name: string }) => name === "label");
    expect(field).toMatchObject({ type: { type: "utf8" }, nullable: true });
    expect(JSON.parse(field.metadata["lakehead.function"])).toEqual({
      binding: expect.any(String),
      function: { id: [version.name], version: 1, object: version.object_id },
      inputs: [{ parameter: "x", column: "id" }],
      output: "$value",
    });
    expect(Object.keys(field.metadata).filter((key) => !key.startsWith("lakehead."))).toEqual([]);
    expect((await service.call("count_rows", table, { predicate: "label is null" })).body).toBe(3);
  });

  test("may be one of a branch alone, whose refresh is a job of that branch", async () => {
    const [table, version] = [await makeTable(), await register("branched")];
    const branch = "side";
    expect((await service.call("add_columns", table, { ...applied(version), branch })).status).toBe(404);
    await service.call("branches/create", table, { name: branch });
    expect((await service.call("add_columns", table, { ...applied(version), branch })).status).toBe(200);
    expect((await refresh(table)).status).toBe(404);
    const { status, body } = await service.call("backfill_column", table, { column: "label", branch });
    expect(status).toBe(202);
    expect((await jobOf(body.job_id)).spec).toMatchObject({ column: "label", branch });
  });

  test("may be one of several that one result fills, or all of it", async () => {
    const [table, version] = [await makeTable(), await register("split", outputs.struct)];
    const fields = applied(version, "id", { n: "length", words: "parts" });
    expect((await service.call("add_columns", table, fields)).status).toBe(200);
    expect((await service.call("add_columns", table, applied(version, "id", { whole: "$value" }))).status).toBe(200);
    const { schema } = (await service.call("describe", table)).body;
    const of = (column: string) => schema.fields.find(({ name }: { name: string }) => name === column);
    const bindingOf = (column: string) => JSON.parse(of(column).metadata["lakehead.function"]).binding;
    expect([of("n").type.type, of("words").type.type, of("whole").type.type]).toEqual(["int32", "list", "struct"]);
    expect(bindingOf("n")).toBe(bindingOf("words"));
    expect(bindingOf("n")).not.toBe(bindingOf("whole"));
  });

  test("is refused where Function, inputs or columns do not fit", async () => {
    const [table, version] = [await makeTable(), await register("fits")];
    const text = applied(version, "text");
    for (const [body, fault] of [
      [text, /column for x is not of the type int64/],
      [applied(version, "nope"), /no column for the parameter x/],
      [applied({ ...version, version: "7" }), /no version 7/],
      [applied({ ...version, object_id: "another" }), /registered anew/],
      [applied(version, "id", { label: "length" }), /no result field "length"/],
      [applied(await register("of_blobs", outputs.scalar, "blob_v2")), /x is a blob/],
      [{ ...applied(version), new_columns: [{ name: "other", all_null: true }] }, /name each of new_columns once/],
      [{ ...applied(version), new_columns: [{ name: "label", expression: "1" }] }, /expression/],
    ] as const) {
      const { status, body: answer } = await service.call("add_columns", table, body);
      expect([[400, 406].includes(status), answer.error], String(fault)).toEqual([true, expect.stringMatching(fault)]);
    }
    expect((await service.call("add_columns", table, applied(version, "id", { text: "$value" }))).status).toBe(400);
  });

  test("takes no values of callers, and keeps its inputs", async () => {
    const { table } = await bound();
    const rows = streamOf(
      [{ id: 4n, label: "4" }].map(({ id }) => ({ id, label: 4n })),
      new Schema([new Field("id", new Int64()), new Field("label", new Int64())]),
    );
    for (const [operation, body, options, fault] of [
      ["update", { updates: [["label", "'x'"]] }, {}, /"label" is filled by a Function/],
      ["insert", undefined, asRows(rows), /"label" is filled by a Function/],
      ["merge_insert?on=id&when_matched_update_all=true", undefined, asRows(rows), /"label" is filled by a Function/],
      ["alter_columns", { alterations: [{ path: "id", rename: "key" }] }, {}, /"id" belongs to a Function/],
      ["drop_columns", { columns: ["id"] }, {}, /"id" is an input of a Function/],
      [
        "update_field_metadata",
        { updates: [{ path: "text", metadata: { "lakehead.function": "{}" } }] },
        {},
        /lakehead/,
      ],
    ] as const)
      expect(await service.call(operation, table, body, options), operation).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(fault) },
      });
    expect((await service.call("insert", table, undefined, asRows(plainStream([9])))).status).toBe(200);
    expect((await service.call("update", table, { updates: [["text", "'x'"]] })).status).toBe(200);
    expect((await service.call("drop_columns", table, { columns: ["label"] })).status).toBe(200);
    expect((await service.call("drop_columns", table, { columns: ["id"] })).status).toBe(200);
  });

  test("needs the scope functions to be added and to be refreshed", async () => {
    const { table, version } = await bound();
    const add = (token: string) =>
      service.call("add_columns", table, applied(version, "id", { more: "$value" }), { token });
    expect((await add(tokens.manager)).status).toBe(403);
    // The caller's patterns permit the table, and not the Function.
    expect((await add(tokens.binder)).status).toBe(403);
    expect((await refresh(table, tokens.manager)).status).toBe(403);
    expect((await refresh(table, tokens.binder)).status).toBe(403);
    expect((await refresh(table, tokens.writer)).status).toBe(403);
  });
});

describe("a refresh by a Function", () => {
  test("waits for a runner, and can be cancelled, paused and resumed meanwhile", async () => {
    const { table } = await bound();
    const { status, body } = await refresh(table);
    expect([status, body]).toEqual([202, { job_id: expect.any(String) }]);
    const job = { job_id: body.job_id };
    expect(await jobOf(body.job_id, () => true)).toMatchObject({
      job_state: "IN_PROGRESS",
      job_type: "refresh_function",
      spec: { column: "label", directory: `${table}.lance`, inputs: [{ parameter: "x", column: "id" }] },
    });
    expect((await service.ask("/v1/jobs/pause", job)).body).toMatchObject({ paused: true });
    // Longer than a job waits for a runner.
    await sleep(4000);
    expect(await jobOf(body.job_id, () => true)).toMatchObject({ job_state: "IN_PROGRESS" });
    expect((await service.ask("/v1/jobs/resume", job)).body).toMatchObject({ resumed: true });
    await sleep(1000);
    expect(await jobOf(body.job_id, () => true)).toMatchObject({ job_state: "IN_PROGRESS" });
    expect((await service.ask("/v1/jobs/cancel", job)).status).toBe(200);
    expect(await jobOf(body.job_id)).toMatchObject({ job_state: "CANCELLED" });
  });

  test("ends where no runner takes it", async () => {
    const { table } = await bound();
    const { body } = await refresh(table);
    expect(await jobOf(body.job_id)).toMatchObject({
      job_state: "TIMED_OUT",
      failure: { phase: "wait", message: expect.stringContaining("no runner took the job") },
    });
  });

  test("is refused once the Function is dropped, or the metadata is not the service's", async () => {
    const { table, version } = await bound();
    expect((await service.ask(`/v1/function/${version.name}/drop`, { version: "1" })).status).toBe(200);
    expect(await refresh(table)).toMatchObject({ status: 400, body: { error: expect.stringMatching(/was dropped/) } });
    const connection = await connect(service.directory);
    const forged = await connection.openTable(table);
    await forged.updateFieldMetadata([{ path: "text", metadata: { "lakehead.function": "{}" }, replace: false }]);
    connection.close();
    expect(await refresh(table, testToken, "text")).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/not that of a Function/) },
    });
  });
});

test("a table of which no runner has recorded an error has none, and to read them takes the scope read", async () => {
  const { table } = await bound();
  expect(await service.call("errors", table, {})).toMatchObject({
    status: 200,
    body: { records: [], truncated: false },
  });
  expect((await service.call("errors", table, {}, { token: tokens.writer })).status).toBe(403);
  expect((await service.call("errors", table, { limit: 0 })).status).toBe(400);
});
