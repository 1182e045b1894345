import { connect } from "@lancedb/lancedb";
import { beforeAll, describe, expect, test } from "vitest";
import { type TestService, useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { useStoredService } from "../store/support.ts";
import { asRows, plainStream, writesOn } from "../writes/support.ts";

const writer = "token-of-a-writer-who-creates-no-table";

const local = useService({
  environment: { ...writesOn, LAKEHEAD_CONSISTENCY_SECONDS: "0" },
  tokens: [staticToken("writer", writer, ["read", "write"])],
});
const stored = useStoredService({ consistencySeconds: 0, environment: writesOn });
const silent = useService({ environment: { ...writesOn, LAKEHEAD_TABLE_LOCATIONS: "off" } });

beforeAll(async () => {
  for (const service of [local, stored.service])
    for (const namespace of ["é b%41{x}", "n%2Bs~^|"])
      await service.ask(`/v1/namespace/${encodeURIComponent(namespace)}/create`, {});
});

/** Ids of new tables, as paths. */
const places = [
  "fresh",
  "prod$vectors$fresh",
  `${encodeURIComponent("é b%41{x}")}$fresh`,
  `${encodeURIComponent("n%2Bs~^|")}$fresh`,
];

describe.each(["a directory", "a bucket"])("in %s", (kind) => {
  const service = (): TestService => (kind === "a bucket" ? stored.service : local);

  test.each(places)("%s is declared, described, listed, written and dropped", async (place) => {
    const { call } = service();
    const declared = await call("declare", place, {});
    expect(declared).toMatchObject({ status: 200, body: { location: expect.any(String) } });
    const { location } = declared.body;

    const described = await call("describe", place, { check_declared: true });
    expect(described).toMatchObject({ status: 200, body: { location, is_only_declared: true, table: "fresh" } });
    expect(described.body).not.toHaveProperty("version");
    expect(await call("exists", place)).toMatchObject({ status: 200 });
    expect(await call("declare", place, {})).toMatchObject({ status: 409, body: { code: 5 } });
    // LanceDB's own client needs a version and a schema.
    const remote = { trailingSlash: true, rawBody: "" };
    expect(await call("describe", place, undefined, remote)).toMatchObject({ status: 404, body: { code: 4 } });
    expect(await call("describe", place, { version: 1 })).toMatchObject({ status: 404 });

    expect(await call("create", place, undefined, asRows(plainStream([1, 2])))).toMatchObject({ status: 200 });
    const written = await call("describe", place, { check_declared: true });
    expect(written).toMatchObject({ status: 200, body: { location, version: 1, is_only_declared: false } });
    expect(await call("declare", place, {})).toMatchObject({ status: 409, body: { code: 5 } });

    expect(await call("drop", place)).toMatchObject({ status: 200 });
    expect(await call("describe", place)).toMatchObject({ status: 404, body: { code: 4 } });
  });

  test("what is declared is listed, and dropped without having been written", async () => {
    const { call, ask } = service();
    expect(await call("declare", "prod$vectors$idle", {})).toMatchObject({ status: 200 });
    const list = () => ask("/v1/namespace/prod$vectors/table/list", undefined, { method: "GET" });
    expect((await list()).body.tables).toContain("idle");
    expect(await call("drop", "prod$vectors$idle")).toMatchObject({ status: 200 });
    expect((await list()).body.tables).not.toContain("idle");
    expect(await call("drop", "prod$vectors$idle")).toMatchObject({ status: 404, body: { code: 4 } });
  });

  test.each(["create", "exist_ok", "overwrite"])("a creation with mode %s writes what is declared", async (mode) => {
    const { call } = service();
    await call("declare", `by-${mode}`, {});
    const created = await call("create", `by-${mode}`, undefined, {
      ...asRows(plainStream([1])),
      query: `?mode=${mode}`,
    });
    expect(created).toMatchObject({ status: 200 });
    expect((await call("count_rows", `by-${mode}`)).body).toBe(1);
  });
});

test("another program's declaration is described where it lies", async () => {
  const { call, directory } = local;
  const { connectNamespace } = await import("@lancedb/lancedb");
  const { Field, Int32, Schema } = await import("apache-arrow");
  const other = await connectNamespace("dir", { root: directory, manifest_enabled: "true" });
  const declaring = other.createEmptyTable("theirs", new Schema([new Field("id", new Int32())]), ["prod", "vectors"], {
    storageOptions: { new_table_data_storage_version: "none" },
  });
  await expect(declaring).rejects.toThrow("Unknown Lance storage version");
  const { body } = await call("describe", "prod$vectors$theirs", { check_declared: true });
  expect(body).toMatchObject({
    is_only_declared: true,
    location: expect.stringMatching(/[0-9a-f]{8}_prod\$vectors\$theirs$/),
  });
  // And written by a third one.
  const third = await connect(directory);
  await third.createTable("theirs", [{ id: 1 }], ["prod", "vectors"]);
  expect((await call("describe", "prod$vectors$theirs")).body).toMatchObject({ location: body.location, version: 1 });
  third.close();
  other.close();
});

test("a table that exists cannot be declared, nor one in a namespace that does not", async () => {
  expect(await local.call("declare", "docs", {})).toMatchObject({ status: 409, body: { code: 5 } });
  expect(await local.call("declare", "docs", {}, { trailingSlash: true })).toMatchObject({ status: 400 });
  expect(await local.call("declare", "nowhere$t", {})).toMatchObject({ status: 404, body: { code: 1 } });
  expect(await local.call("describe", "nowhere$t", {})).toMatchObject({ status: 404, body: { code: 1 } });
});

test("a declaration needs the scope of a creation", async () => {
  const answer = await local.call("declare", "mine", {}, { token: writer });
  expect(answer).toMatchObject({ status: 403, body: { code: 15, error: expect.stringContaining("manage") } });
  expect(await local.call("describe", "mine")).toMatchObject({ status: 404 });
});

test.each([
  [{ location: "s3://elsewhere/t.lance" }, "location"],
  [{ properties: { owner: "me" } }, "properties"],
])("%j is refused, and declares nothing", async (body, word) => {
  const answer = await local.call("declare", "refused", body);
  expect(answer).toMatchObject({ status: 406, body: { code: 0, error: expect.stringContaining(word) } });
  expect(await local.call("describe", "refused")).toMatchObject({ status: 404 });
});

test("where locations are hidden, nothing is declared", async () => {
  expect(await silent.call("declare", "hidden", {})).toMatchObject({ status: 406, body: { code: 0 } });
});

test("of concurrent declarations of one table, one succeeds", async () => {
  const answers = await Promise.all(Array.from({ length: 4 }, () => local.call("declare", "prod$vectors$once", {})));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
});

test.each(["register", "deregister"])("%s is refused with its reason", async (operation) => {
  const answer = await local.call(operation, "docs", {});
  expect(answer).toMatchObject({
    status: 406,
    body: { code: 0, error: expect.stringContaining(`${operation} is not supported`) },
  });
});
