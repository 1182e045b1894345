import { describe, expect, test } from "vitest";
import { writeTables } from "../../../tools/lance-tables.ts";
import type { TestService } from "../../support/service.ts";
import { type StoredServiceOptions, startStoredService } from "./support.ts";

interface Scope {
  readonly onTestFinished: (action: () => Promise<void>) => void;
}

const start = async ({ onTestFinished }: Scope, options: Partial<StoredServiceOptions>) => {
  const stored = await startStoredService({ consistencySeconds: 60, patient: false, ...options });
  onTestFinished(stored.stop);
  return stored;
};

const patience = { timeout: 15_000, interval: 100 };
const status = async (url: string): Promise<number> => (await fetch(url)).status;
const readiness = async ({ operationsBase }: TestService) => {
  const response = await fetch(`${operationsBase}/readyz`);
  return { ...((await response.json()) as object), status: response.status };
};

// Most of the time here is the SDK's, which waits before it asks again: so the tests wait together.
describe.concurrent("while the store is", () => {
  test("away, a service that starts lives, is not ready, and recovers by itself", async (scope) => {
    const { service, store } = await start(scope, { weather: { presence: "away" } });
    expect(await status(`${service.operationsBase}/livez`)).toBe(200);
    expect(await status(`${service.operationsBase}/readyz`)).toBe(503);
    expect(await service.call("stats", "plain")).toMatchObject({ status: 503, body: { code: 17 } });
    expect(await status(`${service.operationsBase}/livez`)).toBe(200);
    store.set({ presence: "here" });
    await scope.expect.poll(() => status(`${service.operationsBase}/readyz`), patience).toBe(200);
    expect(await service.call("stats", "plain")).toMatchObject({ status: 200, body: { num_rows: 100 } });
    // An operator learns from the log why, and an outage of hours does not fill it.
    const lines = service.log.filter(({ msg }) => /database/.test(String(msg)));
    expect(lines[0]).toMatchObject({
      level: "warn",
      attempts: 1,
      cause: expect.stringMatching(/error sending request|Connect|reset/i),
    });
    expect(lines.at(-1)).toMatchObject({ level: "info", msg: "connected to the database" });
  });

  test.for([
    ["away", { presence: "away" }],
    ["overloaded", { unavailable: 1 }],
    ["cutting connections", { dropped: 1 }],
  ] as const)(
    "%s, what needs it answers 503 and says when to retry; nothing of it leaks",
    async ([, weather], scope) => {
      const { service, store } = await start(scope, {});
      await service.call("stats", "plain");
      store.set(weather);
      const answers = await Promise.all([
        service.call("explain_plan", "docs", { query: { k: 3 } }),
        service.call("explain_plan", "prod$vectors$docs", { query: { k: 3 } }),
        service.call("explain_plan", "plain", { query: { k: 3, version: 2 } }),
        // The handle is open and the plan is made: only its execution fails.
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
      // What is known needs no store.
      expect(await service.call("stats", "plain")).toMatchObject({ status: 200 });
      expect(await service.call("explain_plan", "plain", { query: { k: 3 } })).toMatchObject({ status: 200 });

      // All replicas share the store: readiness tells of it and does not take them away.
      expect(await readiness(service)).toMatchObject({ status: 200, databaseConnected: true, databaseAnswers: false });

      store.set({ presence: "here", unavailable: 0, dropped: 0 });
      await scope.expect.poll(() => readiness(service), patience).toMatchObject({ status: 200, databaseAnswers: true });
      expect(await service.call("explain_plan", "docs", { query: { k: 3 } })).toMatchObject({ status: 200 });
      expect(await service.call("tags/create", "plain", { tag: "one", version: 1 })).toMatchObject({ status: 200 });
    },
  );

  test("overloaded, the words in names of tables and prefixes are not taken for its own", async (scope) => {
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
    expect(await readiness(service)).toMatchObject({ databaseAnswers: false });
  });

  test("failing a third of its requests, nobody notices: the SDK asks again", async (scope) => {
    const { service } = await start(scope, { consistencySeconds: 0, patient: true, weather: { unavailable: 0.3 } });
    const operations: [string, unknown][] = [
      ["stats", {}],
      ["explain_plan", { query: { k: 3, version: 3 } }],
      ["tags/create", { tag: "kept", version: 1 }],
      ["tags/version", { tag: "kept" }],
    ];
    for (const [operation, body] of operations)
      expect(await service.call(operation, "plain", body), operation).toMatchObject({ status: 200 });
    expect(await readiness(service)).toMatchObject({ status: 200, databaseAnswers: true });
  });
});
