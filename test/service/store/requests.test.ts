import { connect, Session } from "@lancedb/lancedb";
import { beforeAll, describe, expect, test } from "vitest";
import { rootNamespace } from "../../../service/guard/table-id.ts";
import { LazyConnection } from "../../../service/lance/connection/connection.ts";
import { openInProcess } from "../../../service/lance/in-process-database.ts";
import type { StoreRequest } from "../../support/object-store.ts";
import { isolated } from "../../support/service.ts";
import { vectorOf } from "../../support/tables.ts";
import { byKind, useStoredService } from "./support.ts";

/** Requests to the store of an operation with warm caches and a staleness bound of a minute. */
const stored = useStoredService({
  consistencySeconds: 60,
  // One worker process, because each has a separate cache.
  environment: { ...isolated, LAKEHEAD_ANALYZE_CONCURRENCY: "1" },
});

beforeAll(async () => {
  await stored.service.call("explain_plan", "docs", { query: { k: 3 } });
});

const ask = async (operation: string, table: string, body: unknown = {}) => {
  const answer = await stored.service.call(operation, table, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};

describe("requests to the store", () => {
  const vectorQuery = { k: 3, vector: vectorOf(1), vector_column: "vector", filter: "id > 5" };
  const textQuery = { k: 3, full_text_query: { string_query: { query: "puppy", columns: ["text"] } } };

  test.each([
    ["a scan", { k: 3, filter: "id > 5" }],
    ["a vector search", vectorQuery],
    ["a full-text search", textQuery],
  ])("planning %s sends none", async (_, query) => {
    await ask("explain_plan", "docs", { query });
    expect(await stored.during(() => ask("explain_plan", "docs", { query, verbose: true }))).toEqual([]);
  });

  test("planning a version for the second time sends none", async () => {
    const query = { k: 3, version: 1 };
    await ask("explain_plan", "docs", { query });
    expect(await stored.during(() => ask("explain_plan", "docs", { query }))).toEqual([]);
  });

  test("planning in a nested namespace sends none", async () => {
    const query = { k: 3 };
    await ask("explain_plan", "prod$vectors$docs", { query });
    expect(await stored.during(() => ask("explain_plan", "prod$vectors$docs", { query }))).toEqual([]);
  });

  test("statistics are read once for a version, the metadata of full-text indices included", async () => {
    expect(await stored.during(() => ask("stats", "docs"))).not.toEqual([]);
    expect(await stored.during(() => ask("stats", "docs"))).toEqual([]);
  });

  test("a tag costs three requests to create and to look up, two to delete", async () => {
    const table = "plain";
    // An existing tag: the lookup of a missing one returns while the branches are still being listed.
    await ask("tags/create", table, { tag: "warm", version: 1 });
    await ask("tags/version", table, { tag: "warm" });
    const created = await stored.during(() => ask("tags/create", table, { tag: "costs", version: 1 }));
    const found = await stored.during(() => ask("tags/version", table, { tag: "costs" }));
    const deleted = await stored.during(() => ask("tags/delete", table, { tag: "costs" }));
    await ask("tags/delete", table, { tag: "warm" });
    expect(created.length, JSON.stringify(created)).toBeLessThanOrEqual(3);
    expect(found.length, JSON.stringify(found)).toBeLessThanOrEqual(3);
    expect(deleted.length, JSON.stringify(deleted)).toBeLessThanOrEqual(2);
    expect(byKind(created)).toHaveProperty("PUT");
  });

  test("a tag of a table with branches costs two more to look up, because only its manifest names its branch", async () => {
    await ask("tags/create", "docs", { tag: "costs", version: 1 });
    await ask("tags/version", "docs", { tag: "costs" });
    const found = await stored.during(() => ask("tags/version", "docs", { tag: "costs" }));
    expect(found.length, JSON.stringify(found)).toBeLessThanOrEqual(5);
    await ask("tags/delete", "docs", { tag: "costs" });
  });

  test("a list of tags costs two for each", async () => {
    const tags = Array.from({ length: 10 }, (_, index) => `listed-${index}`);
    for (const tag of tags) await ask("tags/create", "plain", { tag, version: 1 });
    const listed = await stored.during(() => ask("tags/list", "plain"));
    expect(listed.length, JSON.stringify(byKind(listed))).toBeLessThanOrEqual(2 * tags.length + 2);
    for (const tag of tags) await ask("tags/delete", "plain", { tag });
  });
});

test("a connection caches no more than it may", async () => {
  const { store } = stored;
  /** Requests of a search that was made before. */
  const repeated = async (bytes: number): Promise<number> => {
    const sizes = { indexBytes: bytes, metadataBytes: bytes };
    const connection = new LazyConnection({ uri: store.uri, storageOptions: store.storageOptions }, sizes, undefined);
    const table = await connection.openTable("docs", []);
    const search = () => table.vectorSearch(vectorOf(1)).column("vector").limit(3).toArray();
    await search();
    const requests = await stored.during(search);
    await connection.close();
    return requests.length;
  };
  expect(await repeated(1)).toBeGreaterThan(await repeated(2 ** 26));
});

describe("lists of the root namespace", () => {
  const open = () =>
    openInProcess({
      uri: stored.store.uri,
      storageOptions: stored.store.storageOptions,
      consistencySeconds: 60,
      pinnedSeconds: 60,
      maxHandles: 10,
      maxHandleBytes: 2 ** 20,
      caches: { indexBytes: 2 ** 20, metadataBytes: 2 ** 20 },
      maxWriteBytes: 2 ** 20,
      schemas: { maxSchemaBytes: 2 ** 20, maxValueBytes: 2 ** 20 },
      maxResultBytes: 2 ** 20,
      blobPrefixes: [],
      showLocations: true,
    });

  test.each(["tables", "namespaces"] as const)("of %s send what the SDK's list sends", async (list) => {
    const connection = await connect(stored.store.uri, { storageOptions: { ...stored.store.storageOptions } });
    const database = open();
    await database.connect();
    const direct = await stored.during(() =>
      list === "tables" ? connection.listTables([]) : connection.listNamespaces([]),
    );
    const served = await stored.during(() => database[list](rootNamespace));
    expect(byKind(served)).toEqual(byKind(direct));
    connection.close();
    await database.close();
  });

  test.each(["tables", "namespaces"] as const)("of %s are shared by concurrent callers", async (list) => {
    const database = open();
    await database.connect();
    const one = await stored.during(() => database[list](rootNamespace));
    const names = Array.from({ length: 16 }, () => () => database[list](rootNamespace));
    const many = await stored.during(() => Promise.all(names.map((call) => call())));
    expect(one.length).toBeGreaterThan(0);
    // The first call, and one for all that came while it ran.
    expect(many.length).toBeLessThanOrEqual(2 * one.length);
    await database.close();
  });
});

describe("analyze_plan compared with the SDK", () => {
  const keysOf = (requests: readonly StoreRequest[]): string[] =>
    requests.map(({ kind, key }) => `${kind} ${key}`).sort();

  test.each([
    ["a scan", { k: 3, filter: "id > 5" }],
    ["a vector search", { k: 3, vector: vectorOf(1), vector_column: "vector" }],
    ["a full-text search", { k: 3, full_text_query: { string_query: { query: "puppy", columns: ["text"] } } }],
  ] as const)("%s sends the same requests", async (_, query) => {
    const { store } = stored;
    const session = new Session(2n ** 28n, 2n ** 26n);
    const connection = await connect(store.uri, {
      storageOptions: { ...store.storageOptions },
      readConsistencyInterval: 60,
      session,
    });
    const table = await connection.openTable("docs");
    const direct = async () => {
      const base = table.query();
      const built = "vector" in query ? base.nearestTo(query.vector).column(query.vector_column) : base;
      if ("full_text_query" in query) {
        const { query: terms, columns } = query.full_text_query.string_query;
        base.fullTextSearch(terms, { columns: [...columns] });
      }
      if ("filter" in query) base.where(query.filter);
      return built.limit(query.k).analyzePlan();
    };
    const served = () => ask("analyze_plan", "docs", query);
    await direct();
    await served();
    const directRequests = keysOf(await stored.during(direct));
    const servedRequests = keysOf(await stored.during(served));
    connection.close();
    expect(directRequests.length).toBeGreaterThan(0);
    expect(servedRequests).toEqual(directRequests);
  });
});
