import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
const token = readFileSync("/tmp/c1/home/token", "utf8").trim();
const base = "http://127.0.0.1:18080";
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 760 }, colorScheme: process.argv[2] });
page.setDefaultTimeout(60000);
await page.goto(`${base}/console/#token=${token}`);
await page.getByRole("link", { name: "earthquakes" }).click();
await page.locator(".spark").first().waitFor();
for (const [v, t] of [[2, "loaded"], [5, "live"]]) {
  if (await page.locator(".flag", { hasText: t }).count()) continue;
  await page.getByRole("button", { name: `Tag version ${v}`, exact: true }).click();
  await page.getByLabel(`Name of the tag for version ${v}`, { exact: true }).fill(t);
  await page.getByRole("button", { name: "Create tag" }).click();
  await page.locator(".flag", { hasText: t }).waitFor();
}
await page.screenshot({ path: `/tmp/c1/shots/final-table-${process.argv[2]}.png` });
await page.getByRole("link", { name: "Query" }).first().click();
await page.getByLabel("Vector", { exact: true }).fill("[0.2, 0.2, 0.3, 0.4, 0.8, 0.8, 0.3, 0.5]");
await page.getByLabel("Filter", { exact: true }).fill("magnitude > 4");
await page.getByLabel("Filter before the search").check();
await page.getByLabel("Columns").fill("place, magnitude");
await page.getByRole("button", { name: "Analyze", exact: true }).click();
await page.getByRole("treeitem").first().waitFor();
await page.getByRole("treeitem").filter({ hasText: /ANNSubIndex/ }).first().click();
await page.waitForTimeout(500);
await page.screenshot({ path: `/tmp/c1/shots/final-query-${process.argv[2]}.png` });
await browser.close();
