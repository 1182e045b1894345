import { cp, mkdir, readdir, readFile, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { makeDirectory } from "../../support/directory.ts";
import { useService } from "../../support/service.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../../support/service-process.ts";

const tagsOf = (database: string, table = "docs.lance"): string => join(database, table, "_refs", "tags");

describe("a tag whose file is invalid", () => {
  const service = useService();

  const damage: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
    empty: (file) => writeFile(file, ""),
    truncated: (file) => writeFile(file, "{"),
    null: (file) => writeFile(file, "null"),
    "without a version": (file) => writeFile(file, '{"branch": null, "manifestSize": 1}'),
    "with a negative version": (file) => writeFile(file, '{"branch": null, "version": -1, "manifestSize": 1}'),
    "with a number for its branch": (file) => writeFile(file, '{"branch": 7, "version": 1, "manifestSize": 1}'),
    "a directory": (file) => unlink(file).then(() => mkdir(file)),
  };

  beforeEach(async () => {
    await service.call("tags/create", "docs", { tag: "sound", version: 1 });
    await service.call("tags/create", "docs", { tag: "damaged", version: 1 });
  });
  afterEach(() => rm(join(tagsOf(service.directory), "damaged.json"), { recursive: true, force: true }));

  test.each(Object.entries(damage))("%s is left out of the list, and logged", async (_, apply) => {
    await apply(join(tagsOf(service.directory), "damaged.json"));
    const lines = service.log.length;
    const { status, body } = await service.call("tags/list", "docs");
    expect(status).toBe(200);
    expect(Object.keys(body.tags)).toEqual(["sound"]);
    expect(service.log.slice(lines)).toContainEqual(expect.objectContaining({ level: "warn", tags: ["damaged"] }));
  });

  test.each(Object.entries(damage))("%s is 409 with the remedy where it is asked for", async (_, apply) => {
    await apply(join(tagsOf(service.directory), "damaged.json"));
    for (const operation of ["tags/version", "describe"])
      expect(await service.call(operation, "docs", { tag: "damaged" })).toMatchObject({
        status: 409,
        body: { code: 19, error: expect.stringContaining("tags/delete") },
      });
  });

  test("is repaired by moving it, and can be deleted", async () => {
    const file = join(tagsOf(service.directory), "damaged.json");
    await writeFile(file, "{");
    expect(await service.call("tags/update", "docs", { tag: "damaged", version: 2 })).toMatchObject({ status: 200 });
    expect((await service.call("tags/version", "docs", { tag: "damaged" })).body).toEqual({ version: 2 });
    await writeFile(file, "");
    expect(await service.call("tags/delete", "docs", { tag: "damaged" })).toMatchObject({ status: 200 });
    expect((await service.call("tags/version", "docs", { tag: "damaged" })).body.code).toBe(8);
  });

  test("that is deleted between two requests is absent", async () => {
    await unlink(join(tagsOf(service.directory), "damaged.json"));
    expect((await service.call("tags/version", "docs", { tag: "damaged" })).body.code).toBe(8);
    expect(Object.keys((await service.call("tags/list", "docs")).body.tags)).toEqual(["sound"]);
  });
});

describe("the file of a moved tag", () => {
  const service = useService();

  test("is what the SDK reads and writes", async () => {
    const connection = await connect(service.directory);
    const tags = await (await connection.openTable("docs")).tags();
    await tags.create("by-sdk", 1);
    await tags.create("by-service", 1);
    const read = async (tag: string) =>
      JSON.parse(await readFile(join(tagsOf(service.directory), `${tag}.json`), "utf8"));
    const before = await read("by-service");
    await tags.update("by-sdk", 2);
    expect(await service.call("tags/update", "docs", { tag: "by-service", version: 2 })).toMatchObject({ status: 200 });
    expect(await tags.getVersion("by-service")).toBe(2);
    const { updatedAt, ...moved } = await read("by-service");
    const { updatedAt: _, createdAt: __, ...expected } = await read("by-sdk");
    expect(moved).toEqual({ ...expected, createdAt: before.createdAt });
    expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.createdAt));
    expect((await readdir(tagsOf(service.directory))).sort()).toEqual(["by-sdk.json", "by-service.json"]);
    connection.close();
  });

  test("is found for a name that is not ASCII", async () => {
    const connection = await connect(service.directory);
    await (await (await connection.openTable("plain")).tags()).create("größe", 1);
    expect(await service.call("tags/update", "plain", { tag: "größe", version: 3 })).toMatchObject({ status: 200 });
    expect((await service.call("tags/version", "plain", { tag: "größe" })).body).toEqual({ version: 3 });
    expect(Object.keys((await service.call("tags/list", "plain")).body.tags)).toEqual(["größe"]);
    connection.close();
  });
});

describe("on a full disk", () => {
  let home: string;
  let service: ServiceProcess;
  beforeAll(async () => {
    home = await makeDirectory();
    await cp(inject("tables"), home, { recursive: true });
    const connection = await connect(home);
    await (await (await connection.openTable("docs")).tags()).create("kept", 1);
    connection.close();
    service = await startReadyServiceProcess({ environment: { LAKEHEAD_DATABASE: home }, fullDisk: true });
  });
  afterAll(() => service.stop());

  const refused = { status: 503, body: { code: 17, error: expect.stringContaining("no space left") } };

  test("a tag that cannot be moved is unchanged", async () => {
    const file = join(tagsOf(home), "kept.json");
    const before = await readFile(file, "utf8");
    expect(await service.call("tags/update", "docs", { tag: "kept", version: 2 })).toMatchObject(refused);
    expect(await readFile(file, "utf8")).toBe(before);
    expect((await service.call("tags/version", "docs", { tag: "kept" })).body).toEqual({ version: 1 });
  });

  test("a tag that cannot be created is absent", async () => {
    expect(await service.call("tags/create", "docs", { tag: "new", version: 2 })).toMatchObject(refused);
    expect((await service.call("tags/version", "docs", { tag: "new" })).body.code).toBe(8);
    expect(await readdir(tagsOf(home))).toEqual(["kept.json"]);
  });

  test("the service stays ready", async () => {
    expect(await service.readiness()).toBe(200);
  });
});
