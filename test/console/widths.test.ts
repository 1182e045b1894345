import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { type ViewName, viewNames } from "../../service/console/page/route.ts";
import { expectAccessible, useConsole } from "./browser.ts";
import { script, writeHostileDatabase } from "./hostile-table.ts";

let home: string;
const { open, service } = useConsole(async () => {
  home = await mkdtemp(join(tmpdir(), "lakehead-hostile-table-"));
  await writeHostileDatabase(join(home, "data"));
  return { copyOf: join(home, "data"), environment: { LAKEHEAD_WRITES: "on" } };
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** 5,001 commits take a minute. Their list is what the page has to bear. */
const versions = Array.from({ length: 5001 }, (_, at) => ({
  version: at + 1,
  timestamp_millis: 1_700_000_000_000 + at * 60_000,
  metadata: { total_rows: String(at * 10), total_fragments: String(at + 1) },
}));

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

interface Stop {
  /** Parts of the address after the name of the view. */
  readonly place?: string;
  /** What is shown when the view is complete. */
  readonly shown: string | RegExp;
  /** Brings the view to what it can show. */
  readonly act?: (page: Page) => Promise<unknown>;
  /** Requests to the service until then, by the end of their address; all others: none. */
  readonly requests?: Readonly<Record<string, number>>;
}

const walk: Readonly<Record<Exclude<ViewName, "compare">, Stop>> = {
  tables: {
    shown: "1000 tables",
    act: (page) => page.locator('tr[data-table="hostile"]').getByText("4", { exact: true }).waitFor(),
    requests: { table: 1, maintenance: 1, stats: 25, "index/list": 25 },
  },
  table: {
    place: "/hostile",
    shown: "Versions 4952 to 5001 of 5,001",
    act: async (page) => {
      // The row of nulls has moved to the front.
      await button(page, "Load photo of row 2").click();
      await page.getByText("PNG 800×900, 2.16 MB").waitFor();
      await button(page, "Load wide of row 2").click();
      await page.getByRole("img", { name: /^4096 numbers/ }).waitFor();
      await page.getByText("Create an index", { exact: true }).click();
      await page.getByText("All tags: 200").click();
      await button(page, "Open: row 2").click();
      await page.getByRole("heading", { name: "Row 2" }).waitFor();
      await expectAccessible(page);
      await expectNarrow(page);
      await button(page, "Close").click();
    },
    requests: {
      describe: 1,
      stats: 1,
      query: 1,
      count_rows: 1,
      "index/list": 1,
      "version/list": 1,
      "tags/list": 1,
      "branches/list": 1,
    },
  },
  query: {
    place: "/hostile",
    shown: "Analyze runs the query",
    act: async (page) => {
      await button(page, "Rows").click();
      await page.getByText("PNG 800×900, 2.16 MB").first().waitFor();
      await expectAccessible(page);
      await expectNarrow(page);
      if (await button(page, "Edit the query").isVisible()) await button(page, "Edit the query").click();
      await button(page, "Explain").click();
      await page.getByText(/^explain,/).waitFor();
      if (await button(page, "Edit the query").isVisible()) await button(page, "Edit the query").click();
      await button(page, "Analyze").click();
      await page.getByText(/^analyze,/).waitFor();
    },
    requests: { describe: 1, "version/list": 1, "tags/list": 1, query: 1 },
  },
  map: {
    place: "/hostile",
    shown: "rows by their first two principal components",
    requests: { describe: 1, count_rows: 1, query: 1 },
  },
  upload: {
    place: "/hostile",
    shown: "Its rows stay",
    act: async (page) => {
      const header = `id,"${script.replaceAll('"', '""')}"`;
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: "x.csv", mimeType: "", buffer: Buffer.from(`${header}\n5,${"x".repeat(5000)}\n`) });
      await page.getByRole("button", { name: "Add 1 row" }).waitFor();
    },
    requests: { table: 1, describe: 1, query: 1 },
  },
  recall: { place: "/hostile", shown: "Measure", requests: { describe: 1 } },
  maintenance: { shown: "Maintenance", requests: { maintenance: 1 } },
  jobs: { shown: "There is no job of yours", requests: { "jobs/list": 1 } },
  history: { shown: "hostile", requests: {} },
  open: {
    shown: "Text of a plan",
    act: async (page) => {
      await page.getByLabel("Text of a plan").fill(`FilterExec: a@0 = '${script}'\n  LanceRead: uri=x`);
      await page.getByRole("treeitem").nth(1).waitFor();
    },
    requests: {},
  },
};

const expectNarrow = async (page: Page): Promise<void> => {
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
};

/** The requests to the service by the end of their address. */
const countRequests = (page: Page): Map<string, number> => {
  const counts = new Map<string, number>();
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    const [, operation] = /^\/v1\/(?:table\/[^/]+\/)?(.+)$/.exec(pathname) ?? [];
    if (operation !== undefined) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  });
  return counts;
};

test("the walk below stops at each view of the console", () => {
  expect(Object.keys(walk).toSorted()).toEqual(viewNames.filter((name) => name !== "compare").toSorted());
});

describe.each([1440, 1024, 390])("at a width of %d pixels", (width) => {
  test.each(["light", "dark"] as const)("each view bears the hostile table, %s", async (theme) => {
    const { page, problems } = await open("/open", undefined, theme);
    await page.route("**/hostile/version/list", (route) => route.fulfill({ json: { versions } }));
    const counts = countRequests(page);
    await page.setViewportSize({ width, height: 850 });
    for (const [view, { place = "", shown, act, requests = {} }] of Object.entries(walk)) {
      counts.clear();
      await page.goto(`${service().base}/console/#/${view}${place}`);
      await page.getByRole("main").getByText(shown).first().waitFor();
      await expect.poll(() => ({ view, ...Object.fromEntries(counts) })).toEqual({ view, ...requests });
      await expectAccessible(page);
      await expectNarrow(page);
      expect(await page.locator("header.top").evaluate((header) => header.getBoundingClientRect().height)).toBeLessThan(
        60,
      );
      await act?.(page);
      await expectAccessible(page);
      await expectNarrow(page);
      expect(await page.locator("script:not([src]), [onerror], [onload]").count()).toBe(0);
      expect(await page.title()).not.toBe("owned");
      expect(await page.getByRole("alert").allTextContents()).toEqual([]);
    }
    const [after, before] = await page.evaluate<{ readonly id: string; readonly plan?: unknown }[]>(
      `JSON.parse(localStorage.getItem("lakehead.history") ?? "[]").filter(({ plan }) => plan)`,
    );
    await page.goto(`${service().base}/console/#/compare/${before?.id}/${after?.id}`);
    await page.getByRole("heading", { name: "Comparison" }).waitFor();
    await expectAccessible(page);
    await expectNarrow(page);
    expect(problems).toEqual([]);
  });
});
