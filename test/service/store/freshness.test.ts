import { tableFromIPC } from "apache-arrow";
import { afterEach, describe, expect, test } from "vitest";
import { writeTables } from "../../../tools/lance-tables.ts";
import { isolated } from "../../support/service.ts";
import { atConcurrency, byKind, connectElsewhere, ofTable, type StoredService, startStoredService } from "./support.ts";

let stored: StoredService | undefined;

const start = async (consistencySeconds: number, environment: Readonly<Record<string, string>> = {}) => {
  stored = await startStoredService({ consistencySeconds, environment });
  const { service, store } = stored;
  const ask = async (operation: string, table: string, body: unknown = {}) => {
    const answer = await service.call(operation, table, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  return {
    ...stored,
    ask,
    rows: async (): Promise<number> => (await ask("stats", "plain")).num_rows,
    explain: (query: object): Promise<string> => ask("explain_plan", "plain", { query: { k: 3, ...query } }),
    elsewhere: () => connectElsewhere(store),
  };
};

type Started = Awaited<ReturnType<typeof start>>;

/** Version 11 of `plain`: ten more rows, in an eleventh fragment. */
const addElsewhere = async ({ elsewhere }: Started): Promise<void> => {
  const connection = await elsewhere();
  const table = await connection.openTable("plain");
  await table.add(Array.from({ length: 10 }, (_, row) => ({ id: BigInt(row), text: "new", vector: [row, 0, 0, 1] })));
  connection.close();
};

/** Drops `plain` and creates it again with one version, three rows and another column. */
const recreateElsewhere = async ({ elsewhere, store }: Started): Promise<void> => {
  const connection = await elsewhere();
  await connection.dropTable("plain");
  connection.close();
  const rows = [1, 2, 3].map((row) => ({ id: BigInt(row), another: "x" }));
  const columns = { id: "integer", another: "text" } as const;
  const definition = { namespace: [], name: "plain", columns, batches: [rows], indices: [] };
  await writeTables(store.uri, [definition], store.storageOptions);
};

afterEach(() => stored?.stop());

const poll = { timeout: 10_000, interval: 50 };

describe("with a staleness bound", () => {
  test("a version of another process is read within the bound", async () => {
    const started = await start(0.3);
    expect(await started.rows()).toBe(100);
    await addElsewhere(started);
    await expect.poll(() => started.rows(), poll).toBe(110);
    expect(await started.explain({})).toContain("num_fragments=11");
  });

  describe("and a client that has observed a newer state", () => {
    const asked = async (started: Started, headers: Record<string, string>) => {
      const { service } = started;
      const calls = [
        service.call("stats", "plain", {}, { headers }).then(({ body }) => body.num_rows),
        service.call("count_rows", "plain", { predicate: "true" }, { headers }).then(({ body }) => body),
        service.call("describe", "plain", {}, { headers }).then(({ body }) => body.version * 10),
        service
          .call("query", "plain", {}, { headers, rawBody: '{"k":9223372036854775807,"columns":["id"]}' })
          .then(({ body }) => tableFromIPC(body).numRows),
      ];
      return Promise.all(calls);
    };

    test.each([
      ["version", () => ({ "x-lancedb-min-read-version": "11" })],
      ["moment", () => ({ "x-lancedb-min-timestamp": new Date().toISOString() })],
    ])("reads at least that %s, which LanceDB's client sends with every call", async (_, headers) => {
      const started = await start(60, { ...isolated, LAKEHEAD_ANALYZE_CONCURRENCY: "1" });
      expect(await asked(started, {})).toEqual([100, 100, 100, 100]);
      await addElsewhere(started);
      expect(await asked(started, {})).toEqual([100, 100, 100, 100]);
      expect(await asked(started, headers())).toEqual([110, 110, 110, 110]);
      expect(await asked(started, {})).toEqual([110, 110, 110, 110]);
    });

    test("costs one request to the store, and none if the state is known", async () => {
      const { service, during } = await start(60);
      const at = (headers: Record<string, string>) => () =>
        service.call("explain_plan", "plain", { query: { k: 1 } }, { headers });
      await at({})();
      expect(byKind(await during(at({ "x-lancedb-min-read-version": "10" })))).toEqual({});
      expect(byKind(await during(at({ "x-lancedb-min-timestamp": new Date(0).toISOString() })))).toEqual({});
      expect(byKind(await during(at({ "x-lancedb-min-read-version": "11" })))).toEqual({ LIST: 1 });
      expect(
        byKind(await during(at({ "x-lancedb-min-read-version": "newest", "x-lancedb-min-timestamp": "now" }))),
      ).toEqual({});
    });

    test.each([
      ["a missing version", { "x-lancedb-min-read-version": String(Number.MAX_SAFE_INTEGER) }],
      ["a future time", { "x-lancedb-min-timestamp": "2999-01-01T00:00:00Z" }],
    ])("%s does not evict the handles of others", async (_, headers) => {
      const { service, during, rows } = await start(60);
      await rows();
      const calls = 20;
      const requests = await during(async () => {
        for (let call = 0; call < calls; call++)
          expect(await service.call("stats", "plain", {}, { headers })).toMatchObject({ status: 200 });
      });
      // One request per second for all callers; a slow machine may need a few.
      expect(requests.length).toBeLessThan(calls / 2);
      await rows();
      expect(await during(rows)).toEqual([]);
    });

    test("reads a table that was created again", async () => {
      const started = await start(60);
      expect(await started.rows()).toBe(100);
      await recreateElsewhere(started);
      const headers = { "x-lancedb-min-timestamp": new Date().toISOString() };
      const { body } = await started.service.call("stats", "plain", {}, { headers });
      expect(body.num_rows).toBe(3);
    });
  });

  test("a version of another process is not looked for before the bound", async () => {
    const started = await start(60);
    expect(await started.rows()).toBe(100);
    await addElsewhere(started);
    expect(await started.rows()).toBe(100);
    expect(await started.explain({})).toContain("num_fragments=10");
  });

  test("a tag of another process and its version are found at once", async () => {
    const started = await start(60);
    await started.rows();
    await addElsewhere(started);
    const connection = await started.elsewhere();
    await (await (await connection.openTable("plain")).tags()).create("fresh", 11);
    connection.close();
    expect(await started.ask("tags/version", "plain", { tag: "fresh" })).toEqual({ version: 11 });
    expect(await started.explain({ version: 11 })).toContain("num_fragments=11");
    expect(await started.ask("tags/create", "plain", { tag: "beside", version: 11 })).toEqual({});
  });

  test("a column of another process is described within the bound", async () => {
    const started = await start(0.3);
    const names = async (): Promise<string[]> =>
      (await started.ask("describe", "plain")).schema.fields.map(({ name }: { name: string }) => name);
    const before = await names();
    const connection = await started.elsewhere();
    await (await connection.openTable("plain")).addColumns([{ name: "twice", valueSql: "id * 2" }]);
    connection.close();
    await expect.poll(names, poll).toEqual([...before, "twice"]);
  });

  test("a dropped table is not found within the bound", async () => {
    const started = await start(0.3);
    await started.explain({});
    const connection = await started.elsewhere();
    await connection.dropTable("plain");
    connection.close();
    const code = async () => (await started.service.call("explain_plan", "plain", { query: { k: 3 } })).body.code;
    await expect.poll(code, poll).toBe(4);
  });

  test("a table that was created again with a lower version is read, at its latest and at another version", async () => {
    const started = await start(0.3, { LAKEHEAD_PINNED_SECONDS: "1" });
    expect(await started.explain({ version: 1 })).toContain("vector");
    expect(await started.rows()).toBe(100);
    await recreateElsewhere(started);
    await expect.poll(() => started.rows(), poll).toBe(3);
    await expect.poll(() => started.explain({ version: 1 }), poll).toContain("another");
  });

  test("a request for a missing version does not evict handles", async () => {
    const { service, during, explain } = await start(60);
    await explain({});
    await explain({ version: 2 });
    const answer = await service.call("explain_plan", "plain", { query: { k: 3, version: 999 } });
    expect(answer.body.code).toBe(11);
    expect(await during(() => Promise.all([explain({}), explain({ version: 2 })]))).toEqual([]);
  });

  test("an expression that imitates an error of the store does not evict handles", async () => {
    const { service, during, explain } = await start(60);
    await explain({});
    await explain({ version: 2 });
    const filter = "cast('No such file or directory (os error 2)' as int) = 1";
    for (const version of [{}, { version: 2 }]) {
      const answer = await service.call("explain_plan", "plain", { query: { k: 3, filter, ...version } });
      expect(answer).toMatchObject({ status: 400, body: { code: 13 } });
    }
    expect(await during(() => Promise.all([explain({}), explain({ version: 2 })]))).toEqual([]);
    const metrics = await (await fetch(`${service.operationsBase}/metrics`)).text();
    expect(metrics).toMatch(/lakehead_table_handle_evictions_total\{reason="gone"\} 0$/m);
  });

  test("64 concurrent first requests open the table once", async () => {
    const { service, store, during, ask } = await start(60, { LAKEHEAD_PLAN_CONCURRENCY: "64" });
    store.set({ latencyMs: 20 });
    // Connecting reads the root namespace's manifest, so another table is opened first.
    await ask("stats", "docs");
    const requests = await during(() =>
      Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          index % 2 === 0
            ? service.call("stats", "plain")
            : service.call("explain_plan", "plain", { query: { k: index } }),
        ),
      ),
    );
    expect(requests).toEqual(ofTable(requests, "plain"));
    expect(byKind(requests)).toEqual({ LIST: 1, GET: 1 });
  });
});

