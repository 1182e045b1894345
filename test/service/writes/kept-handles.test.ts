import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Connection, connect, type Table } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useService } from "../../support/service.ts";
import { asRows, plainRow, plainStream, writesOn } from "./support.ts";

// Each table is written by the service, changed by another connection, and written by the service again: by a handle that it
// has kept, if that is still of the newest version.

// As in a worker that writes: handles do not renew themselves.
const service = useService({ environment: { ...writesOn, LAKEHEAD_CONSISTENCY_SECONDS: "0" } });
let other: Connection;
beforeAll(async () => {
  other = await connect(service.directory);
});
afterAll(() => other.close());

let tables = 0;
/** A table of version 2 with the ids 1 and 2; the service has a handle of it. */
const written = async (): Promise<string> => {
  const name = `kept-${++tables}`;
  await write(name, "create", 1);
  await write(name, "insert", 2);
  return name;
};

const merge = "merge_insert?on=id&when_matched_update_all=true&when_not_matched_insert_all=true";
const write = async (table: string, operation: string, ...ids: number[]): Promise<void> => {
  const [name = "", query] = operation.split("?");
  const rows = asRows(plainStream(ids), query === undefined ? {} : { query: `?${query}` });
  expect(await service.call(name, table, undefined, rows)).toMatchObject({ status: 200 });
};
const change = async (table: string, operation: string, body: object): Promise<void> => {
  expect(await service.call(operation, table, body)).toMatchObject({ status: 200 });
};

/** The last commit, as the audit says. */
const commit = (): unknown => {
  const { before, version } = service.log.findLast((line) => line.version !== undefined) ?? {};
  return { before, version };
};
const idsOf = async (table: Table): Promise<readonly number[]> =>
  (await table.query().select(["id"]).toArray()).map(({ id }) => Number(id)).sort((one, two) => one - two);
const idsIn = async (name: string): Promise<readonly number[]> => idsOf(await other.openTable(name));

/** Writes of the service: the ids of the table after it had 1, 2 and 3. */
const writes: readonly [string, (table: string) => Promise<void>, readonly number[]][] = [
  ["an insert", (table) => write(table, "insert", 4), [1, 2, 3, 4]],
  ["a merge", (table) => write(table, merge, 3, 4), [1, 2, 3, 4]],
  ["an update", (table) => change(table, "update", { predicate: "id = 3", updates: [["id", "4"]] }), [1, 2, 4]],
  ["a deletion", (table) => change(table, "delete", { predicate: "id = 3" }), [1, 2]],
];

describe.each(writes)("%s after", (_, writeAgain, expected) => {
  test("rows of another writer", async () => {
    const name = await written();
    await (await other.openTable(name)).add([plainRow(3)]);
    await writeAgain(name);
    expect(commit()).toEqual({ before: 3, version: 4 });
    expect(await idsIn(name)).toEqual(expected);
  });

  test("the table was dropped and created again, up to the same version", async () => {
    const name = await written();
    await other.dropTable(name);
    const again = await other.createTable(name, [plainRow(1), plainRow(2)]);
    await again.add([plainRow(3)]);
    expect(await again.version()).toBe(2);
    await writeAgain(name);
    expect(commit()).toEqual({ before: 2, version: 3 });
    expect(await idsIn(name)).toEqual(expected);
  });

  test("another table was moved to its place", async () => {
    const [name, aside] = [await written(), await written()];
    await write(aside, "insert", 3);
    const path = (table: string): string => join(service.directory, `${table}.lance`);
    await rm(path(name), { recursive: true });
    await rename(path(aside), path(name));
    await writeAgain(name);
    expect(commit()).toEqual({ before: 3, version: 4 });
    expect(await idsIn(name)).toEqual(expected);
  });

  test("the next version was written and deleted", async () => {
    const name = await written();
    const table = await other.openTable(name);
    await table.add([plainRow(7)]);
    await table.delete("id = 7");
    await table.add([plainRow(3)]);
    // As a clean-up by pylance does if a tag keeps version 2. That of the SDK refuses then.
    await rm(join(service.directory, `${name}.lance`, "_versions", "18446744073709551612.manifest"));
    expect((await table.listVersions()).map(({ version }) => version)).toEqual([1, 2, 4, 5]);
    await writeAgain(name);
    expect(commit()).toEqual({ before: 5, version: 6 });
    expect(await idsIn(name)).toEqual(expected);
  });

  test("the table was restored by another writer", async () => {
    const name = await written();
    await write(name, "insert", 3);
    const table = await other.openTable(name);
    await table.delete("id > 1");
    await table.checkout(3);
    await table.restore();
    await writeAgain(name);
    expect(commit()).toEqual({ before: 5, version: 6 });
    expect(await idsIn(name)).toEqual(expected);
  });
});

