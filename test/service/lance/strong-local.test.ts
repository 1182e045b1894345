import { cp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { connect, type Table } from "@lancedb/lancedb";
import { describe, expect, type TestContext, test } from "vitest";
import { isolated, startTestService } from "../../support/service.ts";

/** A service with a copy of the tables, for one test. */
const start = async ({ onTestFinished }: TestContext) => {
  const service = await startTestService({
    environment: { ...isolated, LAKEHEAD_CONSISTENCY_SECONDS: "0", LAKEHEAD_QUEUE_SECONDS: "100" },
  });
  onTestFinished(service.stop);
  const rows = async () => (await service.call("stats", "plain")).body.num_rows;
  const versions = async () => (await service.call("version/list", "plain")).body.versions.length;
  const described = async () => {
    const { body } = await service.call("describe", "plain", { load_detailed_metadata: true });
    return { version: body.version, columns: body.schema.fields.length, fragments: body.stats.num_fragments };
  };
  const tables = async (): Promise<readonly string[]> =>
    (await service.ask("/v1/namespace/$/table/list", undefined, { method: "GET" })).body.tables;
  const status = async (operation: string) => (await service.call(operation, "plain")).status;
  const elsewhere = async (change: (table: Table) => Promise<unknown>) => {
    const connection = await connect(service.directory);
    await change(await connection.openTable("plain"));
    connection.close();
  };
  return { directory: service.directory, rows, versions, described, tables, status, elsewhere };
};

describe("with strong consistency, a table in a local directory", { timeout: 150_000 }, () => {
  test("is read again after each change by another connection", async (context) => {
    const { rows, versions, described, elsewhere } = await start(context);
    const before = { rows: await rows(), versions: await versions(), ...(await described()) };
    await elsewhere((table) => table.delete("id = 0"));
    expect(await rows()).toBe(before.rows - 1);
    expect(await versions()).toBe(before.versions + 1);
    expect((await described()).version).toBe(before.version + 1);
    await elsewhere((table) => table.addColumns([{ name: "twice", valueSql: "id * 2" }]));
    expect(await described()).toMatchObject({ version: before.version + 2, columns: before.columns + 1 });
  });

  test("is read again after each of many changes in a row", async (context) => {
    const { versions, described, elsewhere } = await start(context);
    const before = await versions();
    await elsewhere(async (table) => {
      for (let change = 1; change <= 10; change++) {
        await table.delete("id < 0");
        expect([await versions(), (await described()).version]).toEqual([before + change, await table.version()]);
      }
    });
  });

  test("is listed at the root from its creation until it is dropped", async (context) => {
    const { directory, tables } = await start(context);
    const before = await tables();
    const connection = await connect(directory);
    for (const name of ["one", "two", "three"]) {
      await connection.createTable(name, [{ id: 1 }]);
      expect(await tables()).toEqual([...before, name].sort());
      await connection.dropTable(name);
      expect(await tables()).toEqual(before);
    }
    connection.close();
  });

  test("is not found after it was dropped, and found again", async (context) => {
    const { directory, rows, status } = await start(context);
    const table = join(directory, "plain.lance");
    const aside = join(directory, "aside");
    const before = await rows();
    await rename(table, aside);
    expect([await status("exists"), await status("version/list"), await status("stats")]).toEqual([404, 404, 404]);
    await cp(join(directory, "docs.lance"), table, { recursive: true });
    expect(await rows()).not.toBe(before);
    await rm(table, { recursive: true });
    await rename(aside, table);
    expect(await rows()).toBe(before);
  });
});
