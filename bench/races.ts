/**
 * Creates, moves, reads, lists and deletes one tag from concurrent callers, in a local directory and in a bucket, and
 * prints the statuses as Markdown. The exit code is 1 for any other than 200, 404 and 409.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startObjectStore } from "../test/support/object-store.ts";
import { Caller } from "./caller.ts";
import { writeData } from "./data.ts";
import { readOptions } from "./options.ts";
import { figureTable } from "./report.ts";
import { startServer, token } from "./servers.ts";
import { tables } from "./workloads.ts";

const plan = readOptions("bench:races", {
  calls: { default: 10_000, help: "calls in each kind of store" },
  callers: { default: 2, help: "concurrent callers of each operation" },
});

const tag = "contested";
const calls: Readonly<Record<string, object>> = {
  "tags/create": { tag, version: 1 },
  "tags/update": { tag, version: 2 },
  "tags/version": { tag },
  "tags/list": {},
  "tags/delete": { tag },
  describe: { tag },
};
const expected = new Set(["200", "404 (8)", "409 (9)"]);

type Statuses = ReadonlyMap<string, number>;

/** Statuses with their error codes, by operation. */
const race = async (port: number): Promise<ReadonlyMap<string, Statuses>> => {
  const outcomes = new Map<string, Map<string, number>>();
  const turns = Math.ceil(plan.calls / (Object.keys(calls).length * plan.callers));
  const call = async ([operation, body]: [string, object]): Promise<void> => {
    const statuses = outcomes.get(operation) ?? new Map<string, number>();
    outcomes.set(operation, statuses);
    const caller = new Caller(port);
    for (let turn = 0; turn < turns; turn++) {
      const path = `/v1/table/${tables.narrow.name}/${operation}`;
      const { status, text } = await caller.ask({ path, token, body: JSON.stringify(body) });
      const outcome = status === 200 ? "200" : `${status} (${JSON.parse(text).code})`;
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
    }
    caller.close();
  };
  const callers = Array.from({ length: plan.callers }, () => Object.entries(calls)).flat();
  await Promise.all(callers.map(call));
  return outcomes;
};

const home = await mkdtemp(join(tmpdir(), "lakehead-races-"));
const store = await writeData(home).then(() => startObjectStore({ seed: home }));
const environments = {
  "local directory": { LAKEHEAD_DATABASE: home },
  bucket: { LAKEHEAD_DATABASE: store.uri, LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(store.storageOptions) },
} as const;
try {
  const rows: string[][] = [];
  for (const [name, environment] of Object.entries(environments)) {
    const server = await startServer("../service/main.ts", environment);
    const outcomes = await race(server.port).finally(() => server.stop());
    for (const [operation, statuses] of outcomes)
      for (const [outcome, count] of [...statuses].sort()) {
        rows.push([name, operation, expected.has(outcome) ? outcome : `**${outcome}**`, String(count)]);
        if (!expected.has(outcome)) process.exitCode = 1;
      }
  }
  process.stdout.write(`${figureTable(["store", "operation", "status (code)", "calls"], rows)}\n`);
} finally {
  await store.close();
  await rm(home, { recursive: true, force: true });
}
