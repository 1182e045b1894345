import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";
import { expectAccessible, launch, openPage, signIn } from "./browser.ts";

const limited = staticToken("clerk", "token-of-a-clerk", ["tags:read"]);

let browser: Browser;
let service: ServiceProcess;
beforeAll(async () => {
  [browser, service] = await Promise.all([
    launch(),
    startReadyServiceProcess({ copyOf: inject("tables"), tokens: [limited], environment: { LAKEHEAD_CONSOLE: "on" } }),
  ]);
});
afterAll(async () => {
  await Promise.all([browser.close(), service.stop()]);
});

/** A signed-in page at a view. */
const open = async (view: string, token = testToken, theme: "light" | "dark" = "light") => {
  const watched = await openPage(browser, theme);
  await signIn(watched.page, service.base, token, view);
  return watched;
};

describe("sign-in with a token", () => {
  test("is refused with the reason for an unknown one, and keeps the view for a valid one", async () => {
    const { page } = await openPage(browser);
    await page.goto(`${service.base}/console/#/table/plain`);
    await expectAccessible(page);
    await page.getByLabel("Access token").fill("wrong");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("alert").getByText("The credentials are not valid").waitFor();
    await page.getByLabel("Access token").fill(testToken);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "plain", level: 1 }).waitFor();
  });

  test("lasts for the tab, is forgotten on sign-out, and never reaches local storage or the address", async () => {
    const { page } = await open("/tables");
    await page.reload();
    await page.getByRole("link", { name: "plain" }).waitFor();
    const kept = await page.evaluate("JSON.stringify([{ ...localStorage }, document.cookie, location.href])");
    expect(kept).not.toContain(testToken);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Access token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("by the address of npm start takes the token out of the address", async () => {
    const { page, problems } = await openPage(browser);
    await page.goto(`${service.base}/console/#token=${testToken}`);
    await page.getByRole("link", { name: "plain" }).waitFor();
    expect(page.url()).toBe(`${service.base}/console/#/tables`);
    expect(problems).toEqual([]);
  });
});

