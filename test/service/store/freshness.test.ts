import { tableFromIPC } from "apache-arrow";
import { afterEach, describe, expect, test } from "vitest";
import { writeTables } from "../../../tools/lance-tables.ts";
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

/** `plain` again, but with one version, three rows and another column. */
const makeAnewElsewhere = async ({ elsewhere, store }: Started): Promise<void> => {
  const connection = await elsewhere();
  await connection.dropTable("plain");
  connection.close();
  const rows = [1, 2, 3].map((row) => ({ id: BigInt(row), another: "x" }));
  const columns = { id: "integer", another: "text" } as const;
  const definition = { namespace: [], name: "plain", columns, batches: [rows], indices: [] };
  await writeTables(store.uri, [definition], store.storageOptions);
};

afterEach(() => stored?.stop());

const patience = { timeout: 10_000, interval: 50 };

describe("answers that may be old by a bound", () => {
  test("another process's version is seen within it", async () => {
    const started = await start(0.3);
    expect(await started.rows()).toBe(100);
    await addElsewhere(started);
    await expect.poll(() => started.rows(), patience).toBe(110);
    expect(await started.explain({})).toContain("num_fragments=11");
  });

  describe("unless the client has seen newer", () => {
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
    ])("than a %s, as LanceDB's client says with every call", async (_, headers) => {
      const started = await start(60, { LAKEHEAD_ANALYZE_CONCURRENCY: "1" });
      expect(await asked(started, {})).toEqual([100, 100, 100, 100]);
      await addElsewhere(started);
      expect(await asked(started, {})).toEqual([100, 100, 100, 100]);
      expect(await asked(started, headers())).toEqual([110, 110, 110, 110]);
      expect(await asked(started, {})).toEqual([110, 110, 110, 110]);
    });

    test("which costs one look, and none where it is known", async () => {
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
      ["a version that is not there", { "x-lancedb-min-read-version": String(Number.MAX_SAFE_INTEGER) }],
      ["a time to come", { "x-lancedb-min-timestamp": "2999-01-01T00:00:00Z" }],
    ])("but %s keeps nobody's handle cold", async (_, headers) => {
      const { service, during, rows } = await start(60);
      await rows();
      const calls = 20;
      const requests = await during(async () => {
        for (let call = 0; call < calls; call++)
          expect(await service.call("stats", "plain", {}, { headers })).toMatchObject({ status: 200 });
      });
      // One look for all who ask within a second; this leaves a slow machine a few.
      expect(requests.length).toBeLessThan(calls / 2);
      await rows();
      expect(await during(rows)).toEqual([]);
    });

    test("and a table made anew is its new self", async () => {
      const started = await start(60);
      expect(await started.rows()).toBe(100);
      await makeAnewElsewhere(started);
      const headers = { "x-lancedb-min-timestamp": new Date().toISOString() };
      const { body } = await started.service.call("stats", "plain", {}, { headers });
      expect(body.num_rows).toBe(3);
    });
  });

  test("and not sought before it", async () => {
    const started = await start(60);
    expect(await started.rows()).toBe(100);
    await addElsewhere(started);
    expect(await started.rows()).toBe(100);
    expect(await started.explain({})).toContain("num_fragments=10");
  });

  test("a tag of another process, and the version that it names, are found at once", async () => {
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

  test("a dropped table is noticed", async () => {
    const started = await start(0.3);
    await started.explain({});
    const connection = await started.elsewhere();
    await connection.dropTable("plain");
    connection.close();
    const code = async () => (await started.service.call("explain_plan", "plain", { query: { k: 3 } })).body.code;
    await expect.poll(code, patience).toBe(4);
  });

  test("a table made anew with a lower version is noticed, at its latest and at a version", async () => {
    const started = await start(0.3, { LAKEHEAD_PINNED_SECONDS: "1" });
    expect(await started.explain({ version: 1 })).toContain("vector");
    expect(await started.rows()).toBe(100);
    await makeAnewElsewhere(started);
    await expect.poll(() => started.rows(), patience).toBe(3);
    await expect.poll(() => started.explain({ version: 1 }), patience).toContain("another");
  });

  test("asking for a version that never was leaves the handles of others warm", async () => {
    const { service, during, explain } = await start(60);
    await explain({});
    await explain({ version: 2 });
    const answer = await service.call("explain_plan", "plain", { query: { k: 3, version: 999 } });
    expect(answer.body.code).toBe(11);
    expect(await during(() => Promise.all([explain({}), explain({ version: 2 })]))).toEqual([]);
  });

  test("an expression that quotes the store's words leaves the handles warm", async () => {
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

  test("64 first requests together open the table once", async () => {
    const { service, store, during, ask } = await start(60, { LAKEHEAD_PLAN_CONCURRENCY: "64" });
    store.set({ latencyMs: 20 });
    // The connection itself reads the root namespace's manifest once, and any table brings that about.
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

describe("answers that are never old", () => {
  test("another process's version is in the next answer", async () => {
    const started = await start(0);
    expect(await started.rows()).toBe(100);
    await addElsewhere(started);
    expect(await started.rows()).toBe(110);
    expect(await started.explain({})).toContain("num_fragments=11");
  });

  test("a table made anew is in the next answer", async () => {
    const started = await start(0);
    expect(await started.rows()).toBe(100);
    await makeAnewElsewhere(started);
    expect(await started.rows()).toBe(3);
    expect(await started.explain({})).toContain("another");
  });

  test("cost one look more than others", async () => {
    const { during, rows, explain, ask } = await start(0);
    await rows();
    expect(byKind(await during(rows))).toEqual({ LIST: 1 });
    expect(byKind(await during(() => explain({})))).toEqual({ LIST: 1 });
    await ask("tags/create", "plain", { tag: "one", version: 1 });
    const found = await during(() => ask("tags/version", "plain", { tag: "one" }));
    // The other asks whether there are branches, at the same time as the tag is read.
    expect(byKind(found)).toHaveProperty("LIST", 2);
    expect(found.length).toBeLessThanOrEqual(5);
  });

  test.each(["stats", "explain_plan"])("%s at concurrency 64 shares its looks", async (operation) => {
    // More would run at once than the gate lets in, and what waits at the gate cannot share.
    const { service, store, during } = await start(0, { LAKEHEAD_PLAN_CONCURRENCY: "64" });
    store.set({ latencyMs: 20 });
    await service.call(operation, "plain", { query: { k: 3 } });
    const count = 512;
    const requests = await during(() =>
      atConcurrency(64, count, () => service.call(operation, "plain", { query: { k: 3 } })),
    );
    expect(byKind(requests)).toEqual({ LIST: expect.any(Number) });
    expect(requests.length).toBeLessThanOrEqual(count / 4);
  });
});
