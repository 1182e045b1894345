import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Connection, connect, type Table } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useService } from "../../support/service.ts";

const service = useService();
const silent = useService({ environment: { LAKEHEAD_TABLE_LOCATIONS: "off" } });
let connection: Connection;
let docs: Table;
let branch: Table;

beforeAll(async () => {
  connection = await connect(service.directory);
  docs = await connection.openTable("docs");
  branch = await (await docs.branches()).checkout("experiment");
});
afterAll(() => connection.close());

const ask = async (operation: string, table = "docs", body: object = {}, query = "") => {
  const answer = await service.call(operation, table, body, { query });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};

describe("describe", () => {
  test("returns the schema with Arrow's type names, and the location", async () => {
    const described = await ask("describe", "prod$vectors$docs");
    expect(described).toMatchObject({
      table: "docs",
      namespace: ["prod", "vectors"],
      version: 2,
      schema: {
        fields: [
          { name: "id", nullable: true, type: { type: "int64" } },
          { name: "text", type: { type: "utf8" } },
          {
            name: "vector",
            type: { type: "fixed_size_list", length: 4, fields: [{ name: "item", type: { type: "float32" } }] },
          },
        ],
      },
    });
    // A client with the location can open the table itself.
    expect(await readdir(described.location)).toContain("_versions");
    expect(described).not.toHaveProperty("table_uri");
    expect(described).not.toHaveProperty("stats");
  });

  test("with Lance's type names for LanceDB's client", async () => {
    const { body, headers } = await service.call("describe", "docs", undefined, { trailingSlash: true, rawBody: "" });
    const types = body.schema.fields.map(({ type }: { type: { type: string } }) => type.type);
    expect(types).toEqual(["int64", "string", "string", "string", "double", "fixed_size_list", "fixed_size_list"]);
    expect(headers.get("phalanx-version")).toBe("0.5.0");
  });

  test.each([
    ["parameters", {}, "?with_table_uri=true&load_detailed_metadata=true&check_declared=true"],
    ["the body", { with_table_uri: true, load_detailed_metadata: true, check_declared: true }, ""],
  ])("with detailed metadata, requested by %s", async (_, body, query) => {
    expect(await ask("describe", "docs", body, query)).toMatchObject({
      table_uri: pathToFileURL(join(service.directory, "docs.lance")).href,
      stats: { num_deleted_rows: 0, num_fragments: 2 },
      metadata: { total_rows: "1020" },
      is_only_declared: false,
    });
  });

  test("counts the deleted rows of a branch", async () => {
    const { version, stats } = await ask("describe", "docs", { branch: "experiment", load_detailed_metadata: true });
    expect({ version, stats }).toEqual({
      version: await branch.version(),
      stats: { num_deleted_rows: 100, num_fragments: 1 },
    });
  });

  test("by a tag returns the tag's version and branch", async () => {
    await (await docs.tags()).create("third", 3);
    await (await branch.tags()).create("trial", await branch.version());
    expect((await ask("describe", "docs", { tag: "third" })).version).toBe(3);
    expect((await ask("describe", "docs", { tag: "trial" })).version).toBe(await branch.version());
    const both = await service.call("describe", "docs", { tag: "third", version: 3 });
    expect(both).toMatchObject({ status: 400, body: { code: 13, error: expect.stringContaining("tag") } });
  });

  test("omits the location with LAKEHEAD_TABLE_LOCATIONS=off", async () => {
    const { status, body } = await silent.call("describe", "docs", { with_table_uri: true });
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain(silent.directory);
    expect(body).not.toHaveProperty("location");
  });

  test("never returns storage credentials", async () => {
    const described = await ask("describe", "docs", { vend_credentials: true });
    expect(described).not.toHaveProperty("storage_options");
  });
});

describe("exists", () => {
  test.each([
    ["docs", {}, 200],
    ["docs", { version: 1 }, 200],
    ["docs", { version: 4711 }, 404],
    ["docs", { branch: "experiment" }, 200],
    ["docs", { branch: "experiment", version: 4711 }, 404],
    ["prod$vectors$docs", {}, 200],
    ["prod$docs", {}, 404],
  ])("%s %j: %i", async (table, body, status) => {
    expect(await service.call("exists", table, body)).toMatchObject({ status });
  });

  test("reports a dropped table within the staleness bound", async () => {
    await connection.createTable("brief", [{ id: 1 }]);
    expect((await service.call("exists", "brief")).status).toBe(200);
    await connection.dropTable("brief");
    await expect.poll(async () => (await service.call("exists", "brief")).status, { timeout: 20_000 }).toBe(404);
  });
});

