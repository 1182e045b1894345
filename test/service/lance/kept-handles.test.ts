import { cp, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, connect, type Table } from "@lancedb/lancedb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { KeptHandles } from "../../../service/lance/kept-handles.ts";
import type { WriteTarget } from "../../../service/lance/write-calls.ts";

// The clock of files of older kernels advances in steps of milliseconds: here it stands.
vi.mock("../../../service/lance/local-files.ts", async (original) => {
  const actual = await original<typeof import("../../../service/lance/local-files.ts")>();
  const readStampAtOnce = (path: string) => (path.endsWith("/_versions") ? "unchanged" : actual.readStampAtOnce(path));
  return { ...actual, readStampAtOnce };
});

let directory: string;
let connection: Connection;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "lakehead-handles-test-"));
  connection = await connect(directory);
});
afterAll(async () => {
  connection.close();
  await rm(directory, { recursive: true });
});

const targetOf = (name: string, namespace: string[] = []): WriteTarget => ({
  table: { name, namespace, parts: [...namespace, name], key: [...namespace, name].join("$") },
});

/** A new table of version 2, and its handle as one that a worker opened. */
const open = async (name: string, countsDown = true) => {
  const table = await connection.createTable(name, [{ id: 1 }], {
    storageOptions: { new_table_enable_v2_manifest_paths: String(countsDown) },
  });
  await table.add([{ id: 2 }]);
  const handles = new KeptHandles();
  const target = targetOf(name);
  return { table, target, handles, directory: await handles.directoryOf(table, target) };
};

const addElsewhere = async (name: string): Promise<void> => {
  const table: Table = await connection.openTable(name);
  await table.add([{ id: 3 }]);
  table.close();
};

test("a kept handle is given once", async () => {
  const { table, target, handles, directory } = await open("once");
  handles.keep(target, { table, version: 2, directory });
  expect(handles.take(target)?.table).toBe(table);
  expect(handles.take(target)).toBeUndefined();
  expect(table.isOpen()).toBe(true);
});

test.each([
  ["as they are", true],
  ["as they were", false],
])("a handle is closed if there is a newer version, with names of manifests %s", async (_, countsDown) => {
  const name = `newer-${countsDown}`;
  const { table, target, handles, directory } = await open(name, countsDown);
  handles.keep(target, { table, version: 2, directory });
  await addElsewhere(name);
  expect(handles.take(target)).toBeUndefined();
  expect(table.isOpen()).toBe(false);
});

test("a handle is closed if its table was replaced before it was kept", async () => {
  const { table, target, handles, directory: versions } = await open("replaced");
  const path = join(directory, "replaced.lance");
  await rename(path, join(directory, "aside"));
  await cp(join(directory, "aside"), path, { recursive: true });
  handles.keep(target, { table, version: 2, directory: versions });
  expect(table.isOpen()).toBe(false);
  expect(handles.take(target)).toBeUndefined();
});

test("a handle is closed if its directory cannot be read any more", async () => {
  const { table, target, handles, directory: versions } = await open("loop");
  handles.keep(target, { table, version: 2, directory: versions });
  const path = join(directory, "loop.lance", "_versions");
  await rm(path, { recursive: true });
  await symlink(path, path);
  expect(handles.take(target)).toBeUndefined();
  expect(table.isOpen()).toBe(false);
});

test("a handle is closed if its table was dropped before it was kept", async () => {
  const { table, target, handles, directory: versions } = await open("dropped");
  await connection.dropTable("dropped");
  handles.keep(target, { table, version: 2, directory: versions });
  expect(table.isOpen()).toBe(false);
});

test("handles of tables in namespaces and of branches are closed", async () => {
  const { table, target, handles } = await open("main");
  expect(await handles.directoryOf(table, targetOf("main", ["team"]))).toBeUndefined();
  const onBranch = { ...target, branch: "side" };
  const branch = await (await table.branches()).create("side");
  handles.keep(onBranch, { table: branch, version: 2, directory: await handles.directoryOf(branch, onBranch) });
  expect(branch.isOpen()).toBe(false);
  expect([handles.take(target), handles.take(onBranch)]).toEqual([undefined, undefined]);
});

test("of many tables, the handles of the first are closed", async () => {
  const kept = new KeptHandles();
  const tables: Table[] = [];
  for (let index = 0; index < 17; index++) {
    const { table, target, directory } = await open(`table${index}`);
    kept.keep(target, { table, version: 2, directory });
    tables.push(table);
  }
  expect(tables.map((table) => table.isOpen())).toEqual([false, ...Array(16).fill(true)]);
});
