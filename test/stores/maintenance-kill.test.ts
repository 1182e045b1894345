import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, Index } from "@lancedb/lancedb";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  idsOf,
  openTable,
  outcomeOf,
  range,
  rowsFrom,
  runOnce,
  shortHistory,
  shortHistoryMs,
  startRun,
} from "../service/maintenance/support.ts";

const first = 300;
const single = 60;
const all = first + single;
const leaseMs = 2000;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lakehead-maintenance-kill-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A table with two indices, one of them of many parts, and one row in each of many fragments. */
const makeSlow = async (): Promise<void> => {
  const connection = await connect(directory);
  const table = await connection.createTable("events", rowsFrom(0, first));
  await table.createIndex("vector", { config: Index.ivfPq({ numPartitions: 2, numSubVectors: 4 }) });
  await table.createIndex("label", { config: Index.bitmap() });
  for (let id = first; id < all; id++) await table.add(rowsFrom(id, 1));
  connection.close();
};

const dataFiles = (database: string): Promise<readonly string[]> => readdir(join(database, "events.lance", "data"));

describe("a run that is killed", () => {
  test.each([0, 160, 350, 700])(
    "%i ms after it wanted its lease leaves the table whole, and the next run ends the work without leftover files",
    async (delay) => {
      await makeSlow();
      const running = startRun(directory, ["--json"], shortHistory);
      await expect
        .poll(() => readdir(join(directory, "_lakehead", "maintenance.lance", "_versions")).catch(() => []), {
          interval: 5,
          timeout: 60_000,
        })
        .not.toHaveLength(0);
      await sleep(delay);
      running.child.kill("SIGKILL");
      await running.exited();
      expect(await idsOf(await openTable(directory, "events"))).toEqual(range(0, all));

      await sleep(leaseMs + 200);
      const next = await runOnce(directory, ["--json"], shortHistory);
      expect(next.code, next.output).toBe(0);
      expect(["done", "in order"]).toContain(outcomeOf(next, "events").outcome);
      const table = await openTable(directory, "events");
      expect(await idsOf(table)).toEqual(range(0, all));
      expect((await table.stats()).fragmentStats.numFragments).toBeLessThan(single);
      for (const index of await table.listIndices()) expect(index.numUnindexedRows).toBe(0);

      // When the versions of the work have become old, the files of the killed run go with them. A run can itself add some.
      for (let round = 0; round < 5; round++) {
        await sleep(shortHistoryMs + 200);
        const last = await runOnce(directory, ["--json"], shortHistory);
        expect(["done", "in order"], last.output).toContain(outcomeOf(last, "events").outcome);
        if (outcomeOf(last, "events").outcome === "in order") break;
      }
      const cleaned = await openTable(directory, "events");
      expect(await idsOf(cleaned)).toEqual(range(0, all));
      expect(await cleaned.listVersions()).toHaveLength(1);
      // Each fragment has one file, and no other version has any.
      expect(await dataFiles(directory)).toHaveLength((await cleaned.stats()).fragmentStats.numFragments);
    },
    180_000,
  );

  test("keeps its lease until it ends, and the run that takes it over says whose it was", async () => {
    await makeSlow();
    const running = startRun(directory, ["--json"], { LAKEHEAD_MAINTENANCE_LEASE_SECONDS: "15" });
    // Stopped, not ended: like a machine that hangs.
    await expect
      .poll(() => readdir(join(directory, "_lakehead", "maintenance.lance", "_versions")).catch(() => []), {
        interval: 5,
        timeout: 60_000,
      })
      // Created, the row inserted, the lease taken; and the SDK's hint at the latest version.
      .toHaveLength(4);
    running.child.kill("SIGSTOP");
    try {
      const early = await runOnce(directory, ["--json"]);
      expect(["left", "in order"]).toContain(outcomeOf(early, "events").outcome);
      await sleep(15_200);
      await (await openTable(directory, "events")).add(rowsFrom(all, 1));
      const late = await runOnce(directory, ["--json"], {
        LAKEHEAD_MAINTENANCE: JSON.stringify([{ indices: { unindexedRows: 1 } }]),
      });
      expect(outcomeOf(late, "events")).toMatchObject({ outcome: "done", takenOver: expect.stringContaining("/") });
    } finally {
      running.child.kill("SIGCONT");
    }
    await running.exited();
    expect(await idsOf(await openTable(directory, "events"))).toEqual(range(0, all + 1));
  }, 180_000);
});
