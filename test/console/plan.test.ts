import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { parsePlan } from "../../service/plan-doctor/parse.ts";
import { expectAccessible, useConsole } from "./browser.ts";

const { open } = useConsole(() => ({ copyOf: inject("tables") }));

const facts = { version: 1, statistics: null, columns: null, indices: null, missing: [] };

/** A page whose plan has these lines, as another server could send it. */
const openPlan = async (lines: readonly string[]) => {
  const watched = await open("/query/plain");
  const plan = lines.join("\n");
  const document = { plan, tree: parsePlan(plan), findings: [], facts };
  await watched.page.route("**/analyze_plan", (route) => route.fulfill({ json: document }));
  await watched.page.getByRole("button", { name: "Analyze", exact: true }).click();
  await watched.page.getByRole("tree", { name: "Plan" }).waitFor();
  return watched;
};

describe("a plan of 500 nodes", () => {
  const depthOf = (row: number): number => (row === 0 ? 0 : 1 + ((row - 1) % 9));
  const lines = Array.from(
    { length: 500 },
    (_, row) =>
      `${"  ".repeat(depthOf(row))}FilterExec: elapsed=${500 - row}µs, a@0 = ${row}, metrics=[output_rows=${row}]`,
  );

  test("has a card for each node, rows where the grid is scrolled to, and the selected node in view", async () => {
    const { page, problems } = await openPlan(["AnalyzeExec verbose=true, elapsed=1ms, metrics=[]", ...lines.slice(1)]);
    const scrollGrid = (top: number) =>
      page.evaluate(`document.querySelector("table.grid").parentElement.scrollTop = ${top}`);
    const cards = page.getByRole("treeitem");
    // The top node has 56 children.
    await page.getByRole("button", { name: "Show all 500 nodes" }).click();
    await cards.nth(499).waitFor({ state: "attached" });
    expect(await cards.count()).toBe(500);
    const rows = page.locator("table.grid tbody tr");
    expect(await rows.count()).toBeLessThan(100);
    expect(await page.locator("table.grid").getAttribute("aria-rowcount")).toBe("501");
    await rows.first().waitFor();

    await scrollGrid(1_000_000);
    const last = page.locator('table.grid tr[data-row="499"]');
    await last.waitFor();
    expect(await last.getAttribute("aria-rowindex")).toBe("501");

    await page.locator('[data-node="250"]').focus();
    await page.keyboard.press("Enter");
    await page.locator('table.grid tr[data-row="250"][aria-selected="true"]').waitFor();
    await page.locator('[data-node="250"] strong').waitFor();
    await page.locator("mark").getByText("a@0 = 250").waitFor();

    await page.getByRole("button", { name: "Rows out" }).click();
    await scrollGrid(0);
    await page.locator('table.grid tr[data-row="499"][aria-rowindex="2"]').waitFor();
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });
});

/** The first line only measures the others. */
const wide = (nodes: number): readonly string[] => [
  "AnalyzeExec verbose=true, elapsed=1s, metrics=[]",
  "  ProjectionExec: elapsed=1s, expr=[a@0 as a], metrics=[output_rows=10]",
  "    UnionExec: elapsed=1s, metrics=[output_rows=10]",
  ...Array.from(
    { length: nodes - 2 },
    (_, at) => `      LanceRead: elapsed=${(at * 37) % 1000}µs, uri=t${at}, metrics=[]`,
  ),
];

const chain = (nodes: number): readonly string[] =>
  Array.from(
    { length: nodes },
    (_, at) => `${"  ".repeat(at)}FilterExec: elapsed=${nodes - at}µs, a@0 = ${at}, metrics=[output_rows=1]`,
  );

const boxOf = (page: Page) => page.locator(".drawing");
const zoomOf = async (page: Page): Promise<number> =>
  Number((await page.getByRole("status", { name: "Zoom" }).textContent())?.replace(" %", ""));

/** Distance of a card's centre from that of the drawing's visible part, in pixels. */
const offCentre = (page: Page, node: number): Promise<number> =>
  page.evaluate(`(() => {
    const middle = (selector) => { const { left, width } = document.querySelector(selector).getBoundingClientRect(); return left + width / 2; };
    return Math.abs(middle('[data-node="${node}"]') - middle('.drawing'));
  })()`);