describe.each(["light", "dark"] as const)("in %s colours", (theme) => {
  test("tables are listed by namespace and filtered as one types", async () => {
    const { page, problems } = await open("/tables", testToken, theme);
    await page.getByRole("heading", { name: "prod / vectors" }).waitFor();
    await expectAccessible(page);
    await page.getByLabel("Filter tables by name").fill("PLA");
    await page.getByText("1 of 3 tables").waitFor();
    expect(await page.getByRole("main").getByRole("link").allTextContents()).toEqual(["plain"]);
    expect(problems).toEqual([]);
  });

  test("a table shows statistics, schema, coverage, versions and rows", async () => {
    const { page, problems } = await open("/table/docs", testToken, theme);
    await page.getByText("20 rows not indexed").first().waitFor();
    await page.getByText("fixed_size_list<float32, 16>").first().waitFor();
    await page.locator(".spark").first().waitFor();
    expect(await page.locator("dl.facts").first().textContent()).toContain("1,020");
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test("a query is analyzed, and its nodes are selected by mouse and keyboard", async () => {
    const { page, problems } = await open("/query/docs", testToken, theme);
    await page.getByRole("button", { name: "Random" }).click();
    await page.getByLabel("Filter", { exact: true }).fill("score > 3");
    await page.getByRole("button", { name: "Analyze", exact: true }).click();
    const tree = page.getByRole("tree", { name: "Plan" });
    await tree.waitFor();
    const nodes = await tree.getByRole("treeitem").count();
    expect(nodes).toBeGreaterThan(5);
    expect(await page.locator("table.grid tbody tr").count()).toBe(nodes);
    await tree.getByRole("treeitem").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const selected = page.locator('[role="treeitem"][aria-selected="true"]');
    expect(await selected.getAttribute("aria-level")).toBe("3");
    const id = await selected.getAttribute("data-node");
    expect(await page.locator('table.grid tr[aria-selected="true"]').getAttribute("data-row")).toBe(id);
    expect(await page.locator("mark").textContent()).toContain(await selected.locator("strong").textContent());
    await page.getByRole("button", { name: "Own" }).click();
    expect(await page.locator("th[aria-sort=descending]").textContent()).toContain("Own");
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test("two runs are compared, and nodes of one plan only are marked", async () => {
    const { page, problems } = await open("/query/docs", testToken, theme);
    await page.getByRole("button", { name: "Random" }).click();
    await page.getByRole("button", { name: "Analyze", exact: true }).click();
    await page.getByRole("tree").waitFor();
    await page.getByText("Index", { exact: true }).click();
    await page.getByLabel("Without the vector index").check();
    await page.getByRole("button", { name: "Analyze", exact: true }).click();
    await page.getByRole("link", { name: "Compare with the run before" }).click();
    await page.getByRole("heading", { name: "Comparison" }).waitFor();
    const only = await page.locator("tr.single td:last-child").allTextContents();
    expect(only.map((text) => text.trim())).toContain("only before");
    await expectAccessible(page);
    await page.getByRole("link", { name: "History" }).click();
    await page.getByRole("heading", { name: "History" }).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(2);
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test("recall is measured against the exact search", async () => {
    const { page, problems } = await open("/recall/docs", testToken, theme);
    await page.getByLabel("nprobes").fill("1, 8");
    await page.getByLabel("Refine factors").fill("none, 20");
    await page.getByLabel("Query vectors").fill("2");
    await page.getByRole("button", { name: "Measure" }).click();
    await page.locator("tbody tr").nth(3).waitFor();
    await page.getByText(/Smallest setting that reaches 0.95: nprobes \d+, refine factor \w+/).waitFor();
    const best = page.locator("tr[aria-selected=true] td").nth(2);
    expect(Number(await best.textContent())).toBeGreaterThanOrEqual(0.95);
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });
});

describe("a query", () => {
  test("explains without running, and returns rows whose vector the next search can use", async () => {
    const { page, problems } = await open("/query/docs");
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    await page.getByRole("tree").waitFor();
    await page.getByText("not run").waitFor();
    await page.getByRole("button", { name: "Rows", exact: true }).click();
    await page.getByRole("button", { name: "Use vector" }).nth(2).click();
    const vector = JSON.parse(await page.getByLabel("Vector", { exact: true }).inputValue()) as number[];
    expect(vector).toHaveLength(16);
    await page.getByRole("button", { name: "From a row" }).click();
    await page.waitForFunction((before) => {
      const field = (globalThis as unknown as { document: { querySelector(selector: string): { value: string } } })
        .document;
      return field.querySelector("#field-vector").value !== before;
    }, JSON.stringify(vector));
    expect(problems).toEqual([]);
  });

  test("shows what the service refuses, and what the form refuses beside its field", async () => {
    const { page } = await open("/query/docs");
    await page.getByLabel("Filter", { exact: true }).fill("repeat('a', 5) = text");
    await page.getByRole("button", { name: "Analyze", exact: true }).click();
    await page.getByRole("alert").getByText("the function repeat is not allowed").waitFor();
    await page.getByLabel("k (rows)").fill("many");
    await page.getByText("must be a whole number").waitFor();
    expect(await page.getByRole("button", { name: "Analyze", exact: true }).isDisabled()).toBe(true);
  });

  test("is saved as one file that opens without the service, runs no script and holds no token", async () => {
    const { page } = await open("/query/docs");
    await page.getByLabel("Filter", { exact: true }).fill("text != '<script>alert(1)</script>'");
    await page.getByRole("button", { name: "Analyze", exact: true }).click();
    await page.getByRole("tree").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as HTML" }).click(),
    ]);
    const path = await download.path();
    const html = await readFile(path, "utf8");
    expect(html).not.toContain(testToken);
    expect(html).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)|\son\w+="/i);
    const offline = await openPage(browser);
    await offline.page.setContent(html);
    await offline.page.getByRole("heading", { name: "analyze of docs" }).waitFor();
    expect(await offline.page.getByRole("treeitem").count()).toBeGreaterThan(3);
    expect(await offline.page.locator("pre").last().textContent()).toContain("<script>alert(1)</script>");
    expect(offline.problems).toEqual([]);
  });
});

describe("a tag", () => {
  test("is created, moved and deleted on the time line", async () => {
    const { page, problems } = await open("/table/plain");
    const nameTag = async (version: number, button: string): Promise<void> => {
      await page.getByRole("button", { name: `Tag version ${version}`, exact: true }).click();
      await page.getByLabel(`Name of the tag for version ${version}`, { exact: true }).fill("live");
      await page.getByRole("button", { name: button }).click();
    };
    await nameTag(3, "Create tag");
    await page.locator(".flag", { hasText: "live" }).waitFor();
    await nameTag(5, "Move from version 3");
    await page
      .getByRole("row")
      .filter({ hasText: "live" })
      .getByRole("rowheader", { name: "5", exact: true })
      .waitFor();
    expect((await service.call("tags/version", "plain", { tag: "live" })).body).toEqual({ version: 5 });
    await page.getByRole("button", { name: "Delete the tag live" }).click();
    await page.getByRole("button", { name: "Delete live" }).click();
    await page.locator(".flag").waitFor({ state: "detached" });
    expect((await service.call("tags/version", "plain", { tag: "live" })).status).toBe(404);
    expect(problems).toEqual([]);
  });
});

describe("scopes that the credentials lack", () => {
  test("are named where their content would be, and no control needs them", async () => {
    const { page, problems } = await open("/table/docs", "token-of-a-clerk");
    await page.getByText("Requires the scope stats").first().waitFor();
    await page.getByText("Requires the scope read").waitFor();
    await page.getByText("you need the scope tags:write").waitFor();
    await page.getByText("fixed_size_list").first().waitFor();
    expect(await page.getByRole("button", { name: /Tag version/ }).count()).toBe(0);
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.getByRole("link", { name: "Query" }).first().click();
    await page.getByText("Requires the scope analyze").waitFor();
    const states = await Promise.all(
      ["Analyze", "Explain", "Rows"].map((name) => page.getByRole("button", { name, exact: true }).isDisabled()),
    );
    expect(states).toEqual([true, true, true]);
    await page.getByRole("link", { name: "Recall" }).click();
    await page.getByText("Requires the scope read").waitFor();
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });
});

describe("the address", () => {
  test("keeps query and result over a reload, Back and a copied link", async () => {
    const { page, problems } = await open("/query/docs");
    const filter = page.getByLabel("Filter", { exact: true });
    await filter.fill("score > 3");
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    await page.getByRole("tree").waitFor();
    const first = page.url();
    await filter.fill("score > 4");
    await page.getByRole("button", { name: "Analyze", exact: true }).click();
    await page.getByText(/^analyze,/).waitFor();
    await page.reload();
    await page.getByText(/^analyze,/).waitFor();
    expect(await filter.inputValue()).toBe("score > 4");
    await page.goBack();
    await page.getByText(/^explain,/).waitFor();
    await page.goto(first);
    await expect.poll(() => filter.inputValue()).toMatch(/score > [34]/);
    expect(problems).toEqual([]);
  });

  test("keeps the query of a reader whose token ends", async () => {
    const { page } = await open("/query/docs");
    await page.getByLabel("Filter", { exact: true }).fill("score > 5");
    await page.route("**/explain_plan", (route) =>
      route.fulfill({ status: 401, json: { error: "expired", code: 16 } }),
    );
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    await page.getByLabel("Access token").fill(testToken);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByLabel("Filter", { exact: true }).inputValue()).toBe("score > 5");
  });

  test("of npm start signs in within a tab that is open, and / leads to the console", async () => {
    const { page } = await openPage(browser);
    await page.goto(`${service.base}/`);
    await page.getByLabel("Access token").waitFor();
    expect(page.url()).toMatch(/\/console\/$/);
    await page.evaluate(`location.hash = "#token=${testToken}"`);
    await page.getByRole("link", { name: "plain" }).waitFor();
    expect(page.url()).not.toContain(testToken);
  });
});

test("on a phone, the menu leads to all views, and a run shows its result", async () => {
  const { page } = await open("/query/docs");
  await page.setViewportSize({ width: 390, height: 850 });
  await page.getByRole("button", { name: "Explain", exact: true }).click();
  await page.getByRole("tree").waitFor();
  expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Result");
  expect(await page.getByLabel("Filter", { exact: true }).isVisible()).toBe(false);
  await page.getByRole("button", { name: "Edit the query" }).click();
  await page.getByLabel("Filter", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("heading", { name: "History" }).waitFor();
  expect(await page.getByRole("link", { name: "Tables" }).isVisible()).toBe(false);
  expect(await page.title()).toBe("History · Lakehead");
});
