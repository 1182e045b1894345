import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Table } from "@lancedb/lancedb";
import { describe, expect, test } from "vitest";
import { type FinishedRun, idsOf, rowsFrom } from "../service/maintenance/support.ts";
import { testToken } from "../support/request.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { environmentOf, type MaintainedPlace, MaintainedTables, madeIds } from "./maintained-tables.ts";
import { serve, withLongTimeouts } from "./place.ts";

const table = "written-and-maintained";
/** Of the tag, while the table has it. */
const tagged = "live";

/**
 * How long a version is kept after it was replaced. A file of a write that still runs must not be deleted, so no write takes
 * longer.
 */
const keptMs = 16_000;
const writeSeconds = keptMs / 2000;

const updatedId = madeIds.length - 1;

/** Sends a write until it is committed, as a client may that can send it twice. @returns false if its outcome is unknown. */
const commit = async (write: () => Promise<unknown>): Promise<boolean> => {
  for (;;)
    try {
      await write();
      return true;
    } catch (error) {
      if (/the outcome of the write is unknown/.test(String(error))) return false;
      if (!/ 409 /.test(String(error))) throw error;
    }
};

const remote = async ({ base }: ServiceProcess): Promise<Table> =>
  (await connect("db://any", { apiKey: testToken, hostOverride: base })).openTable(table);

/**
 * Runs on a table that writers on two replicas of the service change and readers read.
 * @param pauseMs between two writes of a writer: each read reads all fragments, and moto serves some hundred requests per second.
 */
export const maintenanceBesideWriters = (place: () => MaintainedPlace, pauseMs: number): void => {
  const pause = () => sleep(pauseMs);
  const readersPause = () => sleep(2 * pauseMs);
  /** Writes of one writer, so that a slow store does not get slower and slower by them. */
  const maxWrites = Math.min(200, (2 * keptMs) / pauseMs);
  describe("the maintenance of a table beside writers on two replicas", () => {
    test("loses and doubles no row, fails no reader of a pinned version or tag, and leaves no file behind", async () => {
      const tables = await MaintainedTables.in(place());
      await tables.make(table);
      await (await (await tables.open(table)).tags()).create(tagged, await (await tables.open(table)).version());
      const environment = { LAKEHEAD_WRITES: "on", LAKEHEAD_WRITE_DEADLINE_SECONDS: String(writeSeconds) };
      const start = () => serve(withLongTimeouts(place()), environment);
      const replicas = await Promise.all([start(), start()]);
      try {
        await Promise.all(replicas.map((replica) => replica.ready()));
        const [one, two] = await Promise.all([remote(replicas[0]), remote(replicas[1])]);
        const state = { done: false, hasTag: true, updated: 0, deleted: 0 };
        const reads = { tag: 0, version: 0 };
        /** Ids of each writer, and those of which it does not know: on a slow machine, a write is ended at its deadline. */
        const appended: readonly [number[], number[]] = [[], []];
        const unknown: number[] = [];

        const append = async (writer: Table, own: number[], first: number): Promise<void> => {
          for (let id = first; !state.done && id < first + maxWrites; id++, await pause())
            ((await commit(() => writer.add(rowsFrom(id, 1)))) ? own : unknown).push(id);
        };
        const change = async (): Promise<void> => {
          for (; !state.done && state.deleted < maxWrites; await pause()) {
            const values = { label: `updated ${state.updated}` };
            while (!(await commit(() => one.update({ where: `id = ${updatedId}`, values })))) await pause();
            state.updated++;
            while (!(await commit(() => two.delete(`id = ${state.deleted}`)))) await pause();
            state.deleted++;
          }
        };
        const idsAt = async (version: string | number): Promise<readonly number[]> => {
          const pinned = await tables.open(table);
          await pinned.checkout(version);
          return idsOf(pinned);
        };
        const readTag = async (): Promise<void> => {
          for (; state.hasTag; await readersPause()) {
            expect(await idsAt(tagged)).toEqual(madeIds);
            reads.tag++;
          }
        };
        /** Reads the latest version again and again while later ones replace it. It is kept for `keptMs` from then on. */
        const readVersion = async (): Promise<void> => {
          while (!state.done) {
            const [version, openedAt] = [await (await tables.open(table)).version(), Date.now()];
            const isKept = () => Date.now() < openedAt + keptMs;
            const ids = await idsAt(version);
            for (; !state.done && Date.now() < openedAt + keptMs / 2; await readersPause()) {
              const again = await idsAt(version).catch((error: unknown) => {
                if (isKept()) throw new Error(`version ${version} after ${Date.now() - openedAt} ms`, { cause: error });
                return ids;
              });
              expect(again).toEqual(ids);
              reads.version++;
            }
          }
        };
        /** As long as the table has the tag, no version is deleted. Afterwards, versions are. */
        const maintain = async () => {
          const runs: FinishedRun[] = [];
          const rules = environmentOf(place(), { keptMs, leaseSeconds: 30 });
          const run = async () => runs.push(await tables.run([table], rules));
          for (let round = 0; round < 2; round++) {
            await sleep(500);
            await run();
          }
          state.hasTag = false;
          await reading;
          await (await (await tables.open(table)).tags()).delete(tagged);
          await sleep(Math.max(0, begun + keptMs + 1000 - Date.now()));
          for (let round = 0; round < 2; round++) await run();
          return runs;
        };

        const begun = Date.now();
        const reading = readTag();
        const ended = (): void => void Object.assign(state, { done: true, hasTag: false });
        const work = [
          append(one, appended[0], 10_000),
          append(two, appended[1], 20_000),
          change(),
          readVersion(),
          reading,
        ];
        const [runs] = await Promise.all([maintain().finally(ended), ...work]).finally(ended);
        for (const { code, output } of runs) expect(code, output).toBe(0);
        const deletedVersions = runs
          .flatMap(({ lines }) => lines)
          .reduce((sum, { versionsRemoved }) => sum + Number(versionsRemoved ?? 0), 0);
        const { updated, deleted } = state;
        const appends = appended.map(({ length }) => length);
        for (const count of [...appends, updated, deleted, reads.tag, reads.version, deletedVersions])
          expect(count).toBeGreaterThan(0);

        const latest = await tables.open(table);
        const [row] = await latest.query().where(`id = ${updatedId}`).toArray();
        expect(row.label).toBe(`updated ${updated - 1}`);
        const present = new Set(await idsOf(latest));
        const ids = [...madeIds.slice(deleted), ...appended.flat(), ...unknown.filter((id) => present.has(id))];
        await tables.expectOrder({ [table]: ids.toSorted((left, right) => left - right) });
      } finally {
        await Promise.all(replicas.map((replica) => replica.stop()));
        tables.close();
      }
    }, 400_000);
  });
};
