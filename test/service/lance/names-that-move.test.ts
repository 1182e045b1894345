import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, connect, type Table } from "@lancedb/lancedb";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../support/service.ts";

const nested = "prod$vectors$docs";
const isNested = `object_id = '${nested}'`;

let service: TestService;
let home: string;
let connection: Connection;
/** What leads from names in namespaces to tables, which other clients rename and deregister them in. */
let names: Table;

beforeEach(async () => {
  service = await startTestService({
    environment: { LAKEHEAD_CONSISTENCY_SECONDS: "0.3", LAKEHEAD_PINNED_SECONDS: "1" },
  });
  home = await mkdtemp(join(tmpdir(), "lakehead-names-"));
  await symlink(join(service.directory, "__manifest"), join(home, "names.lance"));
  connection = await connect(home);
  names = await connection.openTable("names");
});
afterEach(async () => {
  connection.close();
  await service.stop();
  await rm(home, { recursive: true, force: true });
});

const patience = { timeout: 10_000, interval: 50 };
const rows = async (): Promise<number | undefined> => (await service.call("stats", nested)).body.num_rows;
const codes = (): Promise<number[]> =>
  Promise.all(
    [{ k: 1 }, { k: 1, version: 1 }].map(
      async (query) => (await service.call("explain_plan", nested, { query })).body.code,
    ),
  );

test("a name in a namespace that comes to lead to another table is followed there", async () => {
  expect(await rows()).toBe(20);
  await names.update({ where: isNested, values: { location: "plain.lance" } });
  await expect.poll(rows, patience).toBe(100);
});

test("a table that is deregistered, its data left, is no longer served: at its latest and at a version", async () => {
  expect(await codes()).toEqual([undefined, undefined]);
  await names.delete(isNested);
  await expect.poll(codes, patience).toEqual([4, 4]);
});
