import { beforeAll, describe, expect, test } from "vitest";
import { scopes } from "../../../service/auth/index.ts";
import type { CallOptions } from "../../support/request.ts";
import { useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { asRows, plainStream, writesOn } from "./support.ts";

const token = "token-of-a-team";
const service = useService({
  tokens: [staticToken("team", token, scopes, ["team$**", "shared$t*", "t_*"])],
  environment: writesOn,
});
beforeAll(async () => {
  for (const namespace of ["team", "shared", "other"])
    expect((await service.ask(`/v1/namespace/${namespace}/create`)).status).toBe(200);
  for (const table of ["shared$theirs", "shared$secret", "other$table"])
    expect((await service.call("create", table, undefined, asRows(plainStream([1])))).status).toBe(200);
});

const asTeam = (options: CallOptions = {}): CallOptions => ({ ...options, token });
const rows = (): CallOptions => asRows(plainStream([2]), { token });
const merge = (): CallOptions => ({ ...rows(), query: "?on=id&when_matched_update_all=true" });

/** Every operation that changes an existing table. */
const changes: readonly [operation: string, body: object | undefined, options: () => CallOptions][] = [
  ["insert", undefined, rows],
  ["merge_insert", undefined, merge],
  ["update", { updates: [["text", "'changed'"]] }, asTeam],
  ["delete", { predicate: "id = 4711" }, asTeam],
  ["add_columns", { new_columns: [{ name: "more", expression: "id" }] }, asTeam],
  ["alter_columns", { alterations: [{ path: "text", rename: "words" }] }, asTeam],
  ["drop_columns", { columns: ["text"] }, asTeam],
  ["update_field_metadata", { updates: [{ path: "id", metadata: { key: "value" } }] }, asTeam],
  ["create_index", { column: "id", index_type: "BTREE" }, asTeam],
  ["create_scalar_index", { column: "id", index_type: "BITMAP" }, asTeam],
  ["index/bits/drop", {}, asTeam],
  ["branches/create", { name: "side" }, asTeam],
  ["branches/delete", { name: "side" }, asTeam],
  ["restore", { version: 1 }, asTeam],
  ["maintain", {}, asTeam],
  ["drop", {}, asTeam],
];

/** What a table must have before a change. */
const prerequisites: Readonly<Record<string, readonly [operation: string, body: object]>> = {
  "index/bits/drop": ["create_scalar_index", { column: "id", index_type: "BITMAP", name: "bits" }],
  "branches/delete": ["branches/create", { name: "side" }],
};

describe("a caller whose patterns match some tables", () => {
  test.each(changes)("changes them by %s", async (operation, body, options) => {
    const table = `team$${operation.replaceAll("/", "-")}`;
    const made = await service.call("create", table, undefined, asRows(plainStream([1]), { query: "?mode=overwrite" }));
    expect(made.status).toBe(200);
    const [first, content] = prerequisites[operation] ?? [];
    if (first !== undefined) expect((await service.call(first, table, content)).status).toBe(200);
    const answer = await service.call(operation, table, body, options());
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
  });

  test.each(changes)("does not change others by %s, whether they exist or not", async (operation, body, options) => {
    for (const table of ["other$table", "other$missing", "shared$secret", "plain"])
      expect(await service.call(operation, table, body, options())).toMatchObject({ status: 403, body: { code: 15 } });
  });

  test("creates tables whose id matches, and no others", async () => {
    expect((await service.call("create", "team$new", undefined, rows())).status).toBe(200);
    expect((await service.call("create", "shared$table", undefined, rows())).status).toBe(200);
    for (const table of ["shared$new", "other$new", "new"])
      expect((await service.call("create", table, undefined, rows())).status).toBe(403);
  });

  test("creates and drops namespaces beneath its own, and no others", async () => {
    const ask = (namespace: string, action: string) =>
      service.ask(`/v1/namespace/${namespace}/${action}`, {}, asTeam());
    expect((await ask("team$inner", "create")).status).toBe(200);
    expect((await ask("team$inner", "drop")).status).toBe(200);
    for (const namespace of ["other$inner", "new"]) expect((await ask(namespace, "create")).status).toBe(403);
    expect((await ask("other", "drop")).status).toBe(403);
    // Patterns of tables, inside of which nothing is the team's.
    for (const namespace of ["t_new", "shared$t_new"]) expect((await ask(namespace, "create")).status).toBe(403);
  });

  test("does not drop a namespace in which only some tables match", async () => {
    await service.call("drop", "shared$secret");
    expect((await service.ask("/v1/namespace/shared/drop", {}, asTeam())).status).not.toBe(200);
    expect((await service.ask("/v1/namespace/shared/exists", {}, asTeam())).status).toBe(200);
  });
});

test("the table's name in a body or an encoded address reaches no other table", async () => {
  const ask = (path: string) => service.ask(path, undefined, rows());
  expect((await ask("/v1/table/other%24table/insert")).status).toBe(403);
  expect((await ask("/v1/table/other.table/insert?delimiter=.")).status).toBe(403);
  const named = await service.call("delete", "team$new", { id: ["other", "table"], predicate: "true" }, asTeam());
  expect(named).toMatchObject({ status: 400, body: { code: 13 } });
});

describe("a caller without the scope read", () => {
  const writer = "token-without-the-scope-read";
  const guarded = useService({
    tokens: [staticToken("writer", writer, ["write", "manage", "stats"], ["*"])],
    environment: writesOn,
  });

  const conditions = {
    when_matched_update_all_filt: "?on=id&when_matched_update_all=true&when_matched_update_all_filt=",
    when_not_matched_by_source_delete_filt:
      "?on=id&when_not_matched_by_source_delete=true&when_not_matched_by_source_delete_filt=",
  };
  const condition = encodeURIComponent("target.text like 'r%'");
  const sql: readonly [what: string, operation: string, body: object | undefined, options: CallOptions][] = [
    ["the predicate of update", "update", { predicate: "text like 'r%'", updates: [["id", "id"]] }, {}],
    ["an expression of update", "update", { updates: [["id", "case when text like 'r%' then 1 / 0 else id end"]] }, {}],
    ["the predicate of delete", "delete", { predicate: "text like 'r%' and 1 = 0" }, {}],
    ["an expression of add_columns", "add_columns", { new_columns: [{ name: "copy", expression: "text" }] }, {}],
    ...Object.entries(conditions).map(([what, query]): (typeof sql)[number] => [
      `${what} of merge_insert`,
      "merge_insert",
      undefined,
      asRows(plainStream([1]), { query: `${query}${condition}` }),
    ]),
  ];

  test.each(sql)("learns nothing of the rows by %s", async (_, operation, body, options) => {
    const refused = await guarded.call(operation, "plain", body, { ...options, token: writer });
    expect(refused, JSON.stringify(refused.body)).toMatchObject({ status: 403, body: { code: 15 } });
    expect(refused.body.error).toContain("scope read");
    const version = await guarded.call("version/list", "plain", {}, {});
    expect(version.body.versions).toHaveLength(10);
  });

  test("inserts rows, and merges them without a condition", async () => {
    const options = (query: string): CallOptions => asRows(plainStream([4711]), { token: writer, query });
    expect((await guarded.call("create", "own", undefined, options(""))).status).toBe(200);
    expect((await guarded.call("insert", "own", undefined, options(""))).status).toBe(200);
    const upsert = "?on=id&when_matched_update_all=true&when_not_matched_insert_all=true";
    expect((await guarded.call("merge_insert", "own", undefined, options(upsert))).status).toBe(200);
  });
});