describe("the drawing of a plan of 500 nodes side by side", () => {
  test("begins at its root and shows the slowest children, and all of them at a click", async () => {
    const { page, problems } = await openPlan(wide(500));
    const cards = page.locator("[data-node]");
    expect(await offCentre(page, 1)).toBeLessThan(5);
    expect(await cards.count()).toBe(13);
    await page.getByRole("treeitem", { name: "487 more" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Show all 500 nodes" }).click();
    await expect.poll(() => cards.count()).toBe(500);
    await page.getByRole("button", { name: "Fit" }).click();
    await expect.poll(() => zoomOf(page)).toBe(10);
    await expect.poll(() => offCentre(page, 1)).toBeLessThan(5);
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test("shows a node that is chosen in the table of nodes, although it is not among the slowest", async () => {
    const { page, problems } = await openPlan(wide(500));
    await page.locator("table.grid tr[data-row='3']").click();
    await expect.poll(() => page.locator('[data-node="3"][aria-selected="true"]').count()).toBe(1);
    await page.getByRole("treeitem", { name: "486 more" }).waitFor();
    expect(await page.locator('[data-node="3"]').isVisible()).toBe(true);
    expect(problems).toEqual([]);
  });
});

describe("a plan that is larger than its box", () => {
  test("is dragged by the mouse without a click on the card below it", async () => {
    const { page, problems } = await openPlan(chain(60));
    const { x = 0, y = 0 } = (await page.locator('[data-node="2"]').boundingBox()) ?? {};
    await page.mouse.move(x + 20, y + 20);
    await page.mouse.down();
    await page.mouse.move(x + 10, y - 80, { steps: 4 });
    await page.mouse.up();
    expect(await boxOf(page).evaluate((box) => box.scrollTop)).toBe(100);
    expect(await page.locator('[aria-selected="true"][data-node]').count()).toBe(0);
    await page.locator('[data-node="2"]').click();
    expect(await page.locator('[aria-selected="true"][data-node]').count()).toBe(1);
    expect(problems).toEqual([]);
  });

  test("zooms by the wheel with Ctrl where the mouse is; the wheel alone scrolls, and the page outside keeps its own", async () => {
    const { page } = await openPlan(chain(60));
    await page.locator('[data-node="1"]').hover();
    const before = await page.locator('[data-node="1"]').boundingBox();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, 200);
    await expect.poll(() => zoomOf(page)).toBeLessThan(60);
    await page.keyboard.up("Control");
    const after = await page.locator('[data-node="1"]').boundingBox();
    const middle = (box: typeof before): number => (box?.x ?? 0) + (box?.width ?? 0) / 2;
    expect(Math.abs(middle(before) - middle(after))).toBeLessThan(5);
    const zoom = await zoomOf(page);
    await page.mouse.wheel(0, 300);
    await expect.poll(() => boxOf(page).evaluate((box) => box.scrollTop)).toBeGreaterThan(200);
    expect(await zoomOf(page)).toBe(zoom);
    const isLeft = await page.evaluate(
      `document.querySelector("table.grid").dispatchEvent(new WheelEvent("wheel", { ctrlKey: true, deltaY: 9, bubbles: true, cancelable: true }))`,
    );
    expect(isLeft).toBe(true);
  });

  test("is zoomed, folded and unfolded by the keyboard, and unfolds for a node that is chosen elsewhere", async () => {
    const { page, problems } = await openPlan(chain(60));
    const first = page.locator('[data-node="0"]');
    await first.focus();
    await page.keyboard.press("-");
    await expect.poll(() => zoomOf(page)).toBe(80);
    await page.keyboard.press("+");
    await expect.poll(() => zoomOf(page)).toBe(100);
    await page.keyboard.press("0");
    await expect.poll(() => zoomOf(page)).toBeLessThan(30);
    await page.keyboard.press("Space");
    await expect.poll(() => page.locator("[data-node]").count()).toBe(1);
    expect(await first.getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => page.locator("[data-node]").count()).toBe(60);
    expect(await page.evaluate("document.activeElement.dataset.node")).toBe("1");
    await page.keyboard.press("Space");
    await expect.poll(() => page.locator("[data-node]").count()).toBe(2);
    await page.locator("table.grid tr[data-row='5']").click();
    await expect.poll(() => page.locator("[data-node]").count()).toBe(60);
    expect(problems).toEqual([]);
  });
});

test.each([1440, 1024, 390])("the table of a chain of 500 nodes keeps its columns at %d pixels", async (width) => {
  const { page, problems } = await openPlan(chain(500));
  await page.setViewportSize({ width, height: 850 });
  const name = page.locator("table.grid th.node").first();
  await name.waitFor();
  const grid = page.getByRole("region", { name: "Nodes of the plan" });
  await grid.evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await grid.locator("tr[data-row='499']").waitFor();
  const { width: nameWidth = 0 } = (await name.boundingBox()) ?? {};
  expect(nameWidth).toBeLessThanOrEqual(400);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(problems).toEqual([]);
});

test("a plan's text from elsewhere, and a saved file, are drawn and judged in the browser", async () => {
  const { page, problems } = await open("/query/docs");
  await page.getByRole("button", { name: "Random" }).click();
  await page.getByRole("button", { name: "Analyze", exact: true }).click();
  await page.getByRole("tree").waitFor();
  const count = await page.getByRole("treeitem").count();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as HTML" }).click(),
  ]);
  await page.getByRole("link", { name: "Open a plan" }).click();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.getByLabel("File").setInputFiles(await download.path());
  await expect.poll(() => page.getByRole("treeitem").count()).toBe(count);
  await page.getByLabel("Text of a plan").fill("FilterExec: a@0 > 1\n  LanceRead: uri=x");
  await expect.poll(() => page.getByRole("treeitem").count()).toBe(2);
  await page.getByRole("treeitem").first().click();
  await page.getByText("Keeps the rows for which the condition is true.").waitFor();
  expect([problems, requests.filter((url) => url.includes("/v1/"))]).toEqual([[], []]);
});
