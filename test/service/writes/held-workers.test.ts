import { Agent, request } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from "vitest";
import { type ServiceProcess, startReadyServiceProcess } from "../../support/service-process.ts";
import { staticToken } from "../../support/static-token.ts";
import { longTimeouts, slowToRun, until } from "../workers/support.ts";
import { asRows, plainStream, writesOn } from "./support.ts";

vi.setConfig(longTimeouts);

/** The service as a process with two tenants, of which one sends writes that take minutes. */
let service: ServiceProcess;
let agent: Agent;
beforeAll(async () => {
  service = await startReadyServiceProcess({
    copyOf: inject("tables"),
    tokens: [staticToken("alice", "alice"), staticToken("bob", "bob")],
    // Two workers for writes. The guard refuses an expression that takes so long.
    environment: { ...writesOn, LAKEHEAD_WRITE_CONCURRENCY: "2", LAKEHEAD_UNSAFE_GUARD: "off" },
  });
});
beforeEach(() => {
  agent = new Agent();
});
afterEach(async () => {
  agent.destroy();
  // Ends hers that still runs.
  expect(await service.call("update", "plain", { updates: [["text", "'y'"]] }, alice)).toMatchObject({ status: 200 });
  await until(async () => (await writing()) === 0);
});
afterAll(() => service.stop());

const bob = { token: "bob" };
const alice = { token: "alice" };

/** Sends what alice will not wait for. */
const send = (operation: string, table: string, body: object): void => {
  const headers = { authorization: "Bearer alice", "content-type": "application/json" };
  const path = `/v1/table/${table}/${operation}`;
  const outgoing = request({ port: service.port, host: "127.0.0.1", method: "POST", path, headers, agent });
  outgoing.on("error", () => undefined).end(JSON.stringify(body));
};

const metric = async (pattern: RegExp): Promise<number> => {
  const metrics = await (await fetch(`${service.operationsBase}/metrics`)).text();
  return Number(pattern.exec(metrics)?.[1] ?? 0);
};
const writing = (): Promise<number> => metric(/^lakehead_workers\{pool="write",state="busy"\} (\d+)/m);

const slow = {
  update: ["update", { updates: [["text", "text"]], predicate: slowToRun }],
  delete: ["delete", { predicate: slowToRun }],
  "add columns": ["add_columns", { new_columns: [{ name: "slow", expression: `${slowToRun}` }] }],
} as const;

test.each(Object.entries(slow))(
  "two long writes of a caller, %s, do not hold the writes of others",
  async (_, [name, body]) => {
    for (const table of ["docs", "docs"]) send(name, table, body);
    await until(async () => (await writing()) > 0);
    const rows = plainStream([1, 2, 3]);
    expect(await service.call("insert", "plain", undefined, asRows(rows, bob))).toMatchObject({ status: 200 });
    const overwrite = asRows(rows, { ...bob, query: "?mode=overwrite" });
    expect(await service.call("insert", "plain", undefined, overwrite)).toMatchObject({ status: 200 });
    expect(await service.call("update", "plain", { updates: [["text", "'x'"]] }, bob)).toMatchObject({ status: 200 });
    expect(await service.ask(`/v1/namespace/${name}/create`, {}, bob)).toMatchObject({ status: 200 });
    // Hers still runs.
    expect(await writing()).toBe(1);
  },
);

test("a write whose client has left runs on until another write of the caller waits", async () => {
  const printed = service.running.output().length;
  const [name, body] = slow.update;
  send(name, "docs", body);
  await until(async () => (await writing()) === 1);
  agent.destroy();
  expect(await service.call("update", "plain", { updates: [["text", "'x'"]] }, bob)).toMatchObject({ status: 200 });
  expect(await writing()).toBe(1);
  expect(await service.call("update", "plain", { updates: [["text", "'y'"]] }, alice)).toMatchObject({ status: 200 });
  expect(service.running.output().slice(printed)).toMatch(/"pool":"write","reason":"abandoned"/);
});

test.each([
  ["m", 1000, 100],
  ["ef_construction", 100_000, 1000],
  ["max_iterations", 10_000, 500],
  ["sample_rate", 1_000_000, 4096],
  ["num_partitions", 1_000_000, 65_536],
])("an index with a %s of %i is refused by name and value", async (name, value, max) => {
  const index = { column: "vector", index_type: "IVF_HNSW_SQ", [name]: value };
  expect(await service.call("create_index", "plain", index, alice)).toMatchObject({
    status: 400,
    body: { code: 13, error: expect.stringMatching(`^${name} must be at most ${max}, not ${value}: `) },
  });
});
