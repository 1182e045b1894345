import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tableFromIPC } from "apache-arrow";
import { parquetReadObjects } from "hyparquet";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeTables } from "../../tools/lance-tables.ts";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { expectAccessible, launch, openPage, signIn } from "./browser.ts";

const rowCount = 20_000;

let browser: Browser;
let service: ServiceProcess;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-browse-"));
  await writeTables(join(home, "data"), [
    {
      namespace: [],
      name: "parts",
      columns: { id: "integer", name: "text", price: "number", vector: { vector: 4 } },
      batches: [
        Array.from({ length: rowCount }, (_, id) => ({
          id: BigInt(id),
          name: id === 7 ? 'a "quoted", name' : id === 8 ? "" : id === 9 ? null : `part ${id}`,
          price: (id * 7919) % rowCount,
          vector: [id, 1, 2, 3],
        })),
      ],
      indices: [],
    },
  ]);
  [browser, service] = await Promise.all([
    launch(),
    startReadyServiceProcess({ copyOf: join(home, "data"), environment: { LAKEHEAD_CONSOLE: "on" } }),
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

const rows = (page: Page) => page.getByRole("region", { name: "Rows" });
const firstName = (page: Page) => rows(page).locator("tbody tr").first().locator("td").nth(2);
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

describe("the rows of a table", () => {
  test("come first, and are turned by pages to the last one", async () => {
    const { page, problems } = await open("/table/parts");
    await page.getByText("Rows 1 to 50 of 20,000").waitFor();
    expect(await page.getByRole("heading", { level: 2 }).first().textContent()).toBe("Rows");
    expect(await button(page, "Previous").isDisabled()).toBe(true);
    await button(page, "Next").click();
    await page.getByText("Rows 51 to 100 of 20,000").waitFor();
    expect(await firstName(page).textContent()).toBe("part 50");
    await button(page, "Last").click();
    await page.getByText("Rows 19,951 to 20,000 of 20,000").waitFor();
    expect(await button(page, "Next").isDisabled()).toBe(true);
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test("are filtered and sorted, and the address keeps both over a reload and Back", async () => {
    const { page, problems } = await open("/table/parts");
    await page.getByLabel("Filter rows").fill("price < 100");
    await page.keyboard.press("Enter");
    await page.getByText("Rows 1 to 50 of 100").waitFor();
    await rows(page).getByRole("button", { name: "price" }).click();
    await rows(page).getByRole("button", { name: "price" }).click();
    const price = rows(page).locator("tbody tr").first().locator("td").nth(3);
    await expect.poll(() => price.textContent()).toBe("99");
    await page.reload();
    await page.getByText("Rows 1 to 50 of 100").waitFor();
    expect(await price.textContent()).toBe("99");
    expect(await rows(page).locator("th[aria-sort=descending]").textContent()).toContain("price");
    await page.goBack();
    await expect.poll(() => price.textContent()).toBe("0");
    expect(problems).toEqual([]);
  });

  test("stay when a filter is refused, and the reason stands below", async () => {
    const { page } = await open("/table/parts");
    await page.getByText("Rows 1 to 50 of 20,000").waitFor();
    await page.getByLabel("Filter rows").fill("repeat('a', 5) = name");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("the function repeat is not allowed").waitFor();
    expect(await firstName(page).textContent()).toBe("part 0");
  });

  test("have the columns that the reader chose, and no other is fetched", async () => {
    const { page, problems } = await open("/table/parts");
    await page.getByText("Columns: 4 of 4").click();
    await page.getByLabel("vector", { exact: true }).uncheck();
    await rows(page).getByRole("columnheader", { name: "vector" }).waitFor({ state: "detached" });
    const sent = page.waitForRequest(/\/query$/);
    await button(page, "Next").click();
    expect((await sent).postDataJSON()).toMatchObject({ columns: ["id", "name", "price"], offset: 50, k: 50 });
    expect(problems).toEqual([]);
  });

  test("open one by one, and a vector of one finds the rows that are similar", async () => {
    const { page, problems } = await open("/table/parts");
    await button(page, "Open: row 5").click();
    const drawer = page.getByRole("dialog", { name: "Row 5" });
    await drawer.getByText("part 4").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    await button(page, "Open: row 5").click();
    await drawer.getByRole("button", { name: "Find similar" }).click();
    await page.getByText("10 rows").waitFor();
    expect(await rows(page).locator("tbody tr").first().textContent()).toContain("part 4");
    // A run that a view asked for is not in the address: a link runs nothing.
    const [requests, other] = [[] as string[], await openPage(browser)];
    other.page.on("request", (request) => requests.push(request.url()));
    await signIn(
      other.page,
      service.base,
      testToken,
      new URL(page.url()).hash.slice(1).replace(/^\/query\/parts\/[^?]+/, "/query/parts"),
    );
    await other.page.getByText("Analyze runs the query").waitFor();
    expect(requests.filter((url) => url.endsWith("/query"))).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("are exported as CSV, Parquet and Arrow, as they are filtered", async () => {
    const { page, problems } = await open(
      `/table/parts?${new URLSearchParams({ filter: "id >= 7 AND id < 10", hidden: '["vector"]' })}`,
    );
    await page.getByText("Rows 1 to 3 of 3").waitFor();
    const save = async (name: string): Promise<Buffer> => {
      const [file] = await Promise.all([page.waitForEvent("download"), button(page, name).click()]);
      expect(file.suggestedFilename()).toMatch(/^parts\.(csv|parquet|arrow)$/);
      return readFile(await file.path());
    };
    expect(String(await save("Export CSV"))).toBe(
      ["id,name,price", '7,"a ""quoted"", name",15433', '8,"",3352', "9,,11271", ""].join("\r\n"),
    );
    const parquet = await save("Export Parquet");
    expect(await parquetReadObjects({ file: new Uint8Array(parquet).buffer })).toHaveLength(3);
    const table = tableFromIPC(await save("Export Arrow"));
    expect([table.schema.names, table.numRows]).toEqual([["id", "name", "price"], 3]);
    expect(problems).toEqual([]);
  });

  test("are drawn where one looks: 20,000 of them are few elements, and the last is reached by scrolling", async () => {
    const { page, problems } = await open("/query/parts");
    await page.getByLabel("k (rows)").fill(String(rowCount));
    await button(page, "Rows").click();
    await page.getByText("20,000 rows", { exact: true }).waitFor();
    expect(await rows(page).locator("tbody tr").count()).toBeLessThan(150);
    await rows(page).evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await rows(page)
      .getByText(`part ${rowCount - 1}`, { exact: true })
      .waitFor();
    expect(
      await rows(page)
        .locator(`tr[aria-rowindex="${rowCount + 1}"]`)
        .count(),
    ).toBe(1);
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });
});
