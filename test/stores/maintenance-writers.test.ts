import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, Index, type Table } from "@lancedb/lancedb";
import { afterEach, beforeEach, expect, test } from "vitest";
import { idsOf, openTable, range, rowsFrom, runOnce, shortHistory } from "../service/maintenance/support.ts";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";

const first = 400;
const table = "events";

let directory: string;
let replicas: ServiceProcess[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lakehead-maintenance-writers-"));
  const connection = await connect(directory);
  const made = await connection.createTable(table, rowsFrom(0, first));
  await made.createIndex("vector", { config: Index.ivfPq({ numPartitions: 2, numSubVectors: 4 }) });
  connection.close();
  replicas = await Promise.all(
    [0, 1].map(() =>
      startReadyServiceProcess({ environment: { LAKEHEAD_DATABASE: directory, LAKEHEAD_WRITES: "on" } }),
    ),
  );
});
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await rm(directory, { recursive: true, force: true });
});

const remote = async ({ base }: ServiceProcess): Promise<Table> =>
  (await connect("db://any", { apiKey: testToken, hostOverride: base })).openTable(table);

/** Waits as long as a writer that is not in a hurry. */
const pause = () => sleep(40);

test("writers on two replicas lose nothing while runs merge, index and delete versions, and readers do not fail", async () => {
  const state = { done: false, appended: [0, 0], updated: 0, deleted: 0, reads: 0 };
  const [one, two] = await Promise.all(replicas.map(remote));
  if (one === undefined || two === undefined) throw new Error("there are two replicas");
  const append = async (writer: Table, index: 0 | 1): Promise<void> => {
    for (let id = 10_000 * (index + 1); !state.done; id++, await pause()) {
      await writer.add(rowsFrom(id, 1));
      state.appended[index] = (state.appended[index] ?? 0) + 1;
    }
  };
  const change = async (): Promise<void> => {
    for (; !state.done && state.deleted < 100; await pause()) {
      await one.update({ where: "id = 399", values: { label: `updated ${state.updated}` } });
      state.updated++;
      await two.delete(`id = ${state.deleted}`);
      state.deleted++;
    }
  };
  const tagged = await openTable(directory, table);
  await (await tagged.tags()).create("live", 1);
  const read = async (): Promise<void> => {
    for (; !state.done; await pause()) {
      const pinned = await openTable(directory, table);
      await pinned.checkout("live");
      expect(await idsOf(pinned)).toEqual(range(0, first));
      state.reads++;
    }
  };
  const writers = Promise.all([append(one, 0), append(two, 1), change(), read()]);
  const environment = {
    ...shortHistory,
    LAKEHEAD_MAINTENANCE: JSON.stringify([
      { compaction: { smallFragments: 5 }, indices: { unindexedRows: 5 }, cleanup: { olderThanHours: 1.5 / 3600 } },
    ]),
  };
  const runs = [];
  for (let run = 0; run < 4; run++) {
    await sleep(500);
    runs.push(await runOnce(directory, ["--json"], environment));
  }
  state.done = true;
  await writers;
  for (const { code, output } of runs) expect(code, output).toBe(0);
  expect(runs.flatMap(({ lines }) => lines.filter(({ audit }) => audit === "maintenance")).length).toBeGreaterThan(0);
  for (const count of [...state.appended, state.updated, state.deleted, state.reads]) expect(count).toBeGreaterThan(0);

  const latest = await openTable(directory, table);
  const [left = 0, right = 0] = state.appended;
  expect(await idsOf(latest)).toEqual([
    ...range(state.deleted, first - state.deleted),
    ...range(10_000, left),
    ...range(20_000, right),
  ]);
  const [row] = await latest.query().where("id = 399").toArray();
  expect(row.label).toBe(`updated ${state.updated - 1}`);
}, 400_000);