describe("with strong consistency", () => {
  test("the next response reads a version of another process", async () => {
    const started = await start(0);
    expect(await started.rows()).toBe(100);
    await addElsewhere(started);
    expect(await started.rows()).toBe(110);
    expect(await started.explain({})).toContain("num_fragments=11");
  });

  test("the next response reads a table that was created again", async () => {
    const started = await start(0);
    expect(await started.rows()).toBe(100);
    await recreateElsewhere(started);
    expect(await started.rows()).toBe(3);
    expect(await started.explain({})).toContain("another");
  });

  test("each request costs one more request to the store", async () => {
    const { during, rows, explain, ask } = await start(0);
    await rows();
    expect(byKind(await during(rows))).toEqual({ LIST: 1 });
    expect(byKind(await during(() => explain({})))).toEqual({ LIST: 1 });
    await ask("tags/create", "plain", { tag: "one", version: 1 });
    const found = await during(() => ask("tags/version", "plain", { tag: "one" }));
    // The second one lists the branches, concurrently with reading the tag.
    expect(byKind(found)).toHaveProperty("LIST", 2);
    expect(found.length).toBeLessThanOrEqual(5);
  });

  test.each(["stats", "explain_plan"])("%s at concurrency 64 shares its requests to the store", async (operation) => {
    // The concurrency limit is raised, because requests in the queue cannot share.
    const { service, store, during } = await start(0, { LAKEHEAD_PLAN_CONCURRENCY: "64" });
    store.set({ latencyMs: 20 });
    const body = operation === "stats" ? {} : { query: { k: 3 } };
    await service.call(operation, "plain", body);
    const count = 512;
    const requests = await during(() => atConcurrency(64, count, () => service.call(operation, "plain", body)));
    expect(byKind(requests)).toEqual({ LIST: expect.any(Number) });
    expect(requests.length).toBeLessThanOrEqual(count / 4);
  });
});

test("a staleness bound that is no whole number of milliseconds is taken", async () => {
  const { ask } = await start(0.0015);
  expect(await ask("stats", "plain")).toMatchObject({ num_rows: expect.any(Number) });
});
