import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MaintenanceRecord } from "../../../service/lance/maintenance/maintenance-record.ts";
import { startObjectStore } from "../../support/object-store.ts";
import { Bucket } from "../../support/object-store-content.ts";
import { respond } from "../../support/object-store-protocol.ts";
import { startReadyServiceProcess } from "../../support/service-process.ts";

const caches = { indexBytes: 2 ** 20, metadataBytes: 2 ** 20 };
const leaseMs = 1000;

let directory: string;
let now: number;
const open: MaintenanceRecord[] = [];
/** The record as another run opens it, with a clock of the test. */
const record = (): MaintenanceRecord => {
  const made = new MaintenanceRecord({ uri: directory, storageOptions: {} }, caches, () => now);
  open.push(made);
  return made;
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lakehead-maintenance-record-"));
  now = 1e12;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  await rm(directory, { recursive: true, force: true });
});

const outcome = { dueSince: 5, finishedAt: 7, exhaustedAt: 9, note: "it's left" };

describe("a lease", () => {
  test("is held by one run, for one table", async () => {
    const [one, two] = [record(), record()];
    expect(await one.acquire("events", "a", leaseMs)).toBe(true);
    expect(await two.acquire("events", "b", leaseMs)).toBe(false);
    expect(await two.acquire("other", "b", leaseMs)).toBe(true);
  });

  test("is taken by one of many runs that want it at once", async () => {
    await record().acquire("events", "first", leaseMs);
    now += leaseMs + 1;
    const taken = await Promise.all(["a", "b", "c", "d"].map((owner) => record().acquire("events", owner, leaseMs)));
    expect(taken.filter(Boolean)).toHaveLength(1);
  }, 60_000);

  test("can be taken by a run that begins together with others on a database without a record", async () => {
    const taken = await Promise.all(["a", "b", "c"].map((owner) => record().acquire("events", owner, leaseMs)));
    expect(taken.filter(Boolean)).toHaveLength(1);
  }, 60_000);

  test("is taken although another run creates the record anew meanwhile", async () => {
    const inner = respond(new Bucket());
    let isOvertaken = false;
    const overtake = async (): Promise<void> => {
      isOvertaken = true;
      const options = { storageOptions: { ...store.storageOptions } };
      const connection = await connect(`${store.uri}/_lakehead`, options);
      const table = await connection.openTable("maintenance");
      await connection.createEmptyTable("maintenance", await table.schema(), { mode: "overwrite" });
      connection.close();
    };
    const store = await startObjectStore({
      behind: async (ask) => {
        // The second version has the row, which the creation removes.
        if (!isOvertaken && ask.method === "PUT" && ask.key.endsWith(`${2n ** 64n - 1n - 2n}.manifest`))
          await overtake();
        return inner(ask);
      },
    });
    try {
      const one = new MaintenanceRecord({ uri: store.uri, storageOptions: store.storageOptions }, caches, () => now);
      open.push(one);
      expect(await one.acquire("events", "a", leaseMs)).toBe(true);
      expect(isOvertaken).toBe(true);
      expect((await one.rows()).get("events")).toMatchObject({ owner: "a" });
    } finally {
      await store.close();
    }
  });

  test("that is renewed stays, and one that is not is taken over; its owner then learns that it is lost", async () => {
    const [one, two] = [record(), record()];
    await one.acquire("events", "a", leaseMs);
    now += leaseMs - 1;
    expect(await one.renew("events", "a", leaseMs)).toBe(true);
    now += leaseMs - 1;
    expect(await two.acquire("events", "b", leaseMs)).toBe(false);
    now += 2;
    expect(await two.acquire("events", "b", leaseMs)).toBe(true);
    expect(await one.renew("events", "a", leaseMs)).toBe(false);
    expect(await one.release("events", "a", outcome)).toBe(false);
    expect((await two.rows()).get("events")).toMatchObject({ owner: "b", note: "" });
  });

  test("that ends keeps what the run found, also for a name with quotes", async () => {
    const one = record();
    await one.acquire("it's$a", "a", leaseMs);
    expect(await one.release("it's$a", "a", outcome)).toBe(true);
    expect((await record().rows()).get("it's$a")).toEqual({ table: "it's$a", owner: "", expiresAt: 0, ...outcome });
    expect(await record().acquire("it's$a", "b", leaseMs)).toBe(true);
  });
});

test("the record compacts itself, and keeps its rows", async () => {
  now = Date.now();
  const one = record();
  for (let round = 0; round < 20; round++) {
    await one.acquire("events", `run ${round}`, leaseMs);
    await one.renew("events", `run ${round}`, leaseMs);
    await one.release("events", `run ${round}`, { ...outcome, finishedAt: round });
  }
  // An hour later, its versions are older than any call.
  now += 2 * 3_600_000;
  await one.compact();
  expect((await record().rows()).get("events")).toMatchObject({ finishedAt: 19 });
  expect(await record().acquire("events", "next", leaseMs)).toBe(true);
}, 60_000);

test("the service reports tables that stay due, and for how long", async () => {
  const one = record();
  await one.acquire("events", "a", leaseMs);
  await one.release("events", "a", { ...outcome, dueSince: Date.now() - 7_200_000 });
  await one.acquire("calm", "a", leaseMs);
  await one.release("calm", "a", { ...outcome, dueSince: 0 });
  const service = await startReadyServiceProcess({
    environment: { LAKEHEAD_DATABASE: directory, LAKEHEAD_WRITES: "on" },
  });
  try {
    await vi.waitFor(
      async () => {
        const text = await (await fetch(`${service.operationsBase}/metrics`)).text();
        expect(text).toMatch(/^lakehead_maintenance_due_tables 1$/m);
        const seconds = Number(/^lakehead_maintenance_due_seconds (\S+)$/m.exec(text)?.[1]);
        expect(seconds).toBeGreaterThanOrEqual(7200);
        expect(seconds).toBeLessThan(7300);
      },
      { timeout: 20_000, interval: 200 },
    );
    // The record is no table of the service.
    const { body } = await service.ask("/v1/namespace/$/table/list?delimiter=$");
    expect(JSON.stringify(body)).not.toContain("maintenance");
  } finally {
    await service.stop();
  }
}, 60_000);
