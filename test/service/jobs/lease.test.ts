import { tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MaintenanceRecord } from "../../../service/lance/maintenance/maintenance-record.ts";
import { underLease } from "../../../service/lance/maintenance/table-lease.ts";
import { useService } from "../../support/service.ts";
import { asRows, plainStream, writesOn } from "../writes/support.ts";

const rules = JSON.stringify([{ tables: ["**"] }]);
const service = useService({ environment: { ...writesOn, LAKEHEAD_MAINTENANCE: rules } });
let record: MaintenanceRecord;
beforeAll(() => {
  record = new MaintenanceRecord({ uri: service.directory, storageOptions: {} }, { indexBytes: 0, metadataBytes: 0 });
});
afterAll(() => record.close());

const makeTable = async (name: string): Promise<string> => {
  expect((await service.call("create", name, undefined, asRows(plainStream([1])))).status).toBe(200);
  const added = await service.call("add_columns", name, { new_columns: [{ name: "double", computed: "id * 2" }] });
  expect(added.status).toBe(200);
  return name;
};
const refresh = async (table: string): Promise<string> =>
  (await service.call("backfill_column", table, { column: "double" })).body.job_id;
const stateOf = async (id: string): Promise<string> =>
  (await service.ask("/v1/jobs/describe", { job_id: id })).body.job_state;
const stepsOf = async (id: string): Promise<unknown[]> => [
  ...(tableFromIPC((await service.ask("/v1/jobs/query_events", { job_id: id })).body).getChild("state") ?? []),
];

describe("the lease of a table", () => {
  test("lets a job wait for its maintenance, while jobs on other tables run", async () => {
    const [busy, other] = [await makeTable("busy"), await makeTable("other")];
    expect(await record.acquire(busy, "a run", 600_000)).toBe(true);
    // As many as run at once.
    const waiting = [await refresh(busy), await refresh(busy)];
    const free = await refresh(other);
    await expect.poll(() => stateOf(free), { timeout: 20_000 }).toBe("DONE");
    await expect.poll(() => stepsOf(waiting[1] ?? ""), { timeout: 20_000 }).toEqual(["IN_PROGRESS", "waiting"]);
    expect(await Promise.all(waiting.map(stateOf))).toEqual(["IN_PROGRESS", "IN_PROGRESS"]);
    await record.giveBack(busy, "a run");
    for (const id of waiting) await expect.poll(() => stateOf(id), { timeout: 20_000 }).toBe("DONE");
    expect(await stepsOf(waiting[0] ?? "")).toEqual(["IN_PROGRESS", "waiting", "claim", "claim_complete", "DONE"]);
  });

  test("lets a job that waits be cancelled", async () => {
    const table = await makeTable("cancelled");
    expect(await record.acquire(table, "a run", 600_000)).toBe(true);
    const id = await refresh(table);
    await expect.poll(() => stepsOf(id), { timeout: 20_000 }).toContain("waiting");
    await service.ask("/v1/jobs/cancel", { job_id: id });
    await expect.poll(() => stateOf(id), { timeout: 20_000 }).toBe("CANCELLED");
  });

  test("refuses the maintenance while a job works, is renewed, and is free after it", async () => {
    const table = await makeTable("worked");
    const hold = underLease(record, 1000);
    await hold(table, "job/one", async () => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const { status, body } = await service.call("maintain", table);
      expect([status, body.error]).toEqual([409, expect.stringContaining("job/one")]);
      expect(await hold(table, "job/two", async () => 1)).toBeUndefined();
      // A job that was taken over by another process goes on at once.
      expect(await record.acquire(table, "job/one", 1000)).toBe(true);
    });
    expect((await service.call("maintain", table)).status).toBe(200);
  });
});
