import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { type Connection, connect, type Table } from "@lancedb/lancedb";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirectory } from "../../support/directory.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const nested = "prod$vectors$docs";
const isNested = `object_id = '${nested}'`;

let service: TestService;
let home: string;
let connection: Connection;
/** The manifest that maps names in namespaces to tables; other clients rename and deregister tables in it. */
let names: Table;

beforeEach(async () => {
  service = await startTestService({
    environment: { LAKEHEAD_CONSISTENCY_SECONDS: "0.3", LAKEHEAD_PINNED_SECONDS: "1" },
  });
  home = await makeDirectory();
  await symlink(join(service.directory, "__manifest"), join(home, "names.lance"));
  connection = await connect(home);
  names = await connection.openTable("names");
});
afterEach(async () => {
  connection.close();
  await service.stop();
});

const poll = { timeout: 10_000, interval: 50 };
const rows = async (): Promise<number | undefined> => (await service.call("stats", nested)).body.num_rows;
const codes = (): Promise<number[]> =>
  Promise.all(
    [{ k: 1 }, { k: 1, version: 1 }].map(
      async (query) => (await service.call("explain_plan", nested, { query })).body.code,
    ),
  );

test("a name in a namespace that is mapped to another table is resolved again", async () => {
  expect(await rows()).toBe(20);
  await names.update({ where: isNested, values: { location: "plain.lance" } });
  await expect.poll(rows, poll).toBe(100);
});

test("a deregistered table whose data remains is not found, at its latest and at another version", async () => {
  expect(await codes()).toEqual([undefined, undefined]);
  await names.delete(isNested);
  await expect.poll(codes, poll).toEqual([4, 4]);
});
