import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { quickstartTables } from "../../service/quickstart/dataset.ts";
import { writeTables } from "../../tools/lance-tables.ts";
import { Workplace } from "../acceptance/workplace.ts";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { expectAccessible, launch, openPage, signIn } from "./browser.ts";

let browser: Browser;
let service: ServiceProcess;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-quickstart-"));
  await writeTables(join(home, "data"), await quickstartTables());
  [browser, service] = await Promise.all([
    launch(),
    startReadyServiceProcess({
      copyOf: join(home, "data"),
      environment: { LAKEHEAD_CONSOLE: "on", LAKEHEAD_WRITES: "on" },
    }),
  ]);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await rm(home, { recursive: true, force: true });
});

const open = async (view: string) => {
  const watched = await openPage(browser);
  await signIn(watched.page, service.base, testToken, view);
  return watched;
};

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const finding = (page: Page, title: string) => page.locator("details.finding", { hasText: title }).first();

/** The first finding is open already. */
const openFinding = async (page: Page, title: string): Promise<void> => {
  await finding(page, title).waitFor();
  if ((await finding(page, title).getAttribute("open")) === null)
    await finding(page, title).locator("summary").first().click();
};

test("one click leads from a table of the quick start to a finding, one to its fix, one to the comparison", async () => {
  const { page, problems } = await open("/query/readings");
  await button(page, "Find a value").waitFor();
  await expectAccessible(page);
  await button(page, "Find a value").click();
  await openFinding(page, "A scalar index would answer the filter");
  await page.getByRole("button", { name: "Apply the fix: A scalar index would answer the filter" }).click();
  await button(page, "Send").click();
  await button(page, "Analyze again and compare").click();
  await page.getByRole("heading", { name: "Comparison" }).waitFor();
  await page.getByText("ScalarIndexQuery").first().waitFor();
  expect(problems).toEqual([]);
});

test("from npm start to the first finding it is three clicks; the output says how many seconds", async () => {
  const workplace = new Workplace();
  await workplace.open();
  try {
    const from = performance.now();
    const seconds = (): string => ((performance.now() - from) / 1000).toFixed(1);
    const [address] = await workplace.start().printed(/http:\S+\/console\/#token=\S+/);
    const printed = seconds();
    const { page, problems } = await openPage(browser);
    await page.goto(address);
    const clicks: string[] = [];
    const click = async (role: "link" | "button", name: string): Promise<void> => {
      await page.getByRole(role, { name, exact: true }).first().click();
      clicks.push(name);
    };
    await click("link", "readings");
    await click("link", "Query");
    await click("button", "Find a value");
    await finding(page, "A scalar index would answer the filter").waitFor();
    process.stdout.write(
      `first finding: ${clicks.length} clicks (${clicks.join(", ")}), ${seconds()} s after npm start, which printed its address after ${printed} s\n`,
    );
    expect([clicks.length, problems]).toEqual([3, []]);
  } finally {
    await workplace.close();
  }
});

test("each example of the table has a finding", async () => {
  const { page, problems } = await open("/query/readings");
  for (const [name, title] of [
    ["Search for a vector", "not cover"],
    ["Re-rank many rows", "refine_factor"],
    ["Read all columns", "fragments"],
  ] as const) {
    await page.goto(`${service.base}/console/#/query/readings`);
    await button(page, name).click();
    await finding(page, title).waitFor();
  }
  expect(problems).toEqual([]);
});

test("a finding about the query fills the form, runs the better query, and compares both", async () => {
  const { page, problems } = await open("/query/readings");
  await button(page, "Re-rank many rows").click();
  await openFinding(page, "refine_factor");
  await finding(page, "refine_factor").getByRole("button", { name: "Use this query" }).click();
  await page.getByRole("heading", { name: "Comparison" }).waitFor();
  await page.goBack();
  await page.getByText(/^analyze,/).waitFor();
  await page.getByText("Index", { exact: true }).waitFor();
  await expect.poll(() => page.getByLabel("Refine factor").inputValue()).toBe("10");
  expect(JSON.parse(await page.getByLabel("Vector", { exact: true }).inputValue())).toHaveLength(32);
  expect(problems).toEqual([]);
});

test("the maintenance of a table of the quick start is due", async () => {
  const { page } = await open("/maintenance");
  await page
    .getByRole("row", { name: /^readings/ })
    .getByText("fragments of fewer than 100,000 rows")
    .waitFor();
});
