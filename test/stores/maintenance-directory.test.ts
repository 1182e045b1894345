import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@lancedb/lancedb";
import { beforeEach, describe, expect, test } from "vitest";
import { idsOf, outcomeOf, rowsFrom, shortHistoryMs } from "../service/maintenance/support.ts";
import type { Running } from "../support/process.ts";
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
  "wants-its-lease": [() => join(record, "_versions"), isMore],
  "has-merged-fragments": [(name) => join(`${name}.lance`, "data"), isMore],
  "has-committed": [(name) => join(`${name}.lance`, "_versions"), isMore],
  "has-written-an-index": [(name) => join(`${name}.lance`, "_indices"), isMore],
  "has-deleted-files": [(name) => join(`${name}.lance`, "_versions"), isLess],
};

/** Runs that may be needed until one is caught: a run can be faster than the look at its files. */
const attempts = 20;

/** The run that has the lease of a table; empty without one. */
const ownerOf = async (name: string): Promise<string> => {
  const connection = await connect(join(directory, "_lakehead"));
  const rows = await (await connection.openTable("maintenance")).query().toArray();
  connection.close();
  return rows.find(({ table }) => table === name)?.owner ?? "";
};

/** A run that was stopped, not ended, while it had the lease of a table: like a machine that hangs. */
const stopWithLease = async (): Promise<{ readonly name: string; readonly running: Running }> => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const name = `events-${attempt}`;
    await tables.make(name);
    const before = filesIn(record, "_versions");
    const running = tables.startRun([name], { LAKEHEAD_MAINTENANCE_LEASE_SECONDS: "15" });
    // The row is inserted and the lease taken; the first run also creates the record, whose latest version has a hint.
    const wanted = before === 0 ? 4 : before + 2;
    while (filesIn(record, "_versions") < wanted && running.ended() === null) await sleep(1);
    running.child.kill("SIGSTOP");
    if (running.ended() === null && (await ownerOf(name)) !== "") return { name, running };
    running.child.kill("SIGCONT");
    await running.exited();
  }
  throw new Error(`no run was stopped while it had a lease, of ${attempts}`);
};

describe("a run on a directory", () => {
  test("that is killed costs no row and no file", async () => {
    const made: string[] = [];
    const killAt = async (sign: string, [folder, isSeen]: Sign): Promise<void> => {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const name = `${sign}-${attempt}`;
        await tables.make(name);
        made.push(name);
        await sleep(shortHistoryMs);
        const before = filesIn(folder(name));
        const running = tables.startRun([name]);
        while (!isSeen(filesIn(folder(name)), before) && running.ended() === null) await sleep(1);
        running.child.kill("SIGKILL");
        if ((await running.exited()) === "SIGKILL") return;
      }
      throw new Error(`no run was killed at the sign ${sign}, of ${attempts}`);
    };
    for (const [sign, seen] of Object.entries(signs)) await killAt(sign, seen);
    await tables.expectOrder(Object.fromEntries(made.map((name) => [name, madeIds])));
  }, 300_000);

  test("keeps its lease until it ends, and the run that takes it over says whose it was", async () => {
    const { name, running } = await stopWithLease();
    try {
      const early = await tables.run([name]);
      expect(["left", "in order"]).toContain(outcomeOf(early, name).outcome);
      await sleep(15_200);
      await (await tables.open(name)).add(rowsFrom(madeIds.length, 1));
      const late = await tables.run([name]);
      expect(outcomeOf(late, name)).toMatchObject({ outcome: "done", takenOver: expect.stringContaining("/") });
    } finally {
      running.child.kill("SIGCONT");
    }
    await running.exited();
    expect(await idsOf(await tables.open(name))).toEqual([...madeIds, madeIds.length]);
  }, 180_000);
});

maintenanceBesideWriters(() => inDirectory(directory), 40);
