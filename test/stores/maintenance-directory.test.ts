import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { idsOf, outcomeOf, rowsFrom } from "../service/maintenance/support.ts";
import { inDirectory, MaintainedTables, madeIds } from "./maintained-tables.ts";
import { maintenanceBesideWriters } from "./maintenance-writers.ts";

let directory: string;
let tables: MaintainedTables;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lakehead-maintenance-"));
  tables = await MaintainedTables.in(inDirectory(directory));
  return async () => {
    tables.close();
    await rm(directory, { recursive: true, force: true });
  };
});

const record = join("_lakehead", "maintenance.lance");

/** Number of files in a directory of the database. */
const filesIn = (...path: readonly string[]): number => {
  const place = join(directory, ...path);
  return existsSync(place) ? readdirSync(place).length : 0;
};

/** Whether a run has come so far, by a number of files and their number before the run. */
type Sign = readonly [folder: (name: string) => string, isSeen: (now: number, before: number) => boolean];

const isMore = (now: number, before: number): boolean => now > before;
const isLess = (now: number, before: number): boolean => now < before;

const signs: Readonly<Record<string, Sign>> = {
  "wanted-its-lease": [() => join(record, "_versions"), isMore],
  "merged-fragments": [(name) => join(`${name}.lance`, "data"), isMore],
  committed: [(name) => join(`${name}.lance`, "_versions"), isMore],
  "wrote-an-index": [(name) => join(`${name}.lance`, "_indices"), isMore],
  "deleted-files": [(name) => join(`${name}.lance`, "data"), isLess],
};

describe("a run on a directory", () => {
  test("that is killed costs no row and no file", async () => {
    const names = Object.keys(signs);
    for (const name of names) await tables.make(name);
    const ends = [];
    for (const [name, [folder, isSeen]] of Object.entries(signs)) {
      const before = filesIn(folder(name));
      const running = tables.startRun([name]);
      while (!isSeen(filesIn(folder(name)), before) && running.ended() === null) await sleep(1);
      running.child.kill("SIGKILL");
      ends.push(await running.exited());
    }
    // A run may end before its sign is seen.
    expect(ends).toContain("SIGKILL");
    await tables.expectOrder(Object.fromEntries(names.map((name) => [name, madeIds])));
  }, 300_000);

  test("keeps its lease until it ends, and the run that takes it over says whose it was", async () => {
    await tables.make("events");
    const running = tables.startRun(["events"], { LAKEHEAD_MAINTENANCE_LEASE_SECONDS: "15" });
    // Created, the row inserted, the lease taken; and the SDK's hint at the latest version.
    await expect.poll(() => filesIn(record, "_versions"), { interval: 5, timeout: 60_000 }).toBe(4);
    // Stopped, not ended: like a machine that hangs.
    running.child.kill("SIGSTOP");
    try {
      const early = await tables.run(["events"]);
      expect(["left", "in order"]).toContain(outcomeOf(early, "events").outcome);
      await sleep(15_200);
      await (await tables.open("events")).add(rowsFrom(madeIds.length, 1));
      const late = await tables.run(["events"]);
      expect(outcomeOf(late, "events")).toMatchObject({ outcome: "done", takenOver: expect.stringContaining("/") });
    } finally {
      running.child.kill("SIGCONT");
    }
    await running.exited();
    expect(await idsOf(await tables.open("events"))).toEqual([...madeIds, madeIds.length]);
  }, 180_000);
});

maintenanceBesideWriters(() => inDirectory(directory), 40);