describe("a write after", () => {
  test("the table was dropped is refused with 404, and works when there is one again", async () => {
    const name = await written();
    await other.dropTable(name);
    expect(await service.call("insert", name, undefined, asRows(plainStream([3])))).toMatchObject({ status: 404 });
    await other.createTable(name, [plainRow(5)]);
    await write(name, "insert", 6);
    expect(await idsIn(name)).toEqual([5, 6]);
  });

  test("the table got another column has its type", async () => {
    const name = await written();
    await (await other.openTable(name)).addColumns([{ name: "twice", valueSql: "id * 2" }]);
    await change(name, "update", { predicate: "id = 2", updates: [["twice", "7"]] });
    const rows = await (await other.openTable(name)).query().select(["id", "twice"]).toArray();
    expect(rows.map(({ twice }) => Number(twice)).sort()).toEqual([2, 7]);
  });

  test("a refused one finds the table as it was", async () => {
    const name = await written();
    const refused = { predicate: "id = 2", updates: [["vector", "'text'"]] };
    expect(await service.call("update", name, refused)).toMatchObject({ status: 400 });
    await write(name, "insert", 3);
    expect(commit()).toEqual({ before: 2, version: 3 });
    expect(await idsIn(name)).toEqual([1, 2, 3]);
  });

  test("an old version was restored has that version's rows", async () => {
    const name = await written();
    await change(name, "restore", { version: 1 });
    await write(name, "insert", 3);
    expect(commit()).toEqual({ before: 3, version: 4 });
    expect(await idsIn(name)).toEqual([1, 3]);
  });

  test("columns and indices were changed has them", async () => {
    const name = await written();
    await change(name, "create_index", { column: "id", index_type: "BTREE" });
    await write(name, "insert", 3);
    await change(name, "add_columns", { new_columns: [{ name: "twice", expression: "id * 2" }] });
    await change(name, "update", { predicate: "id = 3", updates: [["twice", "7"]] });
    await change(name, "alter_columns", { alterations: [{ path: "twice", rename: "double" }] });
    await change(name, "update", { predicate: "double = 7", updates: [["double", "8"]] });
    await change(name, "drop_columns", { columns: ["double"] });
    await change(name, "delete", { predicate: "id = 1" });
    const table = await other.openTable(name);
    expect(commit()).toEqual({ before: 9, version: 10 });
    expect((await table.schema()).fields.map((field) => field.name)).toEqual(["id", "text", "vector"]);
    expect((await table.listIndices()).map((index) => index.name)).toEqual(["id_idx"]);
    expect(await idsOf(table)).toEqual([2, 3]);
  });
});

test("tables in namespaces, branches and tables with old names of manifests are found each time", async () => {
  expect((await service.ask("/v1/namespace/kept/create")).status).toBe(200);
  await write("kept$table", "create", 1);
  await write("kept$table", "insert", 2);
  await other.dropTable("table", ["kept"]);
  await other.createTable("table", [plainRow(1), plainRow(2)], ["kept"]);
  await write("kept$table", "insert", 3);
  expect(await idsOf(await other.openTable("table", ["kept"]))).toEqual([1, 2, 3]);

  const name = await written();
  await change(name, "branches/create", { name: "side" });
  const onSide = async (id: number) =>
    service.call("insert", name, undefined, asRows(plainStream([id]), { query: "?branch=side" }));
  expect((await onSide(3)).status).toBe(200);
  await (await (await (await other.openTable(name)).branches()).checkout("side")).add([plainRow(4)]);
  expect((await onSide(5)).status).toBe(200);
  await write(name, "insert", 6);
  expect(await idsIn(name)).toEqual([1, 2, 6]);
  expect(await idsOf(await (await (await other.openTable(name)).branches()).checkout("side"))).toEqual([1, 2, 3, 4, 5]);

  const old = await other.createTable("old", [plainRow(1)], {
    storageOptions: { new_table_enable_v2_manifest_paths: "false" },
  });
  expect(await (old as Table & { usesV2ManifestPaths(): Promise<boolean> }).usesV2ManifestPaths()).toBe(false);
  await write("old", "insert", 2);
  await old.checkoutLatest();
  await old.add([plainRow(3)]);
  await write("old", "insert", 4);
  expect(commit()).toEqual({ before: 3, version: 4 });
  expect(await idsIn("old")).toEqual([1, 2, 3, 4]);
});

test("concurrent writes have handles of their own, and none is lost", async () => {
  const name = await written();
  await Promise.all(Array.from({ length: 12 }, (_, index) => write(name, "insert", 100 + index)));
  expect(await idsIn(name)).toHaveLength(14);
});
