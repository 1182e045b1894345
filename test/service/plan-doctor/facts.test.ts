import { describe, expect, test } from "vitest";
import type { PlanDocument } from "../../../service/plan-doctor/types.ts";
import type { Weather } from "../../support/object-store-traffic.ts";
import { vectorOf } from "../../support/tables.ts";
import { type StoredService, startStoredService } from "../store/support.ts";

const query = { k: 5, vector: vectorOf(1), vector_column: "vector" };

interface Scope {
  readonly onTestFinished: (action: () => Promise<void>) => void;
}

/** A service whose tables are in a store. The plan's own files were read, and no fact. */
const start = async ({ onTestFinished }: Scope): Promise<StoredService> => {
  const stored = await startStoredService({ consistencySeconds: 60, retries: false });
  onTestFinished(stored.stop);
  await planOf(stored);
  return stored;
};

const planOf = async ({ service }: StoredService): Promise<string> =>
  (await service.call("explain_plan", "docs", { query })).body;

const documentOf = async ({ service }: StoredService): Promise<PlanDocument> => {
  const options = { headers: { accept: "application/vnd.lakehead.plan+json" } };
  const { status, body } = await service.call("explain_plan", "docs", { query }, options);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

const known = {
  statistics: { rows: 1020 },
  indices: expect.arrayContaining([expect.objectContaining({ name: "vector_idx" })]),
  missing: [],
};

/** All that the store answers late or not at all. The schema is that of the open table. */
const unknownBecause = (reason: RegExp) => ({
  columns: expect.arrayContaining([expect.objectContaining({ name: "vector" })]),
  statistics: null,
  indices: null,
  missing: expect.arrayContaining(
    ["statistics", "indices"].map((fact) => ({ fact, reason: expect.stringMatching(reason) })),
  ),
});

const repair: Partial<Weather> = { presence: "here", latencyMs: 0, unavailable: 0, dropped: 0 };

// Concurrent, because most of the time passes waiting for the store.
describe.concurrent("the facts of a plan", () => {
  test("are read once, however many plans ask for them, and are those of stats and index/list", async (scope) => {
    const stored = await start(scope);
    const { expect } = scope;
    const first = await stored.during(() => documentOf(stored));
    expect(first).not.toEqual([]);
    const { service } = stored;
    const later = await stored.during(() =>
      Promise.all([
        documentOf(stored),
        documentOf(stored),
        service.call("stats", "docs"),
        service.call("index/list", "docs"),
      ]),
    );
    expect(later).toEqual([]);
  });

  test("are read once for plans that ask at the same time", async (scope) => {
    const [one, eight] = await Promise.all([start(scope), start(scope)]);
    const { expect } = scope;
    const alone = await one.during(() => documentOf(one));
    const together = await eight.during(() => Promise.all(Array.from({ length: 8 }, () => documentOf(eight))));
    expect(alone).not.toEqual([]);
    expect(together).toHaveLength(alone.length);
  });

  test("are not read for the string", async (scope) => {
    const stored = await start(scope);
    scope.expect(await stored.during(() => planOf(stored))).toEqual([]);
  });

  test.for([
    ["is overloaded", { unavailable: 1 }, /retry|unavailable|overload|store/i],
    ["drops connections", { dropped: 1 }, /retry|unavailable|reach|store/i],
    ["answers after 6 seconds", { latencyMs: 6000 }, /^took more than 4 seconds$/],
  ] as const)(
    "are missing with the reason while the store %s; the plan is whole, and they return with the store",
    async ([, weather, reason], scope) => {
      const stored = await start(scope);
      const { expect } = scope;
      const plan = await planOf(stored);
      stored.store.set(weather);
      const document = await documentOf(stored);
      expect(document).toMatchObject({ plan, facts: unknownBecause(reason) });
      expect(JSON.stringify(document.facts.missing)).not.toMatch(/127\.0\.0\.1|manifest|lake|S3/);
      stored.store.set(repair);
      await expect
        .poll(async () => (await documentOf(stored)).facts, { timeout: 20_000, interval: 200 })
        .toMatchObject(known);
    },
  );
});
