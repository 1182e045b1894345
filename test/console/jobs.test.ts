import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { MaintenanceRecord } from "../../service/lance/maintenance/maintenance-record.ts";
import { asRows, plainStream } from "../service/writes/support.ts";
import { staticToken } from "../support/static-token.ts";
import { expectAccessible, useConsole } from "./browser.ts";

const readerToken = "token-that-reads";

let directory = "";
const { open, service } = useConsole(async () => {
  directory = await mkdtemp(join(tmpdir(), "lakehead-jobs-"));
  return {
    tokens: [staticToken("reader", readerToken, ["read", "stats"])],
    environment: { LAKEHEAD_DATABASE: directory, LAKEHEAD_WRITES: "on", LAKEHEAD_STABLE_ROW_IDS: "on" },
  };
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const makeTable = async (name: string): Promise<void> => {
  expect((await service().call("create", name, undefined, asRows(plainStream([1, 2, 3])))).status).toBe(200);
};
/** A job starts a worker process and takes a lease. */
const ended = { timeout: 60_000 };
const send = (page: Page) => button(page, "Send").click();

test("a computed column is added and refreshed behind the exact requests, and its job is kept over a reload", async () => {
  await makeTable("numbers");
  const { page, problems } = await open("/table/numbers");
  await page.getByText("Add a computed column").click();
  await page.getByLabel("Name of the column").fill("double");
  await page.getByLabel("SQL expression").fill("id * 2");
  await button(page, "Add the computed column").click();
  await page.getByText('{"new_columns":[{"name":"double","computed":"id * 2"}]}').waitFor();
  await send(page);
  await button(page, "Refresh double").click();
  await page.getByText('POST /v1/table/numbers/backfill_column\n{"column":"double"}').waitFor();
  await send(page);
  await page.getByRole("link", { name: "look at it" }).click();
  await page.getByText(/refresh_column, done/).waitFor(ended);
  await page.getByRole("region", { name: "Events" }).getByText("claim_complete").waitFor();
  await page.getByText("rows assigned").waitFor();
  await expectAccessible(page);
  await page.reload();
  await page.getByText(/refresh_column, done/).waitFor();
  expect((await service().call("count_rows", "numbers", { predicate: "double = id * 2" })).body).toBe(3);
  expect(problems).toEqual([]);
});

test("a view shows its source, and is refreshed", async () => {
  await makeTable("source");
  const created = await service().ask("/v1/materialized_view/large/create", {
    query: "SELECT id FROM source WHERE id > 1",
    with_no_data: true,
  });
  expect(created.status).toBe(200);
  const { page, problems } = await open("/table/large");
  await page.getByText("where id > 1").waitFor();
  await button(page, "Refresh the view large").click();
  await page.getByText("POST /v1/materialized_view/large/refresh\n{}").waitFor();
  await send(page);
  await page.getByRole("link", { name: "look at it" }).click();
  await page.getByText("rebuild").waitFor(ended);
  expect(problems).toEqual([]);
});

test("a job in progress is cancelled, and others see nothing of it", async () => {
  await makeTable("held");
  await service().call("add_columns", "held", { new_columns: [{ name: "double", computed: "id * 2" }] });
  const record = new MaintenanceRecord({ uri: directory, storageOptions: {} }, { indexBytes: 0, metadataBytes: 0 });
  expect(await record.acquire("held", "a run", 600_000)).toBe(true);
  await record.close();
  const id = (await service().call("backfill_column", "held", { column: "double" })).body.job_id;
  const { page } = await open("/jobs");
  await page
    .getByRole("row", { name: /held in progress/ })
    .getByRole("link", { name: "refresh_column" })
    .click();
  await page.getByText("waits for the maintenance").waitFor();
  await button(page, "Cancel the job").click();
  await page.getByText(/refresh_column, cancelled/).waitFor();
  await expectAccessible(page);
  const other = await open(`/jobs/${id}`, readerToken);
  await other.page.getByText("There is no job of yours").waitFor();
  await other.page.getByText("job not found").waitFor();
});
