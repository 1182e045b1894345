import { cp } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { harmfulExpressions } from "../service/guard/expression/support/harmful-expressions.ts";
import { makeExpressionTable } from "../service/guard/expression/support/table.ts";
import { makeDirectory } from "../support/directory.ts";
import type { Answer } from "../support/request.ts";
import { callOperation } from "../support/service.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import * as hostile from "./support/queries.ts";

/**
 * Every query of the hostile suite that crashes the engine, with the guard off and default isolation: each ends at most a
 * worker process, and other callers are not affected.
 */
let directory: string;
let service: ServiceProcess;
const answers = new Map<string, Answer>();
const harmlessStatuses = new Map<string, number[]>();

/** Long enough for a normal query and too short for a hostile one: memory limits and crashes come sooner or never. */
const deadlineSeconds = 0.3;
const workers = 2;

interface Attack {
  readonly name: string;
  readonly table: string;
  readonly query: Readonly<Record<string, unknown>>;
}

const attacks: readonly Attack[] = [
  ...Object.entries(harmfulExpressions).map(([name, expression]) => ({
    name,
    table: "kinds",
    query: hostile.filtered(expression),
  })),
  ...Object.entries(hostile.killing).map(([name, query]) => ({ name, table: "docs", query })),
];

/** A panic that the SDK catches fails only its call; the process continues. */
const isCaught = (name: string): boolean => name.startsWith("panics: ");

const deadly = attacks.filter(({ name }) => !isCaught(name));
const caught = attacks.filter(({ name }) => isCaught(name));

const ask = (operation: string, table: string, body: unknown) => callOperation(service.base, operation, table, body);

/** One concurrent query for each worker process. */
const attack = async (): Promise<void> => {
  const waiting = [...attacks];
  const take = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      answers.set(next.name, await ask("analyze_plan", next.table, next.query));
  };
  await Promise.all(Array.from({ length: workers }, take));
};

/** Requests of other callers during the attack. */
const harmlessCalls: Readonly<Record<string, () => Promise<{ readonly status: number }>>> = {
  explain_plan: () => ask("explain_plan", "docs", { query: { k: 1, filter: "id = 7" } }),
  stats: () => ask("stats", "docs", {}),
  "tags/create": () =>
    ask("tags/create", "docs", { tag: `t${harmlessStatuses.get("tags/create")?.length}`, version: 1 }),
  livez: async () => ({ status: (await fetch(`${service.operationsBase}/livez`)).status }),
  readyz: async () => ({ status: await service.readiness() }),
};

beforeAll(async () => {
  directory = await makeDirectory();
  await cp(inject("tables"), directory, { recursive: true });
  await makeExpressionTable(directory, "kinds");
  service = await startReadyServiceProcess({
    environment: {
      LAKEHEAD_DATABASE: directory,
      LAKEHEAD_UNSAFE_GUARD: "off",
      LAKEHEAD_ANALYZE_CONCURRENCY: String(workers),
      LAKEHEAD_ANALYZE_DEADLINE_SECONDS: String(deadlineSeconds),
      LAKEHEAD_WORKER_MEMORY_BYTES: String(400 * 2 ** 20),
      LAKEHEAD_QUEUE_SECONDS: "60",
    },
  });
  for (const name of Object.keys(harmlessCalls)) harmlessStatuses.set(name, []);
  let attacked = false;
  const done = attack().finally(() => {
    attacked = true;
  });
  while (!attacked)
    for (const [name, call] of Object.entries(harmlessCalls)) harmlessStatuses.get(name)?.push((await call()).status);
  await done;
}, 240_000);

afterAll(() => service?.kill());

describe("with the guard off and isolation on", () => {
  test.each(deadly.map(({ name }) => [name]))("%s ends its worker process, and the response says so", (name) => {
    const answer = answers.get(name);
    expect(answer?.body).toMatchObject({
      error: expect.stringMatching(/and was stopped|crashed its worker process/),
      code: answer?.status === 503 ? 17 : 13,
    });
    expect([400, 503]).toContain(answer?.status);
  });

  test.each(caught.map(({ name }) => [name]))("%s fails without text of the engine", (name) => {
    const answer = answers.get(name);
    // On a machine under load, its deadline may come first.
    expect([500, 503]).toContain(answer?.status);
    expect(answer?.body.error).not.toMatch(/panic/);
  });

  test.each(Object.keys(harmlessCalls))("%s of other callers succeeded throughout", (name) => {
    expect(harmlessStatuses.get(name)?.length).toBeGreaterThan(10);
    expect(new Set(harmlessStatuses.get(name))).toEqual(new Set([200]));
  });

  test("the service is live and ready, and only worker processes ended", async () => {
    expect(service.ended()).toBeNull();
    expect(await service.readiness()).toBe(200);
    const ends = service
      .output()
      .split("\n")
      .filter((line) => line.includes('"a worker process has ended"'))
      .map((line) => (JSON.parse(line) as { readonly reason: string }).reason);
    expect(ends.length).toBeGreaterThanOrEqual(deadly.length);
    expect(["crash", "deadline", "memory", "recycled"]).toEqual(expect.arrayContaining([...new Set(ends)]));
  });

  test("its worker processes run normal queries again", async () => {
    // The deadline is too short for the first queries, whose worker process must open the table.
    while ((await ask("analyze_plan", "docs", { k: 1, filter: "id = 7" })).status !== 200);
  });
});
