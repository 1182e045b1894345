import { describe, expect, test } from "vitest";
import { writeTables } from "../../../tools/lance-tables.ts";
import { isolated, type TestService } from "../../support/service.ts";
import { type StoredServiceOptions, startStoredService } from "./support.ts";

interface Scope {
  readonly onTestFinished: (action: () => Promise<void>) => void;
}

const start = async ({ onTestFinished }: Scope, options: Partial<StoredServiceOptions>) => {
  const stored = await startStoredService({
    consistencySeconds: 60,
    retries: false,
    environment: isolated,
    ...options,
  });
  onTestFinished(stored.stop);
  return stored;
};

const poll = { timeout: 15_000, interval: 100 };
const status = async (url: string): Promise<number> => (await fetch(url)).status;
const readiness = async ({ operationsBase }: TestService) => {
  const response = await fetch(`${operationsBase}/readyz`);
  return { ...((await response.json()) as object), status: response.status };
};

// Concurrent, because most of the time passes in the SDK's delays between retries.
describe.concurrent("while the store", () => {
  test("is unavailable, a starting service is live but not ready, and recovers", async (scope) => {
    const { service, store } = await start(scope, { weather: { presence: "away" } });
    expect(await status(`${service.operationsBase}/livez`)).toBe(200);
    expect(await status(`${service.operationsBase}/readyz`)).toBe(503);
    expect(await service.call("stats", "plain")).toMatchObject({ status: 503, body: { code: 17 } });
    expect(await status(`${service.operationsBase}/livez`)).toBe(200);
    store.set({ presence: "here" });
    await scope.expect.poll(() => status(`${service.operationsBase}/readyz`), poll).toBe(200);
    expect(await service.call("stats", "plain")).toMatchObject({ status: 200, body: { num_rows: 100 } });
    // The log has the reason, but not a line per attempt.
    const lines = service.log.filter(({ msg }) => /database/.test(String(msg)));
    expect(lines[0]).toMatchObject({
      level: "warn",
      attempts: 1,
      cause: expect.stringMatching(/error sending request|Connect|reset/i),
    });
    expect(lines.at(-1)).toMatchObject({ level: "info", msg: "connected to the database" });
  });

  test.for([
    ["is unavailable", { presence: "away" }],
    ["is overloaded", { unavailable: 1 }],
    ["drops connections", { dropped: 1 }],
  ] as const)(
    "%s, operations that need it return 503 with Retry-After and without its details",
    async ([, weather], scope) => {
      const { service, store } = await start(scope, {});
      await service.call("stats", "plain");
      store.set(weather);
      const answers = await Promise.all([
        service.call("explain_plan", "docs", { query: { k: 3 } }),
        service.call("explain_plan", "prod$vectors$docs", { query: { k: 3 } }),
        service.call("explain_plan", "plain", { query: { k: 3, version: 2 } }),
        // The handle is open and the plan succeeds: only the execution fails.
        service.call("analyze_plan", "plain", { k: 3 }),
        service.call("tags/version", "plain", { tag: "one" }),
        service.call("tags/create", "plain", { tag: "one", version: 1 }),
        service.call("tags/delete", "plain", { tag: "one" }),
      ]);
      for (const { status, headers, body } of answers) {
        expect({ status, code: body.code }, JSON.stringify(body)).toEqual({ status: 503, code: 17 });
        expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
        expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|tables|manifest|lake|S3/);
      }
      // Memoized results need no store.
      expect(await service.call("stats", "plain")).toMatchObject({ status: 200 });
      expect(await service.call("explain_plan", "plain", { query: { k: 3 } })).toMatchObject({ status: 200 });

      // All replicas share the store, so readiness reports the failure but does not fail.
      expect(await readiness(service)).toMatchObject({
        status: 200,
        databaseConnected: true,
        databaseAvailable: false,
      });

      store.set({ presence: "here", unavailable: 0, dropped: 0 });
      await scope.expect.poll(() => readiness(service), poll).toMatchObject({ status: 200, databaseAvailable: true });
      expect(await service.call("explain_plan", "docs", { query: { k: 3 } })).toMatchObject({ status: 200 });
      expect(await service.call("tags/create", "plain", { tag: "one", version: 1 })).toMatchObject({ status: 200 });
    },
  );

  test("is overloaded, names of tables and prefixes that imitate error texts have no effect", async (scope) => {
    const { service, store } = await start(scope, { prefix: "dimensions/LSM" });
    const names = ["dimension_customers", "Unsupported.order_by", "credentials_of_INVERTED"];
    const definition = { namespace: [], columns: { id: "integer" }, batches: [[{ id: 1n }]], indices: [] } as const;
    await writeTables(
      store.uri,
      names.map((name) => ({ ...definition, name })),
      store.storageOptions,
    );
    for (const name of names) expect(await service.call("describe", name)).toMatchObject({ status: 200 });
    store.set({ unavailable: 1 });
    const answers = await Promise.all([
      service.call("stats", "docs"),
      ...names.flatMap((name) => [
        service.call("explain_plan", name, { query: { k: 1, version: 2 } }),
        service.call("tags/version", name, { tag: "one" }),
        service.call("tags/create", name, { tag: "one", version: 1 }),
        service.call("query", name, { k: 1 }),
      ]),
    ]);
    for (const { status, body } of answers)
      expect({ status, ...body }).toMatchObject({
        status: 503,
        code: 17,
        error: expect.stringMatching(/storage .* is unavailable/),
      });
    expect(await readiness(service)).toMatchObject({ databaseAvailable: false });
  });

  test("fails a third of its requests, the SDK retries and all operations succeed", async (scope) => {
    const { service } = await start(scope, { consistencySeconds: 0, retries: true, weather: { unavailable: 0.3 } });
    const operations: [string, unknown][] = [
      ["stats", {}],
      ["explain_plan", { query: { k: 3, version: 3 } }],
      ["tags/create", { tag: "kept", version: 1 }],
      ["tags/version", { tag: "kept" }],
    ];
    for (const [operation, body] of operations)
      expect(await service.call(operation, "plain", body), operation).toMatchObject({ status: 200 });
    expect(await readiness(service)).toMatchObject({ status: 200, databaseAvailable: true });
  });
});
