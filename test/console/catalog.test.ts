import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { branchRows } from "../../tools/parts/database.ts";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { expectAccessible, launch, openPage, signIn } from "./browser.ts";

let browser: Browser;
let service: ServiceProcess;
beforeAll(async () => {
  [browser, service] = await Promise.all([
    launch(),
    startReadyServiceProcess({
      copyOf: inject("tables"),
      environment: { LAKEHEAD_CONSOLE: "on", LAKEHEAD_WRITES: "on" },
    }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

const open = async (view: string, prepare?: (page: Page) => Promise<unknown>) => {
  const watched = await openPage(browser);
  await prepare?.(watched.page);
  await signIn(watched.page, service.base, testToken, view);
  return watched;
};

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

describe("the list of tables", () => {
  test("has rows, size and coverage of each", async () => {
    const { page, problems } = await open("/tables");
    const row = page.locator('tr[data-table="docs"], tr[data-table="prod$vectors$docs"]').first();
    await row.getByText("1,020", { exact: true }).waitFor();
    await row.getByText(/^\d+%$/).waitFor();
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test("of a thousand is read by pages, all of them, and asks for the facts of one page only", async () => {
    const names = Array.from({ length: 1000 }, (_, at) => `table${String(at).padStart(3, "0")}`);
    const asked = new Set<string>();
    const { page, problems } = await open("/tables", async (page) => {
      await page.route("**/v1/table?*", (route) => route.fulfill({ json: { tables: names } }));
      await page.route("**/stats", (route) => {
        asked.add(route.request().url());
        return route.fulfill({ status: 404, json: { error: "gone", code: 4 } });
      });
    });
    await page.getByText("1000 tables").waitFor();
    const shown = page.locator("tr[data-table]");
    expect(await shown.count()).toBe(25);
    await expect.poll(() => asked.size).toBe(25);
    for (let turn = 0; turn < 39; turn++) await button(page, "Next").click();
    await page.getByText("Page 40 of 40").waitFor();
    expect(await shown.last().locator("a").textContent()).toBe("table999");
    expect(await button(page, "Next").isDisabled()).toBe(true);
    await page.getByLabel("Filter tables by name").fill("table00");
    await page.getByText("10 of 1000 tables").waitFor();
    expect(await shown.count()).toBe(10);
    expect(problems).toEqual([]);
  });
});

describe("5,001 versions with 200 tags", () => {
  const versions = Array.from({ length: 5001 }, (_, at) => ({
    version: at + 1,
    timestamp_millis: 1_700_000_000_000 + at * 60_000,
    metadata: { total_rows: String(at * 10), total_fragments: String(at + 1) },
  }));
  const tags = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`release-${at}`, { version: at * 25 + 1 }]));
  const openMany = () =>
    open("/table/plain", async (page) => {
      await page.route("**/version/list", (route) => route.fulfill({ json: { versions } }));
      await page.route("**/tags/list", (route) => route.fulfill({ json: { tags } }));
    });

  test("are a time line of a few hundred lines, and a list by pages that says what changed", async () => {
    const { page, problems } = await openMany();
    await page.getByText("Versions 4952 to 5001 of 5,001").waitFor();
    expect(await page.locator(".timeline line").count()).toBeLessThan(600);
    const versionRows = page.getByRole("region", { name: "List of versions" }).getByRole("row");
    expect(await versionRows.nth(1).textContent()).toContain("+10 rows, +1 fragments");
    await button(page, "Older versions").click();
    await page.getByText("Versions 4902 to 4951 of 5,001").waitFor();
    expect(await versionRows.nth(50).textContent()).toContain("+10 rows");
    const boxes = await page
      .locator(".flag")
      .evaluateAll((flags) =>
        flags.map((flag) => flag.getBoundingClientRect()).map(({ left, right }) => ({ left, right })),
      );
    expect(boxes.length).toBeGreaterThan(3);
    for (const [at, { left }] of boxes.entries())
      if (at > 0) expect(left).toBeGreaterThanOrEqual(boxes[at - 1]?.right ?? 0);
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test("have each tag in one list, where a tag of any version is moved", async () => {
    const { page, problems } = await openMany();
    await page.getByText("All tags: 200").click();
    await page.getByLabel("Filter tags by name").fill("release-17");
    const list = page.getByRole("region", { name: "All tags" });
    await expect.poll(() => list.locator("tbody tr").count()).toBe(11);
    await page.route("**/tags/update", (route) => route.fulfill({ json: {} }));
    const sent = page.waitForRequest("**/tags/update");
    await page.getByLabel("New version of the tag release-17", { exact: true }).fill("4711");
    await button(page, "Move the tag release-17").click();
    expect((await sent).postDataJSON()).toEqual({ tag: "release-17", version: 4711 });
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });
});

test("a branch is chosen, its rows and versions are shown, and the address keeps it", async () => {
  const { page, problems } = await open("/table/docs");
  await page.getByText("Rows 1 to 50 of 1,020").waitFor();
  await page.getByLabel("Branch").selectOption("experiment");
  await page.getByText(`Rows 1 to 50 of ${branchRows}`).waitFor();
  await page.reload();
  await page.getByText(`Rows 1 to 50 of ${branchRows}`).waitFor();
  expect(await page.getByLabel("Branch").inputValue()).toBe("experiment");
  await page.getByRole("main").getByRole("link", { name: "Query" }).click();
  await button(page, "Analyze").waitFor();
  expect(page.url()).toContain("branch=experiment");
  expect(problems).toEqual([]);
});

test("an index is created and dropped, each after its request was shown", async () => {
  const { page, problems } = await open("/table/plain");
  const indices = page.getByRole("region", { name: "List of indices" });
  await page.getByText("Create an index", { exact: true }).click();
  await page.getByLabel("Index column").selectOption("id");
  await page.getByLabel("Index type").selectOption("BITMAP");
  await page.getByLabel("Index name").fill("by_id");
  await expectAccessible(page);
  await button(page, "Create the index").click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.locator("pre").textContent()).toBe(
    'POST /v1/table/plain/create_scalar_index\n{"column":"id","index_type":"BITMAP","name":"by_id"}',
  );
  await button(page, "Send").click();
  await indices.getByRole("row", { name: /^by_id.*BITMAP.*100%/i }).waitFor();
  await button(page, "Drop the index by_id").click();
  expect(await dialog.locator("pre").textContent()).toBe("POST /v1/table/plain/index/by_id/drop\n{}");
  await button(page, "Send").click();
  await indices.getByText("by_id").waitFor({ state: "detached" });
  expect((await service.call("index/list", "plain")).body).toEqual({ indexes: [] });
  expect(problems).toEqual([]);
});
