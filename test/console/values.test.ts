import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import { Binary, Field, FixedSizeList, Float16, Float32, Int64, Schema, Utf8 } from "apache-arrow";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { launch, openPage, signIn } from "./browser.ts";
import { picture } from "./picture.ts";

const svg = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='owned'"></svg>${" ".repeat(99)}`,
);

let browser: Browser;
let service: ServiceProcess;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-values-"));
  const connection = await connect(join(home, "data"));
  const schema = new Schema([
    new Field("id", new Int64(), true),
    new Field("name", new Utf8(), true),
    new Field("photo", new Binary(), true),
    new Field("clip", new Binary(), true),
    new Field("half", new FixedSizeList(4, new Field("item", new Float16(), true)), true),
    new Field("wide", new FixedSizeList(4096, new Field("item", new Float32(), true)), true),
  ]);
  const photos = [picture(800, 900), Buffer.concat([picture(1, 1).subarray(0, 30), Buffer.alloc(200_000)]), svg, null];
  const rows = photos.map((photo, id) => ({
    id: 2n ** 53n + 1n + BigInt(id),
    name: `row ${id}`,
    photo,
    clip: Buffer.alloc(300_000),
    half: [0.5, -1.5, 2, 0.25],
    wide: Array.from({ length: 4096 }, (_, at) => at / 4096),
  }));
  await connection.createTable("photos", rows, { schema });
  connection.close();
  [browser, service] = await Promise.all([
    launch(),
    startReadyServiceProcess({ copyOf: join(home, "data"), environment: { LAKEHEAD_CONSOLE: "on" } }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await rm(home, { recursive: true, force: true });
});

const rowsRegion = (page: Page) => page.getByRole("region", { name: "Rows" });

test("a table of photos opens without its wide columns, and shows each value at a click", async () => {
  const { page, problems } = await openPage(browser);
  let largest = 0;
  page.on("response", async (response) => {
    if (response.url().endsWith("/query")) largest = Math.max(largest, (await response.body().catch(() => "")).length);
  });
  await signIn(page, service.base, testToken, "/table/photos");
  await rowsRegion(page).getByText("row 3").waitFor();
  await rowsRegion(page).getByText("9007199254740993").waitFor();
  expect(largest).toBeLessThan(10_000);

  await page.getByRole("button", { name: "Load photo of row 1", exact: true }).click();
  await rowsRegion(page).getByText("PNG 800×900, 2.16 MB").waitFor();
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await expect.poll(() => page.evaluate("document.querySelector('img.thumbnail').naturalWidth")).toBe(800);

  await page.getByRole("button", { name: "Load photo of row 3", exact: true }).click();
  await rowsRegion(page).getByText("bytes, 177 B").waitFor();
  await page.getByRole("button", { name: "Load clip of row 2", exact: true }).click();
  await rowsRegion(page).getByText("bytes, 300 kB").waitFor();
  await page.getByRole("button", { name: "Load wide of row 2", exact: true }).click();
  await rowsRegion(page).getByRole("img", { name: "4096 numbers" }).waitFor();
  expect(await page.locator("img").count()).toBe(1);
  expect(await page.title()).not.toBe("owned");
  expect(problems).toEqual([]);
});

test("an image with broken bytes is named, and the page stays", async () => {
  const { page } = await openPage(browser);
  await signIn(page, service.base, testToken, "/table/photos");
  await page.getByRole("button", { name: "Load photo of row 2", exact: true }).click();
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await rowsRegion(page).getByText("no valid PNG").waitFor();
  await rowsRegion(page).getByText("row 3").waitFor();
});

test("a query of all columns shows two megabytes of bytes as what they are", async () => {
  const { page, problems } = await openPage(browser);
  await signIn(page, service.base, testToken, "/query/photos");
  await page.getByRole("button", { name: "Rows", exact: true }).click();
  await page.getByText("PNG 800×900, 2.16 MB").waitFor();
  expect(problems).toEqual([]);
});

test("a vector of float16 is taken from a row as its numbers, and finds that row at distance zero", async () => {
  const { page, problems } = await openPage(browser);
  await signIn(page, service.base, testToken, "/query/photos");
  await page.locator("select").and(page.getByLabel("Vector column")).selectOption("half");
  await page.getByRole("button", { name: "From a row" }).click();
  await expect.poll(() => page.locator("#field-vector").inputValue()).toBe("[0.5,-1.5,2,0.25]");
  await page.getByLabel("Columns").fill("id, _distance");
  await page.getByRole("button", { name: "Rows", exact: true }).click();
  await page.getByRole("region", { name: "Rows" }).getByRole("cell", { name: "0", exact: true }).first().waitFor();
  expect(problems).toEqual([]);
});

test("the form filters before the search, as LanceDB's clients do, and says when a filter came after it", async () => {
  const { page } = await openPage(browser);
  await signIn(page, service.base, testToken, "/query/photos");
  const prefilter = page.getByLabel("Filter before the search");
  expect(await prefilter.isChecked()).toBe(true);
  await prefilter.uncheck();
  await page.locator("select").and(page.getByLabel("Vector column")).selectOption("half");
  await page.getByLabel("Vector", { exact: true }).fill("0.5, -1.5, 2, 0.25");
  await page.getByLabel("Filter", { exact: true }).fill("name = 'row 3'");
  await page.getByLabel("Columns").fill("id");
  await page.getByLabel("k (rows)").fill("3");
  await page.getByRole("button", { name: "Rows", exact: true }).click();
  await page.getByText(/^[01] of 3 rows: filtered after the search$/).waitFor();
  await page.getByLabel("Filter", { exact: true }).fill("nane = 'row 3'");
  await page.getByText("nane is no column: did you mean name?").waitFor();
});