describe("versions", () => {
  test("equal those of the database, with the path of each manifest", async () => {
    const { versions } = await ask("version/list");
    const own = await docs.listVersions();
    expect(versions.map(({ version }: { version: number }) => version)).toEqual(own.map(({ version }) => version));
    const manifests = await readdir(join(service.directory, "docs.lance/_versions"));
    for (const { manifest_path } of versions) {
      expect(manifest_path).toMatch(/^docs\.lance\/_versions\/\d{20}\.manifest$/);
      expect(manifests).toContain(manifest_path.split("/").at(-1));
    }
  });

  test.each(["?branch=experiment", ""])("of a branch (%s)", async (query) => {
    const body = query === "" ? { branch: "experiment" } : {};
    const { versions } = await ask("version/list", "docs", body, query);
    const manifests = await readdir(join(service.directory, "docs.lance/tree/experiment/_versions"));
    expect(versions).toHaveLength((await branch.listVersions()).length);
    for (const { manifest_path } of versions) {
      expect(manifest_path).toMatch(/^docs\.lance\/tree\/experiment\/_versions\//);
      expect(manifests).toContain(manifest_path.split("/").at(-1));
    }
  });

  test("of two different branches in one request are refused", async () => {
    const answer = await service.call("version/list", "docs", { branch: "" }, { query: "?branch=experiment" });
    expect(answer).toMatchObject({ status: 400, body: { code: 13, error: expect.stringContaining("branch") } });
  });

  test("by number, or the newest by default", async () => {
    const third = (await docs.listVersions())[2];
    expect((await ask("version/describe", "docs", { version: 3 })).version).toMatchObject({
      version: 3,
      timestamp_millis: third?.timestamp.getTime(),
      metadata: { total_rows: "1000" },
    });
    expect((await ask("version/describe", "docs")).version.version).toBe(await docs.version());
  });
});

describe("tags", () => {
  test("have their branch, in a list and alone", async () => {
    await (await docs.tags()).create("on-main", 2);
    const version = await branch.version();
    await (await branch.tags()).create("on-branch", version);
    const listed = await ask("tags/list");
    expect(listed.tags["on-main"]).toEqual({ version: 2, manifestSize: expect.any(Number) });
    expect(listed.tags["on-branch"]).toEqual({ version, branch: "experiment", manifestSize: expect.any(Number) });
    expect(await ask("tags/version", "docs", { tag: "on-branch" })).toEqual({ version, branch: "experiment" });
    expect(await ask("tags/version", "docs", { tag: "on-main" })).toEqual({ version: 2 });
    const bare = await service.call("tags/list", "docs", undefined, { trailingSlash: true, rawBody: "" });
    expect(bare.body).toEqual(listed.tags);
  });

  test("move, to a branch as well", async () => {
    await ask("tags/create", "docs", { tag: "moving", version: 1 });
    await ask("tags/update", "docs", { tag: "moving", version: 2 });
    expect(await ask("tags/version", "docs", { tag: "moving" })).toEqual({ version: 2 });
    const version = await branch.version();
    await ask("tags/update", "docs", { tag: "moving", version, branch: "experiment" });
    expect(await ask("tags/version", "docs", { tag: "moving" })).toEqual({ version, branch: "experiment" });
  });

  test("are unchanged when one cannot be moved", async () => {
    await ask("tags/create", "docs", { tag: "stays", version: 2 });
    expect(await service.call("tags/update", "docs", { tag: "stays", version: 999 })).toMatchObject({ status: 404 });
    expect(await service.call("tags/update", "docs", { tag: "../x", version: 1 })).toMatchObject({ status: 400 });
    expect(await ask("tags/version", "docs", { tag: "stays" })).toEqual({ version: 2 });
  });
});

describe("branches", () => {
  test("have their parent branch and creation time", async () => {
    const before = Math.floor(Date.now() / 1000);
    await (await branch.branches()).create("experiment-2", "experiment");
    const { branches } = await ask("branches/list");
    expect(Object.keys(branches)).toEqual(["experiment", "experiment-2"]);
    expect(branches.experiment).toMatchObject({ parentVersion: 7, manifestSize: expect.any(Number) });
    expect(branches.experiment).not.toHaveProperty("parentBranch");
    expect(branches["experiment-2"]).toMatchObject({
      parentBranch: "experiment",
      parentVersion: await branch.version(),
    });
    expect(branches["experiment-2"].createAt).toBeGreaterThanOrEqual(before);
  });

  test("of a table without tags are empty", async () => {
    expect(await ask("branches/list", "plain")).toEqual({ branches: {} });
  });
});

describe("indices", () => {
  test("equal those of the database", async () => {
    const { indexes } = await ask("index/list");
    const own = await docs.listIndices();
    expect(indexes.map((index: { index_name: string }) => index.index_name)).toEqual(own.map(({ name }) => name));
    const text = indexes.find((index: { index_name: string }) => index.index_name === "text_idx");
    expect(text).toMatchObject({ columns: ["text"], index_type: "FTS", num_indexed_rows: 1000, status: "SUCCEEDED" });
    expect(JSON.parse(text.index_details)).toMatchObject({ with_position: true, language: "English" });
    expect(new Date(text.created_at).toISOString()).toBe(text.created_at);
  });

  test("of an earlier version are those of that version", async () => {
    expect((await ask("index/list", "docs", { version: 1 })).indexes).toEqual([]);
    expect((await ask("index/list", "docs", { version: 2 })).indexes).toHaveLength(1);
  });

  test.each(["POST", "GET"])("have statistics, by %s", async (method) => {
    const { status, body } = await service.call("index/vector_idx/stats", "docs", {}, { method });
    expect(status).toBe(200);
    expect(body).toEqual({
      num_indexed_rows: 1000,
      num_unindexed_rows: 20,
      index_type: "IVF_PQ",
      distance_type: "l2",
      num_indices: 1,
    });
  });

  test("have the same name in path and body", async () => {
    const differ = await service.call("index/id_idx/stats", "docs", { index_name: "text_idx" });
    expect(differ).toMatchObject({ status: 400, body: { code: 13, error: expect.stringContaining("index_name") } });
  });
});
